package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/mcphost/mcphost/host"
	"github.com/mcphost/mcphost/host/config"
)

// stopWait bounds how long plugins may take to stop.
const stopWait = 10 * time.Second

// withHost runs f on a host whose plugins have been started, and stops them after it.
func (g *globals) withHost(ctx context.Context, cfg *config.Config, s host.Scope, f func(h *host.Host) error) (err error) {
	log, err := g.logger()
	if err != nil {
		return err
	}
	h, err := host.New(cfg, host.Options{Log: log, StateDir: g.stateDir, Reattach: g.reattach()})
	if err != nil {
		return err
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWait)
		defer cancel()
		if e := h.Close(end); e != nil && err == nil {
			err = fmt.Errorf("stopping: %w", e)
		}
	}()
	diags := h.Start(ctx, s)
	debug.SetGCPercent(g.gcPercent)
	if err := show(diags); err != nil {
		return err
	}
	return f(h)
}

// following runs f on a host that follows the changes of its configuration.
func (g *globals) following(ctx context.Context, cfg *config.Config, s host.Scope, f func(h *host.Host) error) error {
	vars, err := g.variables()
	if err != nil {
		return err
	}
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	return g.withHost(ctx, cfg, s, func(h *host.Host) error {
		stop := h.Follow(ctx, host.Source{
			Paths: g.paths(),
			Load: func() (*config.Config, *config.Diagnostics) {
				return config.Load(g.paths(), config.Options{Vars: vars})
			},
			Show:   func(diags *config.Diagnostics) { _ = show(diags) }, // whether there are errors is known
			Reload: hup,
		})
		defer stop()
		return f(h)
	})
}
