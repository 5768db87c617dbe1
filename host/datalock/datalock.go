// Package datalock keeps two hosts from giving one data folder to two
// processes by chance.
package datalock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
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

// A HeldError says that another host has a lock.
type HeldError struct {
	Name string
	PID  int // 0: not known
}

// Error says who has it and what to do.
func (e *HeldError) Error() string {
	who := "another mcphost"
	if e.PID != 0 {
		who = fmt.Sprintf("another mcphost (pid %d)", e.PID)
	}
	return fmt.Sprintf("%s uses the data folder %q; stop that one, or give this one a state folder of its own (--state-dir)", who, e.Name)
}

// Hold takes the lock called name for this host, which may have it already;
// Release must follow as often. It does not wait; the error is a [*HeldError]
// if another host has it.
func (l *Locks) Hold(name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.held[name]; h != nil {
		h.uses++
		return nil
	}
	f, err := l.take(name)
	if err != nil {
		return err
	}
	l.held[name] = &hold{file: f, uses: 1}
	return nil
}

// A Folder is the data folder that a host has for one plugin.
type Folder struct {
	// Name is the handle, or the handle with a tilde and a number where another
	// host has that one: no handle has a tilde. It is what to release.
	Name string
	// Other is the pid of the host that has the first one; 0 if this host has
	// it, or it is not known.
	Other int
}

// spares is how many folders there are beside the first one.
const spares = 31

// pollInterval is how often a lock that is held is tried again; flock cannot
// wait for one with a deadline.
const pollInterval = 25 * time.Millisecond

// Folder holds a data folder for the plugin called handle. Where another host
// keeps the first one for longer than wait, which a host takes to end, it is a
// spare one: clients often run a host each. The error is a [*HeldError] if
// there is none left.
func (l *Locks) Folder(ctx context.Context, handle string, wait time.Duration) (Folder, error) {
	deadline := time.Now().Add(wait)
	for {
		if f, ok := l.again(handle); ok {
			return f, nil
		}
		err := l.Hold(handle)
		var held *HeldError
		switch {
		case !errors.As(err, &held):
			return Folder{Name: handle}, err
		case !time.Now().Before(deadline):
			return l.spare(handle, held)
		}
		select {
		case <-ctx.Done():
			return Folder{}, ctx.Err()
		case <-time.After(pollInterval):
		}
	}
}

// again holds once more the folder that this host has for handle.
func (l *Locks) again(handle string) (Folder, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n := range spares + 1 {
		name := folderName(handle, n)
		if h := l.held[name]; h != nil {
			h.uses++
			return Folder{Name: name}, true
		}
	}
	return Folder{}, false
}

// spare holds the first spare folder that is free.
func (l *Locks) spare(handle string, first *HeldError) (Folder, error) {
	for n := range spares {
		name := folderName(handle, n+1)
		err := l.Hold(name)
		var held *HeldError
		if !errors.As(err, &held) {
			return Folder{Name: name, Other: first.PID}, err
		}
	}
	return Folder{}, first
}

// folderName returns the name of folder n of handle, from 0.
func folderName(handle string, n int) string {
	if n == 0 {
		return handle
	}
	return fmt.Sprintf("%s~%d", handle, n+1)
}

func (l *Locks) take(name string) (*os.File, error) {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return nil, fmt.Errorf("locking the data folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(l.dir, name+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the data folder: %w", err)
	}
	if err := lock(f); err != nil {
		pid := holder(f)
		if e := f.Close(); e != nil {
			return nil, fmt.Errorf("locking the data folder: %w", errors.Join(err, e))
		}
		if errors.Is(err, errHeld) {
			return nil, &HeldError{Name: name, PID: pid}
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
func (l *Locks) Release(name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.held[name]
	if h == nil {
		return nil
	}
	if h.uses--; h.uses > 0 {
		return nil
	}
	delete(l.held, name)
	// The file stays: who removed it could take it from under another who
	// opened it just now.
	return h.file.Close()
}
