// Package host puts the parts together: it is the only package that knows all
// of them. It turns a configuration into running plugins, a registry and
// endpoints, and serves those.
package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphost/mcphost/host/config"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/mcp/legacy"
	"github.com/mcphost/mcphost/host/mcp/modern"
	"github.com/mcphost/mcphost/host/mcp/server"
	"github.com/mcphost/mcphost/host/plugin"
	"github.com/mcphost/mcphost/host/registry"
	"github.com/mcphost/mcphost/host/seal"
)

// Version is what the host calls itself; a release sets it with -ldflags -X.
var Version = "0.1.0-dev"

// Options are what a host takes besides its configuration.
type Options struct {
	Log hclog.Logger
	// StateDir holds what is kept across restarts, the plugins' data folders
	// among it; empty is a folder of the user's (see [DefaultStateDir]).
	StateDir string
}

// A Host is a running configuration: the plugins of the endpoints that it
// serves. Its methods may be called concurrently.
type Host struct {
	cfg      *config.Config
	log      hclog.Logger
	stateDir string
	registry *registry.Registry
	sealer   mcp.Sealer

	mu       sync.Mutex // guards what follows
	plugins  map[string]*member
	values   map[string]*config.ConfigValue // the last config block of each plugin, decoded
	problems []*config.Diagnostic           // of plugins' config blocks
}

// A member is one plugin of a host.
type member struct {
	cfg    *config.Plugin
	plugin *plugin.Plugin

	watched chan []string // holds the newest set that was not sent yet
	cancel  context.CancelFunc
	wg      sync.WaitGroup
}

// watch hands over the set of watched resources; an older one that waits is forgotten.
func (m *member) watch(uris []string) {
	for {
		select {
		case m.watched <- uris:
			return
		default:
		}
		select {
		case <-m.watched:
		default:
		}
	}
}

// forward tells the plugin which of its resources are watched, until ctx is done.
func (m *member) forward(ctx context.Context, log hclog.Logger) {
	for {
		select {
		case <-ctx.Done():
			return
		case uris := <-m.watched:
			if err := m.plugin.SetSubscriptions(ctx, uris); err != nil && ctx.Err() == nil {
				log.Warn("plugin was not told which resources are watched", "handle", m.cfg.Handle, "error", err)
			}
		}
	}
}

// close stops the plugin and returns when nothing of it runs any more.
func (m *member) close(ctx context.Context) error {
	m.cancel()
	err := m.plugin.Close(ctx)
	m.wg.Wait()
	return err
}

// New returns a host for cfg. It starts nothing.
func New(cfg *config.Config, o Options) (*Host, error) {
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	if o.StateDir == "" {
		o.StateDir = DefaultStateDir()
	}
	s, err := seal.New(cfg.SealKeys)
	if err != nil {
		return nil, fmt.Errorf("seal_keys: %w", err)
	}
	h := &Host{cfg: cfg, log: o.Log, stateDir: o.StateDir, sealer: newSealer(s), plugins: make(map[string]*member), values: make(map[string]*config.ConfigValue)}
	h.registry = registry.New(o.Log.Named("registry"), h.watch)
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

// startupWait is how long serving waits for plugins that start slowly. One
// that takes longer joins when it is ready, and clients are told by list_changed.
const startupWait = 10 * time.Second

// Start starts the named plugins at once and returns when each is ready, has
// failed, or has taken too long. A plugin that cannot start leaves the others
// alone: one line in the log says which and why. The diagnostics are about
// config blocks; if one is an error, nothing should be served.
func (h *Host) Start(ctx context.Context, handles []string) *config.Diagnostics {
	var wg sync.WaitGroup
	for _, handle := range handles {
		m := h.add(ctx, handle)
		if m == nil {
			continue
		}
		wg.Go(func() {
			if err := m.plugin.Start(ctx); err != nil && ctx.Err() == nil {
				h.failed(handle, err)
			}
		})
	}
	ready := make(chan struct{})
	go func() { wg.Wait(); close(ready) }() // ends with the last Start, which is bounded
	late := time.NewTimer(startupWait)
	defer late.Stop()
	select {
	case <-ready:
	case <-late.C:
		h.log.Warn("serving without the plugins that are not ready yet")
	case <-ctx.Done():
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.cfg.Report(h.problems...)
}

// failed notes why a plugin did not start: what is wrong with its config block
// is a diagnostic, all else a line in the log.
func (h *Host) failed(handle string, err error) {
	var refused *plugin.ConfigError
	switch {
	case errors.Is(err, errConfig): // noted where it was found
	case errors.As(err, &refused):
		h.mu.Lock()
		defer h.mu.Unlock()
		h.problems = append(h.problems, place(h.values[handle], refused.Diagnostics)...)
	default:
		h.log.Error("plugin did not start", "handle", handle, "error", err)
	}
}

// add makes the plugin called handle known; nil if it is already.
func (h *Host) add(ctx context.Context, handle string) *member {
	cfg, ok := h.cfg.Plugin(handle)
	if !ok {
		return nil // the configuration has been checked; nothing names what is not there
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.plugins[handle] != nil {
		return nil
	}
	m := &member{cfg: cfg, plugin: plugin.New(h.pluginOptions(cfg)), watched: make(chan []string, 1)}
	ctx, m.cancel = context.WithCancel(context.WithoutCancel(ctx))
	m.wg.Go(func() { m.forward(ctx, h.log) }) // ends by close
	h.plugins[handle] = m
	return m
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
	members := make([]*member, 0, len(h.plugins))
	for _, m := range h.plugins {
		members = append(members, m)
	}
	h.mu.Unlock()
	errs := make([]error, len(members))
	var wg sync.WaitGroup
	for i, m := range members {
		wg.Go(func() {
			if err := m.close(ctx); err != nil {
				errs[i] = fmt.Errorf("stopping plugin %q: %w", m.cfg.Handle, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// newFront returns a front of its own for one transport: its bounds are per transport.
func (h *Host) newFront(l mcp.Limits) *server.Server {
	return server.New(legacy.New(), modern.New(), l, h.log.Named("server"))
}
