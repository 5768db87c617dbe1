package plugin

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	maxSocketPath = 107 // sun_path of Linux, less its zero
	// socketName is room for what go-plugin adds to the private folder
	// ("plugin-dir1234567890") and a plugin to that ("plugin1234567890").
	socketName = len("/plugin-dir1234567890/plugin1234567890")
)

// makeDirs makes the folders of one process below runDir, and the lock by
// which other hosts know that we live.
func makeDirs(runDir, dataDir string) (*privateDirs, error) {
	if err := os.MkdirAll(runDir, 0o700); err != nil {
		return nil, fmt.Errorf("making the run directory: %w", err)
	}
	runDir, err := filepath.EvalSymlinks(runDir)
	if err != nil {
		return nil, fmt.Errorf("making the run directory: %w", err)
	}
	d := &privateDirs{Dirs: Dirs{Private: filepath.Join(runDir, strings.ToLower(rand.Text()[:10]))}}
	if n := len(d.Private) + socketName; n > maxSocketPath {
		return nil, permanentf("run directory %q is too long: a unix socket in it would have a path of %d bytes, "+
			"and at most %d are possible; choose a shorter one (XDG_RUNTIME_DIR)", runDir, n, maxSocketPath)
	}
	if err := d.fill(dataDir); err != nil {
		return nil, errors.Join(fmt.Errorf("making the plugin's private folder: %w", err), d.remove())
	}
	return d, nil
}

// privateDirs are the folders of one process and our hold on them.
type privateDirs struct {
	Dirs
	lock *os.File
}

func (d *privateDirs) fill(dataDir string) (err error) {
	// Mkdir fails where something exists already: the folder is ours alone.
	if err := os.Mkdir(d.Private, 0o700); err != nil {
		return err
	}
	if d.lock, err = makeLock(filepath.Join(d.Private, lockName)); err != nil {
		return err
	}
	d.Work = filepath.Join(d.Private, "work")
	for _, sub := range workFolders {
		if err := os.MkdirAll(filepath.Join(d.Work, sub), 0o700); err != nil {
			return err
		}
	}
	if dataDir == "" {
		return nil
	}
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return err
	}
	d.Data, err = filepath.EvalSymlinks(dataDir)
	return err
}

// remove removes the folders. The plugin may have left some that cannot be
// searched, so a second try makes them writable first.
func (d *privateDirs) remove() error {
	err := removeTree(d.Private)
	if d.lock != nil {
		err = errors.Join(err, d.lock.Close())
	}
	return err
}

func removeTree(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil {
		return nil
	}
	walkErr := filepath.WalkDir(dir, func(path string, e fs.DirEntry, _ error) error {
		if e != nil && e.IsDir() {
			return os.Chmod(path, 0o700) //nolint:gosec // a folder must be searchable to be removed
		}
		return nil
	})
	if err = os.RemoveAll(dir); err != nil {
		return errors.Join(err, walkErr)
	}
	return nil
}

// The folders below Work, and the variables that name them.
const (
	homeFolder  = "home"
	tempFolder  = "tmp"
	runFolder   = "run"
	cacheFolder = "cache"
)

var workFolders = [...]string{homeFolder, tempFolder, runFolder, cacheFolder}

// environment builds a plugin's environment from nothing: what every program
// needs, what the operator declared (which wins), and last what the handshake
// needs (which wins over that).
func environment(dirs Dirs, declared map[string]string, handshake []string) []string {
	home := filepath.Join(dirs.Work, homeFolder)
	vars := map[string]string{
		"PATH":            "/usr/local/bin:/usr/bin:/bin",
		"HOME":            home,
		"TMPDIR":          filepath.Join(dirs.Work, tempFolder),
		"XDG_CONFIG_HOME": filepath.Join(home, ".config"),
		"XDG_DATA_HOME":   filepath.Join(home, ".local", "share"),
		"XDG_STATE_HOME":  filepath.Join(home, ".local", "state"),
		"XDG_CACHE_HOME":  filepath.Join(dirs.Work, cacheFolder),
		"XDG_RUNTIME_DIR": filepath.Join(dirs.Work, runFolder),
		"LANG":            "C.UTF-8",
		"TZ":              "UTC",
	}
	for _, name := range []string{"PATH", "TZ"} { // those of the machine, not of the user
		if v := os.Getenv(name); v != "" {
			vars[name] = v
		}
	}
	maps.Copy(vars, declared)
	for _, v := range handshake {
		name, value, _ := strings.Cut(v, "=")
		vars[name] = value
	}
	env := make([]string, 0, len(vars))
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		env = append(env, name+"="+vars[name])
	}
	return env
}
