package host

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mcphost/mcphost/host/config"
	"github.com/mcphost/mcphost/host/plugin"
	"github.com/mcphost/mcphost/host/registry"
)

const (
	// startupWait is how long serving waits for plugins that start slowly. One
	// that takes longer joins when it is ready, and clients are told by list_changed.
	startupWait = 10 * time.Second
	// startsAtOnce bounds how many processes start at a time, but for those
	// that somebody waits for.
	startsAtOnce = 8
	// warmDelay leaves the processors to the first questions of a client, which
	// need no process.
	warmDelay = 100 * time.Millisecond
)

// Start starts the plugins of s. Those whose catalogs are known from an earlier
// run are on offer at once, and their processes come behind the scenes. For the
// others it waits until each is ready, has failed, or has taken too long. A
// plugin that cannot start leaves the others alone: one line in the log says
// which and why. The diagnostics are about config blocks; if one is an error,
// nothing should be served. Start must be called once.
func (h *Host) Start(ctx context.Context, s Scope) *config.Diagnostics {
	h.reloading.Lock()
	defer h.reloading.Unlock()
	members := h.recall(ctx, s.handles(h.boot))
	var known, unknown []*member
	h.mu.Lock()
	h.scope = s
	for _, m := range members {
		h.plugins[m.cfg.Handle] = m
		if m.cached {
			known = append(known, m)
		} else {
			unknown = append(unknown, m)
		}
	}
	h.mu.Unlock()
	h.startKnown(ctx, known)
	h.stage(unknown, nil, registry.Change{})
	h.await(ctx, h.startAll(ctx, unknown))
	var problems []*config.Diagnostic
	for _, m := range unknown {
		problems = append(problems, m.wrong()...)
	}
	h.bg.Go(h.catalogs.Save) // ends by itself
	return h.boot.Report(problems...)
}

// recall returns the plugins, with the catalogs of an earlier run where they
// are made of the same.
func (h *Host) recall(ctx context.Context, handles []string) []*member {
	members := make([]*member, len(handles))
	inParallel(handles, func(i int, handle string) error {
		if cfg, ok := h.boot.Plugin(handle); ok {
			members[i] = h.newMember(ctx, cfg, h.makeup(cfg), true)
		}
		return nil
	})
	// The configuration has been checked: nothing names what is not there.
	return slices.DeleteFunc(members, func(m *member) bool { return m == nil })
}

// startKnown starts what needs no process yet, puts it on stage in one step,
// and has the processes come later.
func (h *Host) startKnown(ctx context.Context, members []*member) {
	inParallel(members, func(_ int, m *member) error {
		// A cached catalog that cannot be read makes this wait for a process.
		m.refused(m.plugin.Start(ctx)) // what else is wrong, the plugin has logged
		return nil
	})
	h.stage(members, nil, registry.Change{})
	h.bg.Go(func() { // ends by Close
		ctx, cancel := h.lasting(ctx)
		defer cancel()
		if pause(ctx, warmDelay) {
			h.warm(ctx, members)
		}
	})
}

// pause waits for d and reports whether ctx is still good.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// warm starts the processes of members that are not lazy, a few at a time. One
// that somebody calls meanwhile starts at once, without its turn.
func (h *Host) warm(ctx context.Context, members []*member) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, startsAtOnce)
	for _, m := range members {
		if m.cfg.Start == config.StartLazy {
			continue
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := m.plugin.Wake(ctx); err != nil && m.refused(err) {
				h.complain(m)
			}
		})
	}
	wg.Wait()
}

// startAll starts members, a few at a time, and returns a channel that is
// closed when each is ready or has failed.
func (h *Host) startAll(ctx context.Context, members []*member) <-chan struct{} {
	var wg sync.WaitGroup
	slots := make(chan struct{}, startsAtOnce)
	for _, m := range members {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			m.refused(m.plugin.Start(ctx)) // what else is wrong, the plugin has logged
		})
	}
	ready := make(chan struct{})
	h.bg.Go(func() { wg.Wait(); close(ready) }) // ends with the last Start, which is bounded
	return ready
}

// await returns when ready is closed, after startupWait, or when ctx is done.
func (h *Host) await(ctx context.Context, ready <-chan struct{}) {
	late := time.NewTimer(startupWait)
	defer late.Stop()
	select {
	case <-ready:
	case <-late.C:
		h.log.Warn("serving without the plugins that are not ready yet")
	case <-ctx.Done():
	}
}

// refused reports whether err says that the config block of m is wrong, and
// notes what is.
func (m *member) refused(err error) bool {
	var said *plugin.ConfigError
	switch {
	case errors.Is(err, errConfig): // noted where it was found
		return true
	case errors.As(err, &said):
		m.mu.Lock()
		value := m.value
		m.mu.Unlock()
		m.note(place(value, said.Diagnostics)...)
		return true
	}
	return false
}

// complain logs what is wrong with the config block of a plugin that started
// when nobody waited for it.
func (h *Host) complain(m *member) {
	for _, d := range m.wrong() {
		h.log.Error("plugin did not start", "handle", m.cfg.Handle, "error", d.Error())
	}
}
