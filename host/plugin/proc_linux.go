package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// confineDeath makes the plugin die with the thread that forks it, which is
// why the fork must happen on a thread that lives as long as the host.
func confineDeath(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// awaitExit returns when the process has ended, and leaves it a zombie: its
// number, and that of its group, cannot be given to another meanwhile.
func awaitExit(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// A procStat is what the kernel says of a process.
type procStat struct {
	parent, group int
	start         uint64 // ticks since boot: with the pid, a name that is never given twice
}

func statProcess(pid int) (procStat, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return procStat{}, err
	}
	// The name of the program, in parentheses, may hold anything.
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 20 {
		return procStat{}, fmt.Errorf("reading /proc/%d/stat: %d fields", pid, len(f))
	}
	var s procStat
	if s.parent, err = strconv.Atoi(f[1]); err != nil {
		return procStat{}, err
	}
	if s.group, err = strconv.Atoi(f[2]); err != nil {
		return procStat{}, err
	}
	s.start, err = strconv.ParseUint(f[19], 10, 64)
	return s, err
}

// startOf returns when pid started, 0 if that is not known.
func startOf(pid int) uint64 {
	s, err := statProcess(pid)
	if err != nil {
		return 0
	}
	return s.start
}

// inTree reports whether pid is root, in its group or descends from it.
func inTree(pid, root int) bool {
	for range 64 {
		if pid == root {
			return true
		}
		s, err := statProcess(pid)
		if err != nil || s.parent <= 1 && s.group != root {
			return false
		}
		if s.group == root {
			return true
		}
		pid = s.parent
	}
	return false
}

// killMarked kills all processes that were started with the private folder dir
// in their environment, which is to say all descendants of one plugin, those
// that left its group included. It returns how many it found.
func killMarked(dir string) int {
	killed := 0
	for range 5 { // one that forks meanwhile is found by the next round
		found := 0
		for _, pid := range processes() {
			env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
			if err == nil && bytes.Contains(env, []byte("="+dir+"/")) && unix.Kill(pid, unix.SIGKILL) == nil {
				found++
			}
		}
		if found == 0 {
			return killed
		}
		killed = max(killed, found)
	}
	return killed
}

// processes returns the processes that we can see, but for ourselves.
func processes() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	self := os.Getpid()
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid != self {
			pids = append(pids, pid)
		}
	}
	return pids
}
