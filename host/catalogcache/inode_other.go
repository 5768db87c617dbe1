//go:build !unix

package catalogcache

import "io/fs"

// inode tells a file from another one at the same path, where the system can.
func inode(fs.FileInfo) string { return "" }
