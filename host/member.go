package host

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphost/mcphost/host/config"
	"github.com/mcphost/mcphost/host/plugin"
	"github.com/mcphost/mcphost/host/registry"
	"github.com/mcphost/mcphost/host/sandbox"
	"github.com/mcphost/mcphost/host/telemetry"
)

// A member is one generation of a plugin: one configuration of it, and the
// process that runs by it. While it is on stage the registry has what it
// offers; before and after that it is nobody's source.
type member struct {
	cfg    *config.Plugin
	made   makeup
	plugin *plugin.Plugin
	cached bool // its catalog is known before it runs
	beside bool // it starts while another generation serves

	opening sync.Mutex    // of the data folder
	watched chan []string // holds the newest set that was not sent yet
	cancel  context.CancelFunc
	wg      sync.WaitGroup

	offering sync.Mutex // guards the two below, and keeps what the registry is told in order
	onStage  bool
	catalog  *plugin.Catalog // the newest

	mu       sync.Mutex // guards what follows
	value    *config.ConfigValue
	problems []*config.Diagnostic // of its config block
	lacking  []string             // guarantees that are not enforced for its process
	data     string               // the data folder; empty until a process is started
}

// offered notes a new catalog, and tells the registry if m is on stage.
func (m *member) offered(r *registry.Registry, c *plugin.Catalog) {
	m.offering.Lock()
	defer m.offering.Unlock()
	m.catalog = c
	if m.onStage {
		r.SetOffer(m.cfg.Handle, offer(c))
	}
}

// updated passes on that a resource changed, if m is on stage.
func (m *member) updated(r *registry.Registry, uri string) {
	m.offering.Lock()
	onStage := m.onStage
	m.offering.Unlock()
	if onStage {
		r.ResourceUpdated(m.cfg.Handle, uri)
	}
}

// stateChanged counts a change of state, if m is on stage.
func (m *member) stateChanged(metrics *telemetry.Metrics, s plugin.State) {
	m.offering.Lock()
	defer m.offering.Unlock()
	if m.onStage {
		metrics.State(m.cfg.Handle, s.String(), s == plugin.Ready)
	}
}

// exclusive reports whether no two processes of the plugin may run at a time.
func (m *member) exclusive() bool {
	c := m.plugin.Catalog()
	return c != nil && c.Capabilities.Exclusive
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

// note remembers what is wrong with the config block.
func (m *member) note(diags ...*config.Diagnostic) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.problems = append(m.problems, diags...)
}

// wrong returns what is wrong with the config block.
func (m *member) wrong() []*config.Diagnostic {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]*config.Diagnostic(nil), m.problems...)
}

// confined notes what the sandbox of the process of m enforces.
func (h *Host) confined(m *member, r sandbox.Report) {
	for _, g := range r.Status {
		h.metrics.Guarantee(m.cfg.Handle, string(g.Guarantee), g.Holds())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lacking = nil
	for _, s := range r.Missing() {
		m.lacking = append(m.lacking, string(s.Guarantee))
	}
}

// newMember returns a generation of the plugin of cfg, not started and not on
// stage. With remembered set, it may take its catalog from an earlier run.
func (h *Host) newMember(ctx context.Context, cfg *config.Plugin, made makeup, remembered bool) *member {
	m := &member{cfg: cfg, made: made, watched: make(chan []string, 1)}
	o := h.memberOptions(m)
	if remembered && made.catalog != "" && o.Reattach == nil {
		o.CachedCatalog = h.catalogs.Load(made.catalog)
		m.cached = o.CachedCatalog != nil
		// Processes behind known catalogs are started a few at a time; see warm.
		o.Lazy = o.Lazy || m.cached
	}
	m.plugin = plugin.New(o)
	ctx, m.cancel = h.lasting(ctx)
	m.wg.Go(func() { m.forward(ctx, h.log) }) // ends by stop
	return m
}

// dataWait is how long a plugin waits for the data folder of a host that may be
// about to end. Clients start a host beside the one that they end.
const dataWait = 500 * time.Millisecond

// openData takes the data folder for m, once, and returns its path.
func (h *Host) openData(ctx context.Context, m *member) (string, error) {
	handle := m.cfg.Handle
	m.opening.Lock() // a start at a time; m.mu must not be held for so long
	defer m.opening.Unlock()
	m.mu.Lock()
	name := m.data
	m.mu.Unlock()
	if name == "" {
		f, err := h.locks.Folder(ctx, handle, dataWait)
		if err != nil {
			return "", err
		}
		name = f.Name
		if name != handle {
			h.log.Warn("another host has the data folder of this plugin; here it gets another", "handle", handle, "pid", f.Other, "path", name)
		}
		m.mu.Lock()
		m.data = name
		m.mu.Unlock()
	}
	return filepath.Join(h.stateDir, "data", name), nil
}

// stop lets the uses of m end until ctx is done and returns when nothing of it
// runs any more.
func (h *Host) stop(ctx context.Context, m *member) error {
	m.cancel()
	err := m.plugin.Close(ctx)
	m.wg.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.data != "" {
		err = errors.Join(err, h.locks.Release(m.data))
		m.data = ""
	}
	if err != nil {
		return fmt.Errorf("stopping plugin %q: %w", m.cfg.Handle, err)
	}
	return nil
}

// stage puts the members of next on stage in place of those of last, in one
// step for whoever looks, together with the rest of c.
func (h *Host) stage(next, last []*member, c registry.Change) {
	if c.Offers == nil {
		c.Offers = make(map[string]*registry.Offer)
	}
	for _, m := range last {
		m.offering.Lock()
		m.onStage = false
		m.offering.Unlock()
		c.Offers[m.cfg.Handle] = nil
	}
	for _, m := range next {
		m.offering.Lock()
		defer m.offering.Unlock()
		m.onStage = true
		if m.catalog != nil {
			c.Offers[m.cfg.Handle] = offer(m.catalog)
		}
	}
	h.registry.Apply(c)
	for _, m := range next {
		s, _ := m.plugin.State()
		h.metrics.State(m.cfg.Handle, s.String(), s == plugin.Ready)
		if uris := h.registry.Watched(m.cfg.Handle); uris != nil {
			m.watch(uris)
		}
	}
}
