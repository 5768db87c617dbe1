package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/mcphost/mcphost/host/config"
	"github.com/mcphost/mcphost/host/plugin"
	"github.com/mcphost/mcphost/host/registry"
)

// errConfig says that a plugin's config block is wrong; the diagnostics say how.
var errConfig = errors.New("its config block is not valid")

// errAlone says that a plugin turned out to be exclusive while another
// generation of it serves. It was not configured and has done nothing.
var errAlone = errors.New("it must be alone, and the one before it has not ended yet")

// pluginOptions returns how a process of the plugin that cfg describes is run.
func (h *Host) pluginOptions(cfg *config.Plugin) plugin.Options {
	return plugin.Options{
		Handle:      cfg.Handle,
		Command:     cfg.Command,
		Reattach:    h.reattach[cfg.Handle],
		Env:         cfg.Env,
		Launcher:    h.launcher(cfg, nil),
		MTLS:        cfg.MTLS,
		Lazy:        cfg.Start == config.StartLazy,
		IdleTimeout: cfg.IdleTimeout,
		Timeout:     cfg.Timeout,
		MaxCalls:    cfg.MaxConcurrentCalls,
		HostVersion: Version,
		Logger:      h.log,
	}
}

// memberOptions returns how m is run.
func (h *Host) memberOptions(m *member) plugin.Options {
	o := h.pluginOptions(m.cfg)
	o.OpenData = func(ctx context.Context) (string, error) { return h.openData(ctx, m) }
	o.Launcher = h.launcher(m.cfg, m)
	o.Configure = func(_ context.Context, d *plugin.Description) (*plugin.Configuration, error) { return m.configure(d) }
	o.OnCatalog = func(c *plugin.Catalog) { m.offered(h.registry, h.admit(m.cfg, m.made.pin, c)) }
	o.OnResourceUpdated = func(uri string) { m.updated(h.registry, uri) }
	o.OnState = func(s plugin.State) { m.stateChanged(h.metrics, s) }
	if m.made.catalog != "" && o.Reattach == nil {
		o.StoreCatalog = func(b []byte) { h.catalogs.Store(m.made.catalog, b) }
	}
	return o
}

// configure decodes the config block by the schema that the plugin declares.
func (m *member) configure(d *plugin.Description) (*plugin.Configuration, error) {
	value, diags := decodeConfig(m.cfg, d)
	if diags.HasErrors() {
		m.note(diags...)
		return nil, errConfig
	}
	if m.beside && d.Capabilities.Exclusive {
		return nil, errAlone
	}
	m.mu.Lock()
	m.value = value
	m.mu.Unlock()
	secrets := make(map[string]string, len(m.cfg.Secrets))
	for name, s := range m.cfg.Secrets {
		secrets[name] = s.Reveal()
	}
	return &plugin.Configuration{JSON: value.JSON, Secrets: secrets}, nil
}

// decodeConfig decodes the config block of cfg and demands the secrets that the plugin requires.
func decodeConfig(cfg *config.Plugin, d *plugin.Description) (*config.ConfigValue, hcl.Diagnostics) {
	value, diags := cfg.DecodeConfig(d.ConfigSchema)
	for _, s := range d.Secrets {
		if _, ok := cfg.Secrets[s.Name]; s.Required && !ok {
			diags = append(diags, config.NewError(cfg.Block, "Missing secret",
				fmt.Sprintf("The plugin %q needs the secret %q: %s. Add secrets = { %s = … } to this block.", cfg.Handle, s.Name, s.Description, s.Name)))
		}
	}
	return value, diags
}

// offer returns what a plugin offers in the registry's words.
func offer(c *plugin.Catalog) *registry.Offer {
	return &registry.Offer{
		Tools: c.Tools, Resources: c.Resources, Templates: c.Templates, Prompts: c.Prompts,
		HasResources:    c.Capabilities.Resources,
		HasPrompts:      c.Capabilities.Prompts,
		Completions:     c.Capabilities.Completions,
		Logging:         c.Capabilities.Streaming,
		ResourceUpdates: c.Capabilities.ResourceUpdates,
		Instructions:    c.Instructions,
		Lists:           c.Lists,
	}
}
