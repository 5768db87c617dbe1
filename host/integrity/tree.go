package integrity

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Limits of what belongs to one plugin.
const (
	maxTreeFiles = 200_000
	maxTreeBytes = 8 << 30
)

// A copier copies files and hashes what it copied, from one reading of each.
type copier struct {
	files int
	bytes int64
	// place returns where a path is in the copy: a link to it leads there.
	place func(path string) string
}

// tree copies the file or folder at from, and all below, to the place to, which
// does not exist, and adds to h one line for each:
//
//	"name" folder
//	"name" link "where it leads"
//	"name" file executable=true sha256
//
// Names are relative to from, so that the digest does not depend on where it
// lies. Links are not followed, but for from itself.
// Anything else, such as a socket, is refused: it cannot be pinned. The lock file
// is left out, of the copy, too: it cannot hold a digest of itself.
func (c *copier) tree(h hash.Hash, from, to string) error {
	real, err := filepath.EvalSymlinks(from)
	if err != nil {
		return err
	}
	info, err := os.Stat(real)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		_, err := c.single(h, real, to)
		return err
	}
	// A root keeps a folder that is swapped for a link from leading elsewhere.
	root, err := os.OpenRoot(real)
	if err != nil {
		return err
	}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return c.node(h, root, name, d, filepath.Join(to, filepath.FromSlash(name)))
	})
	return errors.Join(err, root.Close())
}

// single copies one file that is not in a folder of the tree, and returns the
// digest of its bytes.
func (c *copier) single(h hash.Hash, from, to string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return "", err
	}
	f, err := os.Open(from)
	if err != nil {
		return "", err
	}
	return c.file(h, ".", f, to)
}

func (c *copier) node(h hash.Hash, root *os.Root, name string, d fs.DirEntry, to string) error {
	if c.files++; c.files > maxTreeFiles {
		return fmt.Errorf("%q has more than %d files", root.Name(), maxTreeFiles)
	}
	switch {
	case path.Base(name) == LockName:
		return nil
	case d.IsDir():
		fmt.Fprintf(h, "%q folder\n", name)
		return os.MkdirAll(to, 0o700)
	case d.Type() == fs.ModeSymlink:
		target, err := root.Readlink(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%q link %q\n", name, target)
		return os.Symlink(c.place(target), to)
	case d.Type().IsRegular():
		f, err := root.Open(name)
		if err != nil {
			return err
		}
		_, err = c.file(h, name, f, to)
		return err
	}
	return fmt.Errorf("%q in %q is neither a file nor a folder nor a link: it cannot be pinned", name, root.Name())
}

// file copies from, which it closes, to the place to, and returns the digest of
// the bytes, which are read once. The copy keeps whether it may be executed, and
// its time, by which runtimes tell what they compiled before.
func (c *copier) file(h hash.Hash, name string, from *os.File, to string) (string, error) {
	sum, info, err := c.write(from, to)
	if err := errors.Join(err, from.Close()); err != nil {
		return "", err
	}
	fmt.Fprintf(h, "%q file executable=%t %s\n", name, info.Mode()&0o111 != 0, sum)
	return sum, os.Chtimes(to, info.ModTime(), info.ModTime())
}

func (c *copier) write(from *os.File, to string) (sum string, info fs.FileInfo, err error) {
	info, err = from.Stat()
	if err != nil {
		return "", nil, err
	}
	if !info.Mode().IsRegular() {
		return "", nil, fmt.Errorf("%q is not a regular file", from.Name())
	}
	mode := fs.FileMode(0o400)
	if info.Mode()&0o111 != 0 {
		mode = 0o500
	}
	// Children that this process forks meanwhile hold the file open for
	// writing until they exec, which makes it busy for an exec. Plugins are
	// forked one after another, each when the one before has become another
	// program, so that none is left when this one is.
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return "", nil, err
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, h), io.LimitReader(from, maxTreeBytes-c.bytes+1))
	if c.bytes += n; err == nil && c.bytes > maxTreeBytes {
		err = fmt.Errorf("it has more than %d bytes", int64(maxTreeBytes))
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return "", nil, fmt.Errorf("copying %q: %w", from.Name(), err)
	}
	return hex.EncodeToString(h.Sum(nil)), info, nil
}

// sumFile returns the digest of the bytes of a file.
func sumFile(path string) (_ string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
