package host

import (
	"context"
	"fmt"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/mcphost/mcphost/host/config"
	"github.com/mcphost/mcphost/host/plugin"
)

// validateAtOnce bounds how many plugins are asked at a time.
const validateAtOnce = 4

// Validate asks every plugin of the configuration, in its sandbox, about its
// config block. Nothing is configured or served.
func (h *Host) Validate(ctx context.Context) *config.Diagnostics {
	found := make([]hcl.Diagnostics, len(h.boot.Plugins))
	slots := make(chan struct{}, validateAtOnce)
	var wg sync.WaitGroup
	for i, p := range h.boot.Plugins {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			found[i] = h.validate(ctx, p)
		})
	}
	wg.Wait()
	all := h.boot.Report()
	for _, diags := range found {
		all.Append(diags...)
	}
	return all
}

func (h *Host) validate(ctx context.Context, p *config.Plugin) hcl.Diagnostics {
	diags, err := h.ask(ctx, p)
	if err != nil {
		diags = append(diags, config.NewError(p.Block, "Plugin does not start", fmt.Sprintf("The plugin %q cannot be asked about its configuration: %v.", p.Handle, err)))
	}
	return diags
}

// ask asks a process of the plugin, which is never configured, about its config
// block. The error says why it could not be asked.
func (h *Host) ask(ctx context.Context, p *config.Plugin) (hcl.Diagnostics, error) {
	probe, err := plugin.StartProbe(ctx, h.pluginOptions(p))
	if err != nil {
		return nil, err
	}
	defer probe.Close(ctx)
	value, diags := decodeConfig(p, probe.Description)
	if diags.HasErrors() {
		return diags, nil
	}
	said, err := probe.ValidateConfig(ctx, value.JSON)
	if err != nil {
		return append(diags, config.NewError(p.Block, "Plugin does not check its configuration", fmt.Sprintf("The plugin %q: %v.", p.Handle, err))), nil
	}
	return append(diags, place(value, said)...), nil
}

// place turns what a plugin said of its configuration into diagnostics at the
// lines of the file.
func place(value *config.ConfigValue, said []plugin.Diagnostic) (diags hcl.Diagnostics) {
	for _, d := range said {
		severity := config.Error
		if d.Warning {
			severity = config.Warning
		}
		diags = append(diags, value.Diagnostic(d.Pointer, severity, d.Summary, d.Detail))
	}
	return diags
}
