package main

import (
	"context"
	"fmt"
	"time"

	"github.com/mcphost/mcphost/host"
	"github.com/mcphost/mcphost/host/config"
)

// stopWait bounds how long plugins may take to stop.
const stopWait = 10 * time.Second

// withHost runs f on a host whose named plugins have been started, and stops them after it.
func (g *globals) withHost(ctx context.Context, cfg *config.Config, handles []string, f func(h *host.Host) error) (err error) {
	log, err := g.logger()
	if err != nil {
		return err
	}
	h, err := host.New(cfg, host.Options{Log: log})
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
	if err := show(h.Start(ctx, handles)); err != nil {
		return err
	}
	return f(h)
}
