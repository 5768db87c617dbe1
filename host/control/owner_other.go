//go:build !unix

package control

import "io/fs"

// ours is true where folders of other users are kept apart by the system.
func ours(fs.FileInfo) bool { return true }
