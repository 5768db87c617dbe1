//go:build unix

package filewatch

import (
	"fmt"
	"io/fs"
	"syscall"
)

// inode tells a file from another one at the same path.
func inode(info fs.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d:%d", s.Dev, s.Ino)
	}
	return ""
}
