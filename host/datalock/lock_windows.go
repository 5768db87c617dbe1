package datalock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lock locks f until it is closed or the process ends, however it ends. The
// byte that is locked is far behind the pid, which others may read.
func lock(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
		&windows.Overlapped{Offset: 1 << 30})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errHeld
	}
	return err
}
