package dev

import (
	"context"
	"path/filepath"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphost/mcphost/host/filewatch"
)

// A Watch tells of changes of a project's sources.
type Watch struct {
	// Changes holds something when sources changed since it was last taken.
	Changes <-chan struct{}

	p     *Project
	files *filewatch.Watcher
}

// Watch begins to watch the sources. Close must be called.
func (p *Project) Watch(ctx context.Context, log hclog.Logger) (*Watch, error) {
	changes := make(chan struct{}, 1)
	files, err := filewatch.New(ctx, log, func(context.Context) {
		select {
		case changes <- struct{}{}:
		default: // a change waits already
		}
	})
	if err != nil {
		return nil, err
	}
	w := &Watch{Changes: changes, p: p, files: files}
	w.Refresh(ctx)
	return w, nil
}

// Refresh looks for folders that have come or gone.
func (w *Watch) Refresh(ctx context.Context) {
	w.files.Set(append(w.p.Sources(ctx), filepath.Join(w.p.Folder, ConfigName)))
}

// Close ends the watch.
func (w *Watch) Close() error { return w.files.Close() }
