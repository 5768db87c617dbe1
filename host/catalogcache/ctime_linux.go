package catalogcache

import (
	"io/fs"
	"syscall"
	"time"
)

// changeTime returns when the file changed last; no program can set it back.
func changeTime(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Ctim.Unix())
	}
	return info.ModTime()
}
