package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// mountStage mounts an empty file system for the new root on some folder. The
// sources are held by descriptor already: what it covers does not matter.
func mountStage() (string, error) {
	const folder = "/tmp"
	err := unix.Mount("tmpfs", folder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755,size=1m")
	if err != nil {
		return "", fmt.Errorf("mounting the new root on %s: %w", folder, err)
	}
	return folder, nil
}

// furnish puts devices, private memory folders and the plugin's own processes
// into the new root.
func furnish(stage string) (notes []string, err error) {
	for _, dir := range []string{"/dev/shm", "/tmp", "/proc", "/etc"} {
		if err := os.MkdirAll(stage+dir, 0o755); err != nil {
			return nil, err
		}
	}
	for _, device := range devices {
		src := source{path: device, write: true}
		if err := src.open(); err != nil {
			return nil, fmt.Errorf("device %s: %w", device, err)
		}
		if err := src.place(stage); err != nil {
			return nil, err
		}
	}
	links := map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}
	for name, target := range links {
		if err := os.Symlink(target, stage+"/dev/"+name); err != nil {
			return nil, err
		}
	}
	for _, dir := range []string{"/tmp", "/dev/shm"} {
		if err := unix.Mount("tmpfs", stage+dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777,"+tmpSize); err != nil {
			return nil, fmt.Errorf("mounting a private %s: %w", dir, err)
		}
	}
	// subset=pid leaves /proc/sys and the like out: uid 0 could write them
	// without any capability.
	err = unix.Mount("proc", stage+"/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC|unix.MS_RDONLY, "subset=pid")
	if err != nil {
		// A container that hides parts of its own /proc may not make another.
		notes = append(notes, fmt.Sprintf("the plugin has no /proc: %v", err))
	}
	return notes, nil
}

// enter makes stage the root and lets go of the old one.
func enter(stage string) error {
	if err := os.Chdir(stage); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("changing the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leaving the old root: %w", err)
	}
	return os.Chdir("/")
}

// writeEtc tells runtimes who they are and that localhost is here.
func (s *spec) writeEtc() error {
	home := "/tmp"
	if len(s.Folders) > 0 {
		home = s.Folders[0]
	}
	files := map[string]string{
		"/etc/passwd": fmt.Sprintf("plugin:x:%d:%d:plugin:%s:/usr/sbin/nologin\n", os.Getuid(), os.Getgid(), home),
		"/etc/group":  fmt.Sprintf("plugin:x:%d:\n", os.Getgid()),
		"/etc/hosts":  "127.0.0.1 localhost\n::1 localhost\n",
	}
	for name, text := range files {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			continue // the network is granted and the machine's own file is here
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
