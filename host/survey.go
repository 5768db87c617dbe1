package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/mcphost/mcphost/host/config"
	"github.com/mcphost/mcphost/host/integrity"
	"github.com/mcphost/mcphost/host/plugin"
	"github.com/mcphost/mcphost/host/primitive"
	"github.com/mcphost/mcphost/host/sandbox"
)

// Survey finds out what the plugins called handles are made of, and what they
// define, whatever the lock file says: each is started in its sandbox, from a
// private copy and with an empty data folder, and configured. The order is that
// of handles. If the diagnostics have an error, the list is not complete.
func (h *Host) Survey(ctx context.Context, handles []string) ([]*integrity.Entry, *config.Diagnostics) {
	entries := make([]*integrity.Entry, len(handles))
	found := make([]hcl.Diagnostics, len(handles))
	slots := make(chan struct{}, validateAtOnce)
	var wg sync.WaitGroup
	for i, handle := range handles {
		cfg, ok := h.boot.Plugin(handle)
		if !ok {
			found[i] = hcl.Diagnostics{config.NewError(config.Range{}, "Unknown plugin", fmt.Sprintf("There is no plugin %q.", handle))}
			continue
		}
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			entries[i], found[i] = h.survey(ctx, cfg)
		})
	}
	wg.Wait()
	all := h.boot.Report()
	for _, diags := range found {
		all.Append(diags...)
	}
	return slices.DeleteFunc(entries, func(e *integrity.Entry) bool { return e == nil }), all
}

// survey runs one plugin until its first catalog.
func (h *Host) survey(ctx context.Context, cfg *config.Plugin) (*integrity.Entry, hcl.Diagnostics) {
	m := &member{cfg: cfg}
	e, err := h.look(ctx, m)
	switch {
	case err == nil:
		return e, hcl.Diagnostics(m.wrong())
	case m.refused(err):
		return nil, hcl.Diagnostics(m.wrong())
	}
	return nil, hcl.Diagnostics{config.NewError(cfg.Block, "Plugin does not start",
		fmt.Sprintf("What the plugin %q defines cannot be seen: %v.", cfg.Handle, err))}
}

func (h *Host) look(ctx context.Context, m *member) (_ *integrity.Entry, err error) {
	data, err := os.MkdirTemp("", "mcphost-survey")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
	e := &integrity.Entry{Handle: m.cfg.Handle}
	o := h.pluginOptions(m.cfg)
	o.DataDir = data
	o.Launcher = h.surveyor(m.cfg, func(s integrity.Sums) { e.Program, e.Files = sums(s.Program), sums(s.Files) })
	o.Configure = func(_ context.Context, d *plugin.Description) (*plugin.Configuration, error) {
		e.Version = d.Version
		return m.configure(d)
	}
	o.Lazy = true // what ends meanwhile is not started again
	p := plugin.New(o)
	defer func() { err = errors.Join(err, p.Close(context.WithoutCancel(ctx))) }()
	if err := p.Start(ctx); err != nil {
		return nil, err
	}
	describeEntry(e, p.Catalog())
	return e, nil
}

// surveyor returns what confines a plugin that is surveyed: only what the
// configuration itself pins must be so.
func (h *Host) surveyor(cfg *config.Plugin, found func(integrity.Sums)) plugin.Launcher {
	c := &confinement{cfg: cfg, log: h.log.Named("sandbox").With("handle", cfg.Handle)}
	c.report = func(sandbox.Report) {}
	c.vetting = vetting{copies: h.copies, pin: integrity.Pin{SHA256: cfg.SHA256}, found: found}
	return c
}

// sums returns a digest as a lock file has it, for this platform alone.
func sums(sum string) map[string]string {
	if sum == "" {
		return nil
	}
	return map[string]string{integrity.Platform(): sum}
}

// describeEntry adds to e what c defines.
func describeEntry(e *integrity.Entry, c *plugin.Catalog) {
	var list []integrity.Definition
	if c.Instructions != "" {
		list = append(list, integrity.DefineInstructions(c.Instructions))
	}
	for _, kind := range primitive.Kinds {
		for _, p := range c.List(kind) {
			list = append(list, integrity.Define(p))
		}
	}
	e.Define(list...)
}
