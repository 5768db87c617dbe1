package plugin

import (
	"context"
	"fmt"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// A Probe is a process that was started to be asked what it is. It is never
// configured and serves nothing.
type Probe struct {
	Description *Description

	i *instance
}

// StartProbe starts a process beside those of any Plugin and asks it to
// describe itself. Close must be called. ctx bounds the start alone.
func StartProbe(ctx context.Context, o Options) (*Probe, error) {
	o = o.withDefaults()
	ctx, cancel := context.WithTimeout(ctx, o.StartTimeout)
	defer cancel()
	i, err := newInstance(ctx, &o, o.Logger.Named("plugin").With("handle", o.Handle))
	if err != nil {
		return nil, fmt.Errorf("starting plugin %q: %w", o.Handle, err)
	}
	return &Probe{Description: i.desc, i: i}, nil
}

// ValidateConfig lets the plugin check a configuration. No diagnostic that is
// not a warning: it is good.
func (p *Probe) ValidateConfig(ctx context.Context, config []byte) ([]Diagnostic, error) {
	ctx, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	r, err := p.i.client.ValidateConfig(ctx, &pluginv1.ValidateConfigRequest{ConfigJson: config})
	if err != nil {
		return nil, fmt.Errorf("letting the plugin check its configuration: %w", err)
	}
	return diagnostics(r.GetDiagnostics()), nil
}

// Close ends the process and returns when nothing of it runs any more. ctx may
// be done.
func (p *Probe) Close(ctx context.Context) { p.i.stop(ctx) }

// Describe starts the plugin, asks it what it is, and stops it.
func Describe(ctx context.Context, o Options) (*Description, error) {
	p, err := StartProbe(ctx, o)
	if err != nil {
		return nil, err
	}
	p.Close(ctx)
	return p.Description, nil
}
