package integrity

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Copy is a private copy of what a plugin is made of, and the digests of what
// is in it. It must be released.
type Copy struct {
	Sums

	dir     string   // the root of the machine, as it were: the copy of /a/b is dir/a/b
	roots   []string // the paths that were copied, with what is below
	release func() error
}

// makeCopy copies s into dir, which does not exist.
func makeCopy(s Subject, dir string) (*Copy, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	c := &Copy{dir: dir, roots: outermost(s.Files)}
	work := copier{place: c.Path}
	if len(c.roots) > 0 {
		h := sha256.New()
		for i, path := range c.roots {
			fmt.Fprintf(h, "%d\n", i)
			if err := work.tree(h, path, c.place(path)); err != nil {
				return nil, fmt.Errorf("copying %q: %w", path, err)
			}
		}
		c.Files = hex.EncodeToString(h.Sum(nil))
	}
	if s.Interpreter {
		return c, nil
	}
	if err := c.program(&work, s.Program); err != nil {
		return nil, fmt.Errorf("copying %q: %w", s.Program, err)
	}
	return c, nil
}

// program copies the program unless it is among the files, and hashes the copy.
func (c *Copy) program(work *copier, path string) error {
	if real, in := c.within(path); in {
		var err error
		c.Program, err = sumFile(real)
		return err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	c.roots = append(c.roots, path)
	c.Program, err = work.single(sha256.New(), real, c.place(path))
	return err
}

// within returns the file of the copy that stands for path, links followed,
// which may lead to what is not of the copy: then it is read where it is.
func (c *Copy) within(path string) (string, bool) {
	if !slices.ContainsFunc(c.roots, func(root string) bool { return inside(path, root) }) {
		return "", false
	}
	return c.place(path), true
}

// place returns where the copy of path is.
func (c *Copy) place(path string) string {
	volume := filepath.VolumeName(path)
	return filepath.Join(c.dir, strings.Trim(volume, `:\`), path[len(volume):])
}

// Path returns what stands for path: its place in the copy if it was copied,
// and path itself otherwise.
func (c *Copy) Path(path string) string {
	if !filepath.IsAbs(path) {
		return path
	}
	if place, ok := c.within(filepath.Clean(path)); ok {
		return place
	}
	return path
}

// Text returns s with the paths of what was copied replaced: s is one path, an
// option of the form --name=path, or a list of paths as in PATH.
func (c *Copy) Text(s string) string {
	if name, value, ok := strings.Cut(s, "="); ok && strings.HasPrefix(name, "-") {
		return name + "=" + c.Text(value)
	}
	list := strings.Split(s, string(filepath.ListSeparator))
	for i, path := range list {
		list[i] = c.Path(path)
	}
	return strings.Join(list, string(filepath.ListSeparator))
}

// Release says that nothing of the copy is in use any more. It is called once.
func (c *Copy) Release() error { return c.release() }

// outermost returns paths without those that are below others of them, each
// once, in their order.
func outermost(paths []string) []string {
	var out []string
	for i, path := range paths {
		below := slices.ContainsFunc(paths, func(other string) bool { return other != path && inside(path, other) })
		if !below && !slices.Contains(paths[:i], path) {
			out = append(out, path)
		}
	}
	return out
}
