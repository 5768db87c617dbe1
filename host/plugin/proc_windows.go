package plugin

import (
	"os"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func killGroup(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}

func terminateGroup(pid int) error { return killGroup(pid) }

// lockFile makes a file that nobody else can open while we hold it.
func lockFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
}

func makeLock(path string) (*os.File, error) { return lockFile(path) }

func inTree(pid, root int) bool { return pid == root }
