// Package datalock keeps two hosts from giving one data folder to two
// processes by chance.
package datalock

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// errHeld says that another process holds a lock file.
var errHeld = errors.New("locked by another process")

// Locks are those of one host. Its methods may be called concurrently.
type Locks struct {
	dir string

	mu   sync.Mutex // guards what follows
	held map[string]*hold
}

// A hold is one lock, and how many want it.
type hold struct {
	file *os.File
	uses int
}

// New returns locks whose files are in dir, which is made when it is needed.
// The plugins must not be able to write there.
func New(dir string) *Locks { return &Locks{dir: dir, held: make(map[string]*hold)} }

// A HeldError says that another host has the data folder of a plugin.
type HeldError struct {
	Handle string
	PID    int // 0: not known
}

// Error says who has it and what to do.
func (e *HeldError) Error() string {
	who := "another mcphost"
	if e.PID != 0 {
		who = fmt.Sprintf("another mcphost (pid %d)", e.PID)
	}
	return fmt.Sprintf("%s uses the data folder of plugin %q; stop that one, or give this one a state folder of its own (--state-dir)", who, e.Handle)
}

// Hold takes the lock of handle for this host, which may have it already;
// Release must follow as often. It does not wait; the error is a [*HeldError]
// if another host has it.
func (l *Locks) Hold(handle string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.held[handle]; h != nil {
		h.uses++
		return nil
	}
	f, err := l.take(handle)
	if err != nil {
		return err
	}
	l.held[handle] = &hold{file: f, uses: 1}
	return nil
}

func (l *Locks) take(handle string) (*os.File, error) {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return nil, fmt.Errorf("locking the data folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(l.dir, handle+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the data folder: %w", err)
	}
	if err := lock(f); err != nil {
		pid := holder(f)
		if e := f.Close(); e != nil {
			return nil, fmt.Errorf("locking the data folder: %w", errors.Join(err, e))
		}
		if errors.Is(err, errHeld) {
			return nil, &HeldError{Handle: handle, PID: pid}
		}
		return nil, fmt.Errorf("locking the data folder: %w", err)
	}
	if err := sign(f); err != nil {
		return nil, fmt.Errorf("locking the data folder: %w", errors.Join(err, f.Close()))
	}
	return f, nil
}

// sign writes who holds the lock, for the message that others give.
func sign(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// holder returns the pid that sign wrote, 0 if there is none.
func holder(f *os.File) int {
	b, err := io.ReadAll(io.LimitReader(f, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0
	}
	return pid
}

// Release ends one Hold; the last one gives the lock back.
func (l *Locks) Release(handle string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.held[handle]
	if h == nil {
		return nil
	}
	if h.uses--; h.uses > 0 {
		return nil
	}
	delete(l.held, handle)
	// The file stays: who removed it could take it from under another who
	// opened it just now.
	return h.file.Close()
}
