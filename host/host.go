// Package host puts the parts together: it is the only package that knows all
// of them. It turns a configuration into running plugins, a registry and
// endpoints, and serves those.
package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphost/mcphost/host/catalogcache"
	"github.com/mcphost/mcphost/host/config"
	"github.com/mcphost/mcphost/host/datalock"
	"github.com/mcphost/mcphost/host/integrity"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/mcp/legacy"
	"github.com/mcphost/mcphost/host/mcp/modern"
	"github.com/mcphost/mcphost/host/mcp/server"
	"github.com/mcphost/mcphost/host/plugin"
	"github.com/mcphost/mcphost/host/registry"
	"github.com/mcphost/mcphost/host/seal"
	"github.com/mcphost/mcphost/host/telemetry"
)

// Version is what the host calls itself; a release sets it with -ldflags -X.
var Version = "0.1.0-dev"

// Options are what a host takes besides its configuration.
type Options struct {
	Log hclog.Logger
	// StateDir holds what is kept across restarts, the plugins' data folders
	// among it; empty is a folder of the user's (see [DefaultStateDir]).
	StateDir string
	// Reattach names processes of plugins that their authors have started, in a
	// debugger say; see [plugin.ParseReattach]. They are used as they are, without
	// a sandbox, instead of being started, and never ended. For development alone.
	Reattach string
}

// A Host is a running configuration: the plugins of the endpoints that it
// serves. Its methods may be called concurrently.
type Host struct {
	boot     *config.Config // that it was started with: what needs a restart is taken from it
	log      hclog.Logger
	stateDir string
	registry *registry.Registry
	sealer   mcp.Sealer
	metrics  *telemetry.Metrics
	catalogs *catalogcache.Cache
	locks    *datalock.Locks
	lock     *integrity.File             // what the operator accepted
	copies   *integrity.Store            // of pinned plugins
	reattach map[string]*plugin.Reattach // by handle

	bg sync.WaitGroup // what runs behind the scenes

	reloading sync.Mutex // one change of what runs at a time

	mu        sync.Mutex // guards what follows
	cfg       *config.Config
	scope     Scope
	plugins   map[string]*member // the generation of each that serves, or is to
	endpoints []*served
	web       *web // nil unless HTTP is served
	ends      map[int]context.CancelFunc
	lastEnd   int
	closed    bool
}

// ending returns a context that is done with ctx or by Close, and how to let go
// of it.
func (h *Host) ending(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		cancel()
		return ctx, cancel
	}
	h.lastEnd++
	id := h.lastEnd
	h.ends[id] = cancel
	return ctx, func() {
		cancel()
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.ends, id)
	}
}

// lasting returns a context with the values of ctx that lasts until Close, and
// how to let go of it.
func (h *Host) lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	return h.ending(context.WithoutCancel(ctx))
}

// A Scope says what a host serves. It runs the plugins of that, and no others.
type Scope struct {
	Local string // the handle of a local block; empty is none
	Webs  bool   // all web blocks
}

// handles returns the plugins that cfg has for s, each once.
func (s Scope) handles(cfg *config.Config) []string {
	var list []string
	if l, ok := cfg.Local(s.Local); ok {
		list = append(list, l.Plugins...)
	}
	if s.Webs {
		for _, w := range cfg.Webs {
			list = append(list, w.Plugins...)
		}
	}
	seen := make(map[string]bool)
	return slices.DeleteFunc(list, func(handle string) bool {
		again := seen[handle]
		seen[handle] = true
		return again
	})
}

// New returns a host for cfg. It starts nothing.
func New(cfg *config.Config, o Options) (*Host, error) {
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	if o.StateDir == "" {
		o.StateDir = DefaultStateDir()
	}
	reattach, err := reattached(cfg, o.Reattach)
	if err != nil {
		return nil, err
	}
	s, err := seal.New(cfg.SealKeys)
	if err != nil {
		return nil, fmt.Errorf("seal_keys: %w", err)
	}
	h := &Host{
		boot: cfg, cfg: cfg, log: o.Log, stateDir: o.StateDir, reattach: reattach, sealer: newSealer(s), metrics: telemetry.New(),
		catalogs: catalogcache.Open(filepath.Join(o.StateDir, "catalogs"), o.Log.Named("cache")),
		// A handle begins with a letter or a digit: no plugin has this folder.
		locks:   datalock.New(filepath.Join(o.StateDir, "data", ".locks")),
		plugins: make(map[string]*member), ends: make(map[int]context.CancelFunc),
	}
	h.registry = registry.New(o.Log.Named("registry"), h.watch)
	h.lock = integrity.NewFile(LockPath(cfg))
	if h.copies, err = integrity.OpenStore(filepath.Join(o.StateDir, "copies")); err != nil {
		o.Log.Warn("leftovers of an earlier host may remain", "error", err)
	}
	// What a host left behind that was killed is ended before anything is started.
	if err := plugin.Sweep(plugin.DefaultRunDir(), o.Log); err != nil {
		o.Log.Warn("leftovers of an earlier host may remain", "error", err)
	}
	return h, nil
}

// DefaultStateDir returns $XDG_STATE_HOME/mcphost, or what stands for it.
func DefaultStateDir() string {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "mcphost")
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".local", "state", "mcphost")
	}
	return filepath.Join(os.TempDir(), "mcphost-state")
}

// watch tells a plugin which of its resources somebody watches.
func (h *Host) watch(handle string, uris []string) {
	h.mu.Lock()
	m := h.plugins[handle]
	h.mu.Unlock()
	if m != nil {
		m.watch(uris)
	}
}

// Close stops all plugins at once and returns when none is left.
func (h *Host) Close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	ends := slices.Collect(maps.Values(h.ends))
	h.mu.Unlock()
	for _, cancel := range ends {
		cancel()
	}
	h.reloading.Lock() // what changes just now must have come to its end
	defer h.reloading.Unlock()
	h.mu.Lock()
	members := slices.Collect(maps.Values(h.plugins))
	h.mu.Unlock()
	errs := make([]error, len(members))
	var wg sync.WaitGroup
	for i, m := range members {
		wg.Go(func() { errs[i] = h.stop(ctx, m) })
	}
	wg.Wait()
	h.bg.Wait()
	h.catalogs.Save()
	return errors.Join(errors.Join(errs...), h.copies.Close())
}

// newFront returns a front of its own for one transport: its bounds are per transport.
func (h *Host) newFront(l mcp.Limits) *server.Server {
	return server.New(legacy.New(), modern.New(), l, h.log.Named("server"))
}
