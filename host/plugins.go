package host

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/mcphost/mcphost/host/config"
	"github.com/mcphost/mcphost/host/plugin"
	"github.com/mcphost/mcphost/host/registry"
)

// errConfig says that a plugin's config block is wrong; the diagnostics say how.
var errConfig = errors.New("its config block is not valid")

// pluginOptions returns how the plugin that cfg describes is run.
func (h *Host) pluginOptions(cfg *config.Plugin) plugin.Options {
	return plugin.Options{
		Handle:      cfg.Handle,
		Command:     cfg.Command,
		Env:         cfg.Env,
		DataDir:     filepath.Join(h.stateDir, "data", cfg.Handle),
		Launcher:    h.launcher(cfg),
		MTLS:        cfg.MTLS,
		Lazy:        cfg.Start == config.StartLazy,
		IdleTimeout: cfg.IdleTimeout,
		Timeout:     cfg.Timeout,
		MaxCalls:    cfg.MaxConcurrentCalls,
		HostVersion: Version,
		Logger:      h.log,
		Configure: func(_ context.Context, d *plugin.Description) (*plugin.Configuration, error) {
			return h.configure(cfg, d)
		},
		OnCatalog:         func(c *plugin.Catalog) { h.registry.SetOffer(cfg.Handle, offer(c)) },
		OnResourceUpdated: func(uri string) { h.registry.ResourceUpdated(cfg.Handle, uri) },
	}
}

// configure decodes the config block of cfg by the schema that the plugin declares.
func (h *Host) configure(cfg *config.Plugin, d *plugin.Description) (*plugin.Configuration, error) {
	value, diags := decodeConfig(cfg, d)
	if diags.HasErrors() {
		h.note(diags...)
		return nil, errConfig
	}
	h.mu.Lock()
	h.values[cfg.Handle] = value
	h.mu.Unlock()
	secrets := make(map[string]string, len(cfg.Secrets))
	for name, s := range cfg.Secrets {
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

// note remembers problems of config blocks for [Host.Start].
func (h *Host) note(diags ...*config.Diagnostic) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.problems = append(h.problems, diags...)
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
