package host

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/mcphost/mcphost/host/config"
	"github.com/mcphost/mcphost/host/plugin"
	"github.com/mcphost/mcphost/host/registry"
)

// retireWait is how long the calls of a generation may take to end once the
// next one is on stage.
const retireWait = 30 * time.Second

// Reload makes cfg, which was loaded without an error, the configuration in
// force. Plugins that are made of the same as before are not touched. For each
// other one a new generation is started, beside the old one or, if the plugin
// is exclusive, after it; then all change places in one step, and the old ones
// end their calls and go.
//
// If a config block is wrong, nothing changes. If a new generation does not
// start for another reason, the old one stays. The diagnostics say all that.
func (h *Host) Reload(ctx context.Context, cfg *config.Config) *config.Diagnostics {
	h.reloading.Lock()
	defer h.reloading.Unlock()
	ctx, cancel := h.ending(ctx)
	defer cancel()
	h.mu.Lock()
	r := &reload{h: h, cfg: cfg, scope: h.scope, last: h.plugins, webs: h.web, closed: h.closed}
	h.mu.Unlock()
	if r.plan(ctx); !r.refused {
		r.rehearse(ctx)
	}
	if ctx.Err() != nil && !r.refused {
		r.refuse(config.NewError(config.Range{}, "Reload given up", "The host was told to stop, or nobody waits for the reload any more."))
	}
	if r.refused {
		r.abandon(ctx)
	} else {
		r.commit(ctx)
	}
	h.catalogs.Save()
	return cfg.Report(r.diags...)
}

// A reload is one change from a configuration to the next.
type reload struct {
	h      *Host
	cfg    *config.Config
	scope  Scope
	last   map[string]*member // what runs; not changed
	webs   *web               // nil unless HTTP is served
	closed bool

	beside []*member // new generations that start while the old ones serve
	after  []*member // new generations that start when the old ones have ended
	gone   []*member // of plugins that are not served any more

	refused bool // nothing must change
	diags   hcl.Diagnostics
}

func (r *reload) note(d *config.Diagnostic) { r.diags = append(r.diags, d) }

func (r *reload) refuse(d *config.Diagnostic) {
	r.note(d)
	r.refused = true
}

// plan finds out what must change.
func (r *reload) plan(ctx context.Context) {
	if r.closed {
		r.refuse(config.NewError(config.Range{}, "Reload given up", "The host is stopping."))
		return
	}
	if _, ok := r.cfg.Local(r.scope.Local); !ok && r.scope.Local != "" {
		r.refuse(config.NewError(config.Range{}, "Endpoint in use",
			fmt.Sprintf("The local block %q is being served, and the new configuration has none. Keep it, or stop that mcphost first.", r.scope.Local)))
		return
	}
	r.restarts()
	handles := r.scope.handles(r.cfg)
	for _, handle := range handles {
		if cfg, ok := r.cfg.Plugin(handle); ok {
			r.planPlugin(ctx, cfg)
		}
	}
	for handle, m := range r.last {
		if !slices.Contains(handles, handle) {
			r.gone = append(r.gone, m)
		}
	}
}

// planPlugin makes a new generation where one is needed.
func (r *reload) planPlugin(ctx context.Context, cfg *config.Plugin) {
	old, made := r.last[cfg.Handle], r.h.makeup(cfg)
	if old != nil && old.made.process == made.process {
		// One that is down for good is tried again: what it lacked may be there now.
		if state, _ := old.plugin.State(); state != plugin.Failed && state != plugin.CrashLoop {
			return
		}
	}
	m := r.h.newMember(ctx, cfg, made, false)
	if old != nil && old.exclusive() {
		r.after = append(r.after, m)
		return
	}
	m.beside = old != nil
	r.beside = append(r.beside, m)
}

// restarts says which changes only a restart can make.
func (r *reload) restarts() {
	boot, next := r.h.boot, r.cfg
	var names []string
	differ := func(name string, a, b any) {
		if !reflect.DeepEqual(a, b) {
			names = append(names, name)
		}
	}
	s, t := boot.Server, next.Server
	s.Place, t.Place = config.Place{}, config.Place{}
	s.Instructions, t.Instructions = "", ""
	differ("server", s, t)
	differ("seal_keys", boot.SealKeys, next.SealKeys)
	l, m := boot.Limits, next.Limits
	l.Place, m.Place = config.Place{}, config.Place{}
	differ("limits", l, m)
	if r.webs != nil {
		a, b := boot.HTTP, next.HTTP
		a.Place, b.Place = config.Place{}, config.Place{}
		differ("http", a, b)
	}
	if len(names) > 0 {
		r.note(config.NewWarning(config.Range{}, "Restart needed",
			fmt.Sprintf("These have changed and take effect when mcphost is started anew: %s.", strings.Join(names, ", "))))
	}
}

// rehearse starts the new generations that may run beside the old ones, and
// asks the plugins of the others about their config blocks. Those that do not
// start are left out, but for plugins that are new: these are tried again.
func (r *reload) rehearse(ctx context.Context) {
	errs := inParallel(r.beside, func(_ int, m *member) error { return m.plugin.Start(ctx) })
	for i, m := range r.beside {
		if errors.Is(errs[i], errAlone) {
			r.drop(ctx, m)
			r.after = append(r.after, r.h.newMember(ctx, m.cfg, m.made, false))
			r.beside[i] = nil
		}
	}
	askErrs := inParallel(r.after, func(_ int, m *member) error {
		diags, err := r.h.ask(ctx, m.cfg)
		m.note(diags...)
		return err
	})
	r.beside = r.judge(ctx, r.beside, errs)
	r.after = r.judge(ctx, r.after, askErrs)
}

// judge returns the members that may go on stage.
func (r *reload) judge(ctx context.Context, members []*member, errs []error) (good []*member) {
	for i, m := range members {
		if m == nil {
			continue // it starts after the old one
		}
		refused := errs[i] != nil && m.refused(errs[i])
		diags := hcl.Diagnostics(m.wrong())
		r.diags = append(r.diags, diags...)
		r.refused = r.refused || diags.HasErrors()
		switch {
		case refused || errs[i] == nil || r.last[m.cfg.Handle] == nil:
			good = append(good, m)
		default:
			r.drop(ctx, m)
		}
		if errs[i] != nil && !refused {
			r.note(r.notStarted(m.cfg, errs[i]))
		}
	}
	return good
}

// notStarted says that a plugin did not start, and what becomes of it.
func (r *reload) notStarted(cfg *config.Plugin, err error) *config.Diagnostic {
	next := "The one that runs stays."
	if r.last[cfg.Handle] == nil {
		next = "It is tried again."
		if plugin.Permanent(err) {
			next = "It is left out."
		}
	}
	return config.NewError(cfg.Block, "Plugin does not start", fmt.Sprintf("%v. %s", err, next))
}

// inParallel calls f for each of list, a few at a time, and returns the errors.
func inParallel[T any](list []T, f func(i int, v T) error) []error {
	errs := make([]error, len(list))
	slots := make(chan struct{}, startsAtOnce)
	var wg sync.WaitGroup
	for i, v := range list {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			errs[i] = f(i, v)
		})
	}
	wg.Wait()
	return errs
}

// drop ends a generation that was never on stage.
func (r *reload) drop(ctx context.Context, m *member) {
	if err := r.h.stop(ctx, m); err != nil {
		r.h.log.Warn("dropping a new generation", "handle", m.cfg.Handle, "error", err)
	}
}

// abandon leaves everything as it was.
func (r *reload) abandon(ctx context.Context) {
	for _, m := range slices.Concat(r.beside, r.after) {
		r.drop(ctx, m)
	}
}

// commit makes the change.
func (r *reload) commit(ctx context.Context) {
	h := r.h
	next := make(map[string]*member, len(r.last))
	for handle, m := range r.last {
		if !slices.Contains(r.gone, m) {
			next[handle] = m
		}
	}
	old := slices.Clone(r.gone)
	for _, m := range r.beside {
		if last := r.last[m.cfg.Handle]; last != nil {
			old = append(old, last)
		}
		next[m.cfg.Handle] = m
	}
	h.mu.Lock()
	h.cfg, h.plugins = r.cfg, next
	h.mu.Unlock()
	change, ended := r.endpoints()
	h.stage(r.beside, old, change)
	for _, e := range ended {
		h.unmount(ctx, r.webs, e)
		h.log.Info("endpoint ended", "endpoint", e.web)
	}
	r.mountNew(ctx)
	for _, m := range old {
		h.retire(ctx, m)
	}
	for _, m := range r.gone {
		h.metrics.Forget(m.cfg.Handle)
	}
	for _, m := range r.after {
		r.replace(ctx, m)
	}
	h.log.Info("configuration reloaded", "started", len(r.beside)+len(r.after), "ended", len(r.gone))
}

// endpoints returns what becomes of the endpoints that are served, and those
// that the new configuration has not any more.
func (r *reload) endpoints() (registry.Change, []*served) {
	h := r.h
	h.mu.Lock()
	defer h.mu.Unlock()
	c := registry.Change{Endpoints: make(map[*registry.Endpoint]registry.Options)}
	var stay, ended []*served
	for _, e := range h.endpoints {
		o, ok := e.options(r.cfg)
		if !ok {
			ended = append(ended, e)
			c.Removed = append(c.Removed, e.catalog)
			continue
		}
		stay = append(stay, e)
		c.Endpoints[e.catalog] = o
	}
	h.endpoints = stay
	return c, ended
}

// mountNew serves the web blocks that are new.
func (r *reload) mountNew(ctx context.Context) {
	if r.webs == nil {
		return
	}
	r.h.mu.Lock()
	known := slices.Clone(r.h.endpoints)
	r.h.mu.Unlock()
	for _, block := range r.cfg.Webs {
		if !slices.ContainsFunc(known, func(e *served) bool { return e.web == block.Path }) {
			r.h.log.Info("endpoint added", "endpoint", r.h.mount(ctx, r.webs, r.cfg, block.Path))
		}
	}
}

// retire lets the calls of m end and ends it, behind the scenes.
func (h *Host) retire(ctx context.Context, m *member) {
	h.bg.Go(func() { // ends after retireWait, or by Close
		ctx, cancel := h.lasting(ctx)
		defer cancel()
		ctx, cancel = context.WithTimeout(ctx, retireWait)
		defer cancel()
		if err := h.stop(ctx, m); err != nil {
			h.log.Warn("ending an old generation", "handle", m.cfg.Handle, "error", err)
		}
	})
}

// replace ends the old generation of an exclusive plugin and then starts m. The
// tools stay listed, and calls that come meanwhile wait. If m does not start,
// the old one is started again.
func (r *reload) replace(ctx context.Context, m *member) {
	h, old := r.h, r.last[m.cfg.Handle]
	end, cancel := context.WithTimeout(ctx, retireWait)
	defer cancel()
	if err := h.stop(end, old); err != nil {
		h.log.Warn("ending an old generation", "handle", m.cfg.Handle, "error", err)
	}
	if err := m.plugin.Start(ctx); err != nil {
		if m.refused(err) { // though its own check found nothing
			r.diags = append(r.diags, m.wrong()...)
		}
		r.note(r.notStarted(m.cfg, err))
		r.drop(ctx, m)
		m = h.newMember(ctx, old.cfg, old.made, true)
		// What else is wrong, the plugin has logged.
		m.refused(m.plugin.Start(ctx))
		h.bg.Go(func() { // ends by Close
			ctx, cancel := h.lasting(ctx)
			defer cancel()
			h.warm(ctx, []*member{m})
		})
	}
	h.mu.Lock()
	h.plugins[m.cfg.Handle] = m
	h.mu.Unlock()
	h.stage([]*member{m}, nil, registry.Change{})
}
