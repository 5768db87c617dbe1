package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mcphost/mcphost/host"
	"github.com/mcphost/mcphost/host/config"
	"github.com/mcphost/mcphost/host/dev"
)

func newDev(g *globals) *cobra.Command {
	var listen string
	c := &cobra.Command{
		Use:   "dev FOLDER",
		Short: "Build and serve the plugin in a folder, again after each change",
		Long: `Build the plugin in FOLDER, serve it in its sandbox on stdin and stdout, or with
--http at a URL, and show its tools. When its sources change it is built again and
takes the place of the one that runs; clients stay connected. What does not build
or start leaves the one that runs alone.

A folder with *.go files is built by go; plugin.py is run by python3, of .venv if
there is one; package.json names the main file for node; an executable plugin or
plugin.sh is run as it is. ` + dev.ConfigName + ` in FOLDER says more: it is a
configuration with a local block, in which var.plugin is the command and var.files
are the plugin's files.`,
		Args: exactly(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			// A reader that goes is an error of writing; what is ours is removed then.
			signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
			scratch, err := os.MkdirTemp("", "mcphost-dev")
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
			p, err := dev.Open(args[0], scratch)
			if err != nil {
				return usageError{err}
			}
			if g.stateDir == "" {
				g.stateDir = host.DefaultStateDir()
			}
			g.stateDir = filepath.Join(g.stateDir, "dev") // not the data of the plugin in use
			d := &development{g: g, p: p, listen: listen}
			return d.run(c.Context())
		},
	}
	c.Flags().StringVar(&listen, "http", "", "serve HTTP on `ADDR` (host:port, port 0 is any free one) instead of stdin and stdout")
	return c
}

// A development is one run of mcphost dev.
type development struct {
	g      *globals
	p      *dev.Project
	listen string // empty: stdin and stdout
	watch  *dev.Watch
}

func (d *development) run(ctx context.Context) (err error) {
	log, err := d.g.logger()
	if err != nil {
		return err
	}
	if d.watch, err = d.p.Watch(ctx, log.Named("watch")); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.watch.Close()) }()
	for {
		cfg := d.next(ctx)
		if cfg == nil {
			return nil
		}
		served, err := d.host(ctx, cfg)
		var exit exitError
		if served || !errors.As(err, &exit) {
			return err
		}
		if !d.await(ctx) { // what is wrong has been said
			return nil
		}
	}
}

// next returns the first configuration that builds and loads; nil if ctx ends.
func (d *development) next(ctx context.Context) *config.Config {
	for {
		if cfg := d.make(ctx); cfg != nil || !d.await(ctx) {
			return cfg
		}
	}
}

// await waits for a change of the sources; false if ctx ends before.
func (d *development) await(ctx context.Context) bool {
	d.say("waiting for a change in %s", d.p.Folder)
	select {
	case <-ctx.Done():
		return false
	case <-d.watch.Changes:
		return true
	}
}

// make builds the plugin and loads its configuration. What is wrong is shown,
// and there is no configuration.
func (d *development) make(ctx context.Context) *config.Config {
	d.watch.Refresh(ctx)
	if err := d.p.Build(ctx); err != nil {
		if ctx.Err() == nil {
			d.say("it does not build: %v", err)
		}
		return nil
	}
	cfg, err := d.load(nil)
	if cfg != nil && d.listen != "" && len(cfg.Webs) == 0 {
		cfg, err = d.load(cfg.Locals[0].Plugins)
	}
	var exit exitError
	if err != nil && !errors.As(err, &exit) {
		d.say("%v", err)
	}
	return cfg
}

func (d *development) load(webs []string) (*config.Config, error) {
	files, err := d.p.WriteConfig(webs)
	if err != nil {
		return nil, err
	}
	g := *d.g
	g.files = files
	cfg, err := g.load()
	if err != nil {
		return nil, err
	}
	if len(cfg.Locals) == 0 {
		return nil, fmt.Errorf("%s has no local block; write local %q { command = var.plugin }", dev.ConfigName, d.p.Name)
	}
	return cfg, nil
}

// host serves cfg, and what follows it, until the client or ctx ends. It
// returns without having served if the configuration of the plugin is wrong.
func (d *development) host(ctx context.Context, cfg *config.Config) (served bool, err error) {
	l := cfg.Locals[0]
	err = d.g.withHost(ctx, cfg, host.Scope{Local: l.Handle, Webs: d.listen != ""}, func(h *host.Host) error {
		served = true
		client := h.Client(l)
		d.showTools(ctx, l.Handle, client)
		ctx, cancel := context.WithCancel(ctx)
		var following sync.WaitGroup
		following.Go(func() { d.follow(ctx, h, l.Handle, client) }) // ends with ctx
		defer following.Wait()
		defer cancel()
		if d.listen == "" {
			return h.ServeStdio(ctx, l, os.Stdin, os.Stdout)
		}
		return h.ServeHTTP(ctx, d.listen, func(urls []string) { d.say("ready url=%s", strings.Join(urls, " url=")) })
	})
	return served, err
}

// follow brings each change of the sources into force.
func (d *development) follow(ctx context.Context, h *host.Host, handle string, client *host.Client) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.watch.Changes:
		}
		cfg := d.make(ctx)
		if ctx.Err() != nil {
			return
		}
		if cfg == nil {
			d.say("the plugin that runs stays")
			continue
		}
		diags := h.Reload(ctx, cfg)
		if show(diags) == nil {
			d.showTools(ctx, handle, client)
		}
	}
}

func (d *development) showTools(ctx context.Context, handle string, client *host.Client) {
	tools := client.Tools(ctx)
	d.say("%s serves %d tools", handle, len(tools))
	for _, t := range tools {
		text, _, _ := strings.Cut(t.Description, "\n")
		fmt.Fprintf(os.Stderr, "  %-24s %s\n", t.Name, text)
	}
}

func (*development) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "mcphost dev: "+format+"\n", args...)
}
