//go:build unix

package datalock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock locks f until it is closed or the process ends, however it ends.
func lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errHeld
	}
	return err
}
