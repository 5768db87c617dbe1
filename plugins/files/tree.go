package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Bounds of a walk.
const (
	maxDepth   = 64
	maxEntries = 500_000 // looked at
	maxFolder  = 100_000 // entries of one folder
)

// tree is all that is served. It does not change after it was opened.
type tree struct{ places []place }

// place is one served folder. Every file operation goes through its root, which no .. and no symbolic link leaves.
type place struct {
	name string // "" where there is but one
	dir  string
	root *os.Root
}

// errOutside is the answer to a path that is not below a served folder.
var errOutside = errors.New("is outside of the served folders")

// pathError says what is wrong with a path, in the client's own words.
type pathError struct {
	path string
	err  error
}

func (e *pathError) Error() string {
	switch {
	case errors.Is(e.err, errOutside):
		return fmt.Sprintf("%q %v", e.path, e.err)
	case errors.Is(e.err, fs.ErrNotExist):
		return fmt.Sprintf("there is no %q", e.path)
	}
	return fmt.Sprintf("%q: %v", e.path, cause(e.err))
}

func (e *pathError) Unwrap() error { return e.err }

// locate returns the place that a client's path is in, and the path below it. A place of nil is the folder of places.
func (t *tree) locate(given string) (*place, string, error) {
	if strings.ContainsRune(given, 0) {
		return nil, "", &pathError{given, errOutside}
	}
	if given == "/" || given == "" {
		given = "."
	}
	if filepath.IsAbs(given) {
		return t.locateAbsolute(given)
	}
	clean := path.Clean(filepath.ToSlash(given))
	if !filepath.IsLocal(clean) {
		return nil, "", &pathError{given, errOutside}
	}
	if len(t.places) == 1 && t.places[0].name == "" {
		return &t.places[0], clean, nil
	}
	if clean == "." {
		return nil, "", nil
	}
	name, rest, _ := strings.Cut(clean, "/")
	for i := range t.places {
		if t.places[i].name == name {
			return &t.places[i], path.Clean("./" + rest), nil
		}
	}
	return nil, "", &pathError{given, fs.ErrNotExist}
}

// locateAbsolute takes a path of the machine, if it is below a served folder.
func (t *tree) locateAbsolute(given string) (*place, string, error) {
	for i := range t.places {
		below, err := filepath.Rel(t.places[i].dir, filepath.Clean(given))
		if err == nil && filepath.IsLocal(below) {
			return &t.places[i], filepath.ToSlash(below), nil
		}
	}
	return nil, "", &pathError{given, errOutside}
}

// shown is the path of something in a place as clients see it.
func (p *place) shown(below string) string {
	if p.name == "" {
		return below
	}
	return path.Join(p.name, below)
}

// openFile opens a regular file. It never waits: a pipe that somebody put there is refused, not opened for reading.
func (p *place) openFile(below string) (*os.File, fs.FileInfo, error) {
	f, err := p.root.OpenFile(below, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, &pathError{p.shown(below), err}
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = errors.New("is a folder, not a file")
	case !info.Mode().IsRegular():
		err = errors.New("is no regular file")
	default:
		return f, info, nil
	}
	return nil, nil, errors.Join(&pathError{p.shown(below), err}, f.Close())
}

// readDir returns the entries of a folder, sorted by name.
func (p *place) readDir(below string) (entries []fs.DirEntry, err error) {
	f, err := p.root.OpenFile(below, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, &pathError{p.shown(below), err}
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for len(entries) < maxFolder {
		some, err := f.ReadDir(1000)
		entries = append(entries, some...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, &pathError{p.shown(below), err}
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// entry is something that a walk comes by.
type entry struct {
	place *place
	below string
	kind  fs.FileMode // type bits
}

// info looks again, through the root: what the folder's entry would tell is looked up by a path that may lead out by now.
func (e entry) info() (fs.FileInfo, error) { return e.place.root.Lstat(e.below) }

// errStop ends a walk before its end; what ended it is for the result to say.
var errStop = errors.New("stop")

// walk calls visit with everything below a path, folders before what is in them and sorted by name, to a depth. Symbolic
// links are seen and not followed, and hidden names are left out unless wanted. It returns what made it stop early, or "".
func (t *tree) walk(ctx context.Context, from string, depth int, hidden bool, visit func(entry) error) (string, error) {
	p, below, err := t.locate(from)
	if err != nil {
		return "", err
	}
	w := &walk{ctx: ctx.Err, hidden: hidden, visit: visit}
	depth = min(depth, maxDepth)
	if p != nil {
		err = w.folder(p, below, depth, true)
	}
	for i := range t.places {
		if p != nil || err != nil {
			break
		}
		top := &t.places[i]
		err = visit(entry{place: top, below: ".", kind: fs.ModeDir})
		if err == nil && depth > 1 {
			err = w.folder(top, ".", depth-1, true)
		}
	}
	if errors.Is(err, errStop) {
		return w.stopped, nil
	}
	return "", err
}

// walk is the state of one walk.
type walk struct {
	ctx     func() error
	hidden  bool
	visit   func(entry) error
	seen    int
	stopped string
}

// folder visits the entries of a folder. Only the first folder must be readable; a walk goes past the others.
func (w *walk) folder(p *place, below string, depth int, first bool) error {
	entries, err := p.readDir(below)
	if err != nil {
		if first {
			return err
		}
		return nil // what cannot be read is not there for us
	}
	for _, e := range entries {
		if w.seen++; w.seen > maxEntries {
			w.stopped = "too many files to look at; name a folder"
			return errStop
		}
		if w.ctx() != nil {
			w.stopped = "out of time; name a folder"
			return errStop
		}
		if !w.hidden && strings.HasPrefix(e.Name(), ".") {
			continue
		}
		at := path.Join(below, e.Name())
		if err := w.visit(entry{place: p, below: at, kind: e.Type()}); err != nil {
			return err
		}
		if e.IsDir() && depth > 1 {
			if err := w.folder(p, at, depth-1, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// kindOf is the word for what an entry is.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "folder"
	case mode.IsRegular():
		return "file"
	case mode&fs.ModeSymlink != 0:
		return "link"
	}
	return "other"
}
