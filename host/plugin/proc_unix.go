//go:build unix

package plugin

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup makes the plugin the leader of a process group: a terminal's ^C
// does not reach it, and one signal reaches all of it.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func killGroup(pid int) error {
	if err := unix.Kill(-pid, unix.SIGKILL); !errors.Is(err, unix.ESRCH) {
		return err
	}
	return nil
}

func terminateGroup(pid int) error { return unix.Kill(-pid, unix.SIGTERM) }

// lockFile makes a file that we hold a lock on until it is closed, by our
// death at the latest.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// makeLock makes the lock file path. It is held from the moment that others can
// see it: one that they could lock first would be that of a host that died.
func makeLock(path string) (*os.File, error) {
	f, err := lockFile(path + ".new")
	if err != nil {
		return nil, err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
