//go:build linux

package chaos

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long something may take that must happen.
const patience = 90 * time.Second

// A process is a line of ps.
type process struct {
	pid, parent int
	name        string
	state       byte
}

func (p process) String() string {
	return fmt.Sprintf("%d %s (%c, child of %d)", p.pid, p.name, p.state, p.parent)
}

// below returns the processes that root started, and those that they started.
func below(root int) []process {
	all := processes()
	var list []process
	for _, p := range all {
		for up, n := p.parent, 0; up > 1 && n < 100; up, n = all[up].parent, n+1 {
			if up == root {
				list = append(list, p)
				break
			}
		}
	}
	return list
}

func processes() map[int]process {
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is right
	all := make(map[int]process, len(files))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it ended meanwhile
		}
		open, end := strings.IndexByte(string(text), '('), strings.LastIndexByte(string(text), ')')
		fields := strings.Fields(string(text[end+1:]))
		p := process{name: string(text[open+1 : end]), state: fields[0][0]}
		p.pid, _ = strconv.Atoi(strings.TrimSpace(string(text[:open])))
		p.parent, _ = strconv.Atoi(fields[1])
		all[p.pid] = p
	}
	return all
}

// reap takes the dead of those that became our children by losing their parent.
// Who is a child by our own doing is in ours.
func reap(ours map[int]bool) {
	for _, p := range processes() {
		if p.parent == os.Getpid() && p.state == 'Z' && !ours[p.pid] {
			_, _ = unix.Wait4(p.pid, nil, unix.WNOHANG, nil) // if somebody was faster, all the better
		}
	}
}

// descriptors returns how many files a process has open.
func descriptors(t *testing.T, pid int) int {
	t.Helper()
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// status returns a number of /proc/PID/status.
func status(t *testing.T, pid int, name string) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n"+name+":")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		t.Fatalf("no %s in %s", name, text)
	}
	n, err := strconv.Atoi(fields[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// eventually asks, again and again, until complaint returns "", and fails with
// what it said last, if that is not within a while.
func eventually(t *testing.T, within time.Duration, complaint func() string) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	end := time.After(within)
	for {
		text := complaint()
		if text == "" {
			return
		}
		select {
		case <-tick.C:
		case <-end:
			t.Errorf("after %v: %s", within, text)
			return
		}
	}
}
