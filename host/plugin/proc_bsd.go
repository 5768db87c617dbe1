//go:build unix && !linux

package plugin

import "golang.org/x/sys/unix"

// inTree reports whether pid is root or in its group.
func inTree(pid, root int) bool {
	group, err := unix.Getpgid(pid)
	return pid == root || err == nil && group == root
}
