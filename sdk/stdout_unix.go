//go:build unix

package sdk

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// captureStdout makes file descriptor 1 another name of standard error, for this process, for what kept os.Stdout from
// before, and for children, and returns the real standard output: the handshake alone goes there.
func captureStdout() (*os.File, error) {
	fd, err := unix.FcntlInt(uintptr(unix.Stdout), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, fmt.Errorf("keeping standard output: %w", err)
	}
	if err := duplicate(unix.Stderr, unix.Stdout); err != nil {
		return nil, fmt.Errorf("turning standard output to standard error: %w", err)
	}
	return os.NewFile(uintptr(fd), "handshake"), nil
}
