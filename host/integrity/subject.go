package integrity

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// A Subject is what one plugin is made of on disk. Paths are absolute.
type Subject struct {
	Program string
	Files   []string // files and folders that belong to it
	// Interpreter says that the program is not the plugin but runs it: it is
	// used where it is, and not pinned.
	Interpreter bool
}

// NewSubject returns the subject of a plugin. A program of the system that
// comes with files is taken for an interpreter, which the system looks after
// and replaces when it pleases.
func NewSubject(program string, files []string) (Subject, error) {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return Subject{}, fmt.Errorf("looking at the program: %w", err)
	}
	return Subject{Program: program, Files: files, Interpreter: len(files) > 0 && OfSystem(real)}, nil
}

// systemFolders are where the system's package manager keeps programs. Nobody
// but root can write there.
var systemFolders = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store", "/run/current-system"}

// OfSystem reports whether path, which has no symbolic links, is below one of
// the folders that belong to the system.
func OfSystem(path string) bool {
	for _, dir := range systemFolders {
		if inside(path, dir) {
			return true
		}
	}
	return false
}

// inside reports whether path is dir or below it.
func inside(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// Sums are the digests of a [Subject], 64 lower-case hex digits each; empty is
// what is not pinned.
type Sums struct {
	Program string // sha256 of its bytes
	Files   string // of all files together; see hashTree
}

// Platform names the platform of this process in a lock file.
func Platform() string { return runtime.GOOS + "_" + runtime.GOARCH }
