package sandbox

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// watchInterval is how often the watchdog looks: what a plugin can take in that
// time, it takes.
const watchInterval = 250 * time.Millisecond

// limits are what all processes of a plugin may use together.
type limits struct {
	memory int64
	pids   int
	isInit bool // the process that was started is our init, and does not count
}

// watchdog ends a plugin that uses more than it was granted, where no cgroup
// does so.
type watchdog struct {
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu  sync.Mutex // guards why
	why string
}

// watch starts to look after process and its descendants until stop, however
// soon ctx is done.
func watch(ctx context.Context, process *os.Process, l limits) *watchdog {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w := &watchdog{cancel: cancel}
	w.wg.Go(func() { w.run(ctx, process, l) }) // ends at stop, or with the process
	return w
}

func (w *watchdog) stop() {
	w.cancel()
	w.wg.Wait()
}

func (w *watchdog) reason() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.why
}

func (w *watchdog) run(ctx context.Context, process *os.Process, l limits) {
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if stat, err := readStat(process.Pid); err != nil || stat.zombie {
			return
		}
		why := excess(process.Pid, l)
		if why == "" {
			continue
		}
		w.mu.Lock()
		w.why = why
		w.mu.Unlock()
		kill(process, l)
		return
	}
}

// kill ends the process first: as the init of a namespace it takes everything
// with it, and otherwise it cannot make more.
func kill(process *os.Process, l limits) {
	descendants := tree(process.Pid, 4096)[1:]
	if err := process.Kill(); err != nil || l.isInit {
		return // it has ended by itself, or all have
	}
	for _, pid := range descendants {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

// excess returns what root and its descendants use too much of, or "".
func excess(root int, l limits) string {
	pids := tree(root, 4*l.pids+64)
	if l.isInit {
		pids = pids[1:]
	}
	var memory int64
	threads := 0
	for _, pid := range pids {
		u, err := readUse(pid)
		if err != nil {
			continue // it has ended
		}
		memory += u.memory
		threads += u.threads
	}
	if threads > l.pids {
		return fmt.Sprintf("the plugin runs %d processes and threads, %d are granted; raise pids in its sandbox block", threads, l.pids)
	}
	if memory <= l.memory {
		return ""
	}
	// Forked processes share memory that was just counted for each of them.
	if memory = shared(pids, memory); memory <= l.memory {
		return ""
	}
	return fmt.Sprintf("the plugin uses %d MiB of memory, %d MiB are granted; raise memory in its sandbox block", memory>>20, l.memory>>20)
}

func shared(pids []int, otherwise int64) int64 {
	var sum int64
	for _, pid := range pids {
		share, ok := readShare(pid)
		if !ok {
			if _, err := readStat(pid); err == nil {
				return otherwise // it lives and the kernel does not tell
			}
		}
		sum += share
	}
	return sum
}
