// Package filewatch tells when files change, whichever way programs write them:
// in place, by a rename over them, or by turning a link on the way to them.
package filewatch

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/hashicorp/go-hclog"
)

const (
	// quiet is how long nothing must happen before a change is told: programs
	// write a file in several steps, and several files one after another.
	quiet = 200 * time.Millisecond
	// patience bounds the wait for quiet.
	patience = 2 * time.Second
)

// A Watcher watches files. Use [New].
//
// The system is asked about folders, so that a file may come, go and be
// replaced; its events are hints alone. Whether something changed is told by
// looking at the files, so what else happens in a folder is no change.
type Watcher struct {
	events *fsnotify.Watcher
	log    hclog.Logger
	wg     sync.WaitGroup

	mu      sync.Mutex // guards what follows
	paths   []string
	folders map[string]bool
	seen    map[string]string // path -> what it looked like when it was set, or last looked at
}

// New returns a watcher of nothing that calls changed when one of its files
// did, from one goroutine, until Close. The context of changed is made of ctx.
func New(ctx context.Context, log hclog.Logger, changed func(context.Context)) (*Watcher, error) {
	events, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watching files: %w", err)
	}
	w := &Watcher{events: events, log: log, folders: make(map[string]bool)}
	ctx, cancel := context.WithCancel(ctx)
	w.wg.Go(func() { // ends by Close
		defer cancel()
		w.run(ctx, changed)
	})
	return w, nil
}

// Close ends the watch and returns when changed is not running any more.
func (w *Watcher) Close() error {
	err := w.events.Close()
	w.wg.Wait()
	return err
}

// Set watches these files, and no others any more: those that are new for
// changes from now on, the others for changes since they were set or told. Of a
// folder its own entries are watched. A path need not exist.
func (w *Watcher) Set(paths []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paths = slices.Compact(slices.Sorted(slices.Values(paths)))
	folders := make(map[string]bool)
	for _, p := range w.paths {
		for _, dir := range around(p) {
			folders[dir] = true
		}
	}
	for dir := range folders {
		if w.folders[dir] {
			continue
		}
		if err := w.events.Add(dir); err != nil {
			w.log.Warn("changes are not noticed; reload by hand", "path", dir, "error", err)
			delete(folders, dir)
		}
	}
	for dir := range w.folders {
		if !folders[dir] {
			_ = w.events.Remove(dir) // fails if the folder is gone
		}
	}
	w.folders = folders
	seen := make(map[string]string, len(w.paths))
	for _, p := range w.paths {
		known, ok := w.seen[p]
		if !ok {
			known = look(p)
		}
		seen[p] = known
	}
	w.seen = seen
}

// around returns the folders whose entries decide what path is: its own, those
// of each link on the way, and itself.
func around(path string) []string {
	dirs := []string{filepath.Dir(path)}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		dirs = append(dirs, path)
	}
	for range maxLinks {
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
		dirs = append(dirs, filepath.Dir(path))
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		dirs = append(dirs, filepath.Dir(real))
	}
	return dirs
}

const maxLinks = 10

// look returns what a file looks like, without reading it.
func look(path string) string {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "absent"
	case info.IsDir():
		return lookInside(path)
	}
	return describe(path, info)
}

func lookInside(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "unreadable"
	}
	var b strings.Builder
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			b.WriteString(describe(path, info))
		}
	}
	return b.String()
}

func describe(path string, info fs.FileInfo) string {
	return fmt.Sprintf("%q %s %d %d %s\n", path, info.Mode(), info.Size(), info.ModTime().UnixNano(), inode(info))
}

// run waits for events, then for quiet, and tells of a change if there is one.
func (w *Watcher) run(ctx context.Context, changed func(context.Context)) {
	for {
		select {
		case _, ok := <-w.events.Events:
			if !ok {
				return
			}
		case err, ok := <-w.events.Errors:
			if !ok {
				return
			}
			w.log.Warn("watching files", "error", err) // events may be lost: look
		}
		if !w.settle() {
			return
		}
		if w.Look() {
			changed(ctx)
		}
	}
}

// settle returns when nothing has happened for a while; false if the watch ended.
func (w *Watcher) settle() bool {
	late := time.NewTimer(patience)
	defer late.Stop()
	still := time.NewTimer(quiet)
	defer still.Stop()
	for {
		select {
		case _, ok := <-w.events.Events:
			if !ok {
				return false
			}
			still.Reset(quiet)
		case <-still.C:
			return true
		case <-late.C:
			return true
		}
	}
}

// Look reports whether the files look other than they did when somebody looked
// last. A change that was seen so is not told any more.
func (w *Watcher) Look() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	changed := false
	for _, p := range w.paths {
		if now := look(p); now != w.seen[p] {
			w.seen[p], changed = now, true
		}
	}
	return changed
}
