package sandbox

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"
)

// Capabilities, in the plugin's own user namespace, that the launcher needs
// until it has built the namespaces' insides.
var launcherCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP}

// dropPrivileges gives up every capability, and every way to gain one, on all
// threads of this process.
func dropPrivileges() error {
	for c := uintptr(0); c <= 63; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) {
			break // past the last one, or an ordinary user, who has none to lose
		}
		if err != nil {
			return fmt.Errorf("bounding capabilities: %w", err)
		}
	}
	// Being uid 0 must mean nothing to exec. An ordinary user may not say so
	// and need not.
	const noRoot = 1<<0 | 1<<1 // SECBIT_NOROOT, locked
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, noRoot, 0, 0, 0); err != nil && !errors.Is(err, unix.EPERM) {
		return fmt.Errorf("setting secure bits: %w", err)
	}
	if _, _, errno := psx.Syscall6(unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0, 0); errno != 0 {
		return fmt.Errorf("dropping ambient capabilities: %w", errno)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	_, _, errno := psx.Syscall3(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none[0])), 0)
	if errno != 0 {
		return fmt.Errorf("dropping capabilities: %w", errno)
	}
	if _, _, errno := psx.Syscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); errno != 0 {
		return fmt.Errorf("setting no_new_privs: %w", errno)
	}
	return nil
}

// limit sets the limits that hold for each process of the plugin.
func (s *spec) limit() error {
	err := errors.Join(
		setLimit(unix.RLIMIT_CORE, 0),
		setLimit(unix.RLIMIT_NOFILE, s.OpenFiles),
		setLimit(unix.RLIMIT_FSIZE, s.FileSize),
	)
	if s.Namespaces && err == nil {
		// In a user namespace of its own the plugin's processes are counted
		// apart from the user's others. The init's threads are among them.
		err = setLimit(unix.RLIMIT_NPROC, s.Pids+initThreads)
	}
	return err
}

// initThreads is more than the init ever has.
const initThreads = 16

// setLimit lowers a limit; one that is lower already stays.
func setLimit(resource int, value uint64) error {
	var have unix.Rlimit
	if err := unix.Getrlimit(resource, &have); err != nil {
		return fmt.Errorf("reading limit %d: %w", resource, err)
	}
	value = min(value, have.Max)
	if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: value, Max: value}); err != nil {
		return fmt.Errorf("setting limit %d to %d: %w", resource, value, err)
	}
	return nil
}
