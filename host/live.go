package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/mcphost/mcphost/host/config"
	"github.com/mcphost/mcphost/host/control"
	"github.com/mcphost/mcphost/host/filewatch"
	"github.com/mcphost/mcphost/host/plugin"
)

// ControlDir returns the folder of the sockets of this user's running hosts.
func ControlDir() string { return filepath.Join(plugin.DefaultRunDir(), "control") }

// What a running host can be asked; see [control.Request].
const (
	AskReload  = "reload"  // reads the configuration again; gives a Reloaded
	AskPlugins = "plugins" // gives a PluginList
)

// A Reloaded is what came of a reload.
type Reloaded struct {
	OK          bool   `json:"ok"`          // without errors
	Diagnostics string `json:"diagnostics"` // as text; may hold warnings alone
}

// A Source is where a host's configuration comes from, for reloads.
type Source struct {
	Paths []string // files and folders, as for [config.Load]
	Load  func() (*config.Config, *config.Diagnostics)
	// Show is called with the diagnostics of each reload that has some.
	Show func(*config.Diagnostics)
	// Reload asks for a reload each time something comes.
	Reload <-chan os.Signal
}

// Follow reloads the configuration whenever its files or the files of plugins
// change, s.Reload says so, or a command asks for it, until stop is called,
// which waits. What it cannot have, such as a watch of files, is a line in the
// log. Start must have been called.
func (h *Host) Follow(ctx context.Context, s Source) (stop func()) {
	f := &follower{h: h, s: s}
	ctx, cancel := context.WithCancel(ctx)
	var err error
	if f.files, err = filewatch.New(ctx, h.log.Named("watch"), func(ctx context.Context) { f.reload(ctx, "files changed") }); err != nil {
		h.log.Warn("changes of files are not noticed", "error", err)
	}
	f.watch()
	server, err := control.Listen(ctx, ControlDir(), s.Paths, f.answer)
	if err != nil {
		h.log.Warn("commands cannot speak to this host", "error", err)
	}
	f.wg.Go(func() { f.listen(ctx) }) // ends with ctx
	return func() {
		cancel()
		f.wg.Wait()
		var errs []error
		if server != nil {
			errs = append(errs, server.Close())
		}
		if f.files != nil {
			errs = append(errs, f.files.Close())
		}
		if err := errors.Join(errs...); err != nil {
			h.log.Warn("stopping to listen for reloads", "error", err)
		}
	}
}

// A follower reloads a host.
type follower struct {
	h     *Host
	s     Source
	files *filewatch.Watcher // nil if there is none
	wg    sync.WaitGroup

	loading sync.Mutex // what was loaded first comes into force first
}

func (f *follower) listen(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.s.Reload:
			f.reload(ctx, "signal")
		}
	}
}

// reload loads the configuration and brings it into force.
func (f *follower) reload(ctx context.Context, why string) *config.Diagnostics {
	f.loading.Lock()
	defer f.loading.Unlock()
	f.h.log.Info("reloading the configuration", "reason", why)
	if f.files != nil {
		f.files.Look() // before they are read: what changes later is one more change
	}
	cfg, diags := f.s.Load()
	if !diags.HasErrors() {
		diags.Append(f.h.Reload(ctx, cfg).All()...)
		f.watch()
	} else {
		f.h.log.Error("configuration was not reloaded: it is not valid")
	}
	if len(diags.All()) > 0 {
		f.s.Show(diags)
	}
	return diags
}

// watch watches the files that the configuration in force is made of.
func (f *follower) watch() {
	if f.files == nil {
		return
	}
	var paths []string
	f.h.mu.Lock()
	cfg, scope := f.h.cfg, f.h.scope
	f.h.mu.Unlock()
	for _, p := range append(append([]string(nil), f.s.Paths...), cfg.Files...) {
		if abs, err := filepath.Abs(p); err == nil { // fails if our own folder is gone
			paths = append(paths, abs)
		}
	}
	paths = append(paths, f.h.lock.Path())
	for _, handle := range scope.handles(cfg) {
		if p, ok := cfg.Plugin(handle); ok {
			paths = append(paths, filesOf(p)...)
		}
	}
	f.files.Set(paths)
}

var errUnknownRequest = errors.New("this mcphost does not know that request; it may be older than the command")

// answer answers what a command asks.
func (f *follower) answer(ctx context.Context, r control.Request) (any, error) {
	switch r.Do {
	case AskReload:
		diags := f.reload(ctx, "command")
		var text strings.Builder
		if err := diags.Write(&text, 0, false); err != nil {
			return nil, fmt.Errorf("writing diagnostics: %w", err)
		}
		return Reloaded{OK: !diags.HasErrors(), Diagnostics: text.String()}, nil
	case AskPlugins:
		return f.h.Plugins(), nil
	}
	return nil, errUnknownRequest
}
