package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/hashicorp/go-hclog"
)

const (
	lockName  = "lock"
	entryName = "process.json"
)

// An entry says which process a private folder belongs to. The pid alone does
// not: it may have been given to another since.
type entry struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // 0: not known
}

// record writes the entry of the folder.
func (d *privateDirs) record(pid int) error {
	b, err := json.Marshal(entry{PID: pid, Start: startOf(pid)})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(d.Private, entryName), b, 0o600)
}

var privateName = regexp.MustCompile(`^[a-z0-9]{10}$`)

// Sweep kills the processes and removes the folders that hosts left in runDir
// when they were killed. What belongs to a host that lives, this one too, stays.
func Sweep(runDir string, log hclog.Logger) error {
	runDir, err := filepath.EvalSymlinks(runDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(runDir)
	if err != nil {
		return fmt.Errorf("sweeping: %w", err)
	}
	var errs []error
	for _, e := range entries {
		if e.IsDir() && privateName.MatchString(e.Name()) {
			errs = append(errs, sweep(filepath.Join(runDir, e.Name()), log))
		}
	}
	return errors.Join(errs...)
}

// sweep removes one folder unless its lock is held. A folder without a lock
// belongs to a host that makes it just now, or that died doing so and left
// nothing but a folder.
func sweep(dir string, log hclog.Logger) error {
	path := filepath.Join(dir, lockName)
	if _, err := os.Lstat(path); err != nil {
		return nil //nolint:nilerr // no lock: not ours to judge
	}
	lock, err := lockFile(path)
	if err != nil {
		return nil //nolint:nilerr // its host lives
	}
	killed := killMarked(dir)
	var e entry
	if b, err := os.ReadFile(filepath.Join(dir, entryName)); err == nil && json.Unmarshal(b, &e) == nil {
		if e.PID > 1 && e.Start != 0 && startOf(e.PID) == e.Start && killGroup(e.PID) == nil {
			killed++
		}
	}
	log.Info("removed what a killed host left", "path", dir, "processes", killed)
	return errors.Join(removeTree(dir), lock.Close())
}
