//go:build !linux

package catalogcache

import (
	"io/fs"
	"time"
)

// changeTime returns when the file changed last.
func changeTime(info fs.FileInfo) time.Time { return info.ModTime() }
