package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// tmpSize bounds each of the plugin's private memory file systems.
const tmpSize = "size=64m,nr_inodes=16k"

// source is a part of the host's files that the plugin's root will show, taken
// hold of by descriptor, so that nobody can put another thing in its place.
type source struct {
	path  string // the same inside and outside; no symbolic link in it
	write bool
	dir   bool
	tree  int // a detached copy of the mount
}

// buildRoot gives this process, which is in user, mount and pid namespaces of
// its own, a root in which only what the spec lists exists. It returns notes
// for the report.
func (s *spec) buildRoot() (notes []string, err error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return nil, fmt.Errorf("making mounts private: %w", err)
	}
	sources, aliases, err := s.sources()
	if err != nil {
		return nil, err
	}
	stage, err := mountStage()
	if err != nil {
		return nil, err
	}
	// Furnish first: a folder below /tmp must not vanish under the private one.
	if notes, err = furnish(stage); err != nil {
		return nil, err
	}
	for _, src := range sources {
		if err := src.place(stage); err != nil {
			return nil, err
		}
	}
	if err := enter(stage); err != nil {
		return nil, err
	}
	for _, alias := range aliases {
		if err := alias.link(); err != nil {
			return nil, err
		}
	}
	if err := s.writeEtc(); err != nil {
		return nil, err
	}
	readOnly := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", 0, &readOnly); err != nil {
		return nil, fmt.Errorf("making the root read-only: %w", err)
	}
	return notes, nil
}

// alias is a path of the spec that leads through symbolic links.
type alias struct{ path, target string }

// sources takes hold of everything that is listed, outermost first.
func (s *spec) sources() ([]source, []alias, error) {
	var found []source
	var aliases []alias
	add := func(write bool, paths ...string) error {
		for _, path := range paths {
			if path == anyProgram {
				continue
			}
			real, err := s.resolve(path)
			if err != nil {
				return err
			}
			if real != path {
				aliases = append(aliases, alias{path, real})
			}
			if i := slices.IndexFunc(found, func(f source) bool { return f.path == real }); i >= 0 {
				found[i].write = found[i].write || write
				continue
			}
			found = append(found, source{path: real, write: write})
		}
		return nil
	}
	err := errors.Join(add(false, s.System...), add(false, s.Files...), add(false, s.Read...), add(false, s.Exec...),
		add(false, s.programs()...), add(true, s.Write...), add(true, s.Folders...))
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(found, func(a, b source) int { return strings.Compare(a.path, b.path) })
	found = slices.DeleteFunc(found, func(f source) bool { return covered(f, found) })
	for i := range found {
		if err := found[i].open(); err != nil {
			return nil, nil, fmt.Errorf("sandbox path %q: %w", found[i].path, err)
		}
	}
	return found, aliases, nil
}

// covered reports whether the innermost listed folder around f shows it already.
func covered(f source, all []source) bool {
	var around source
	for _, other := range all {
		if other.path != f.path && inside(f.path, other.path) && len(other.path) > len(around.path) {
			around = other
		}
	}
	return around.path != "" && around.write == f.write
}

func inside(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// resolve follows the symbolic links of a listed path. Below a folder that the
// plugin may write it could have made links itself, in an earlier run: those
// must not lead out of that folder.
func (s *spec) resolve(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("sandbox path %q: %w", path, bare(err))
	}
	for _, dir := range slices.Concat(s.Write, s.Folders) {
		if path == dir || !inside(path, dir) {
			continue
		}
		realDir, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return "", fmt.Errorf("sandbox path %q: %w", dir, bare(err))
		}
		if !inside(real, realDir) {
			return "", fmt.Errorf("sandbox path %q: a symbolic link leads out of %q, which the plugin may write", path, dir)
		}
	}
	return real, nil
}

// bare drops the path from a path error, which has been said already.
func bare(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// letGo closes a descriptor that nothing was written to: there is no error to
// learn from it.
func letGo(fd int) { _ = unix.Close(fd) }

// openNoLinks takes hold of what path names, which has no symbolic link in it.
func openNoLinks(path string) (int, error) {
	return unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
}

func (src *source) open() error {
	fd, err := openNoLinks(src.path)
	if err != nil {
		return fmt.Errorf("opening: %w", err)
	}
	defer letGo(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	src.dir = st.Mode&unix.S_IFMT == unix.S_IFDIR
	src.tree, err = unix.OpenTree(fd, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE|unix.AT_EMPTY_PATH)
	if err != nil {
		return fmt.Errorf("copying the mount: %w", err)
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	if slices.Contains(devices, src.path) {
		attr.Attr_set = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC
	}
	if !src.write {
		attr.Attr_set |= unix.MOUNT_ATTR_RDONLY
	}
	if err := unix.MountSetattr(src.tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr); err != nil {
		return fmt.Errorf("restricting the mount: %w", err)
	}
	return nil
}

// place mounts the source in the root that is being built.
func (src *source) place(stage string) error {
	defer letGo(src.tree)
	at := stage + src.path
	if _, err := os.Lstat(at); errors.Is(err, fs.ErrNotExist) {
		if err := makeMountPoint(at, src.dir); err != nil {
			return err
		}
	}
	to, err := openNoLinks(at)
	if err != nil {
		return fmt.Errorf("sandbox path %q: opening its place: %w", src.path, err)
	}
	defer letGo(to)
	if err := unix.MoveMount(src.tree, "", to, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH); err != nil {
		return fmt.Errorf("sandbox path %q: mounting: %w", src.path, err)
	}
	return nil
}

func makeMountPoint(at string, dir bool) error {
	if dir {
		return os.MkdirAll(at, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	f, err := os.Create(at)
	if err != nil {
		return err
	}
	return f.Close()
}

// link makes the path that leads to the target, unless it is there by the
// links that are visible inside already.
func (a alias) link() error {
	if _, err := os.Lstat(a.path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(a.path), 0o755); err != nil {
		return fmt.Errorf("sandbox path %q: %w", a.path, err)
	}
	if err := os.Symlink(a.target, a.path); err != nil {
		return fmt.Errorf("sandbox path %q: %w", a.path, err)
	}
	return nil
}
