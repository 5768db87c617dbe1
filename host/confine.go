package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphost/mcphost/host/config"
	"github.com/mcphost/mcphost/host/integrity"
	"github.com/mcphost/mcphost/host/plugin"
	"github.com/mcphost/mcphost/host/sandbox"
)

// launcher returns what confines the plugin of cfg; m is nil for a process that
// is only asked what it is.
func (h *Host) launcher(cfg *config.Plugin, m *member) plugin.Launcher {
	c := &confinement{cfg: cfg, log: h.log.Named("sandbox").With("handle", cfg.Handle)}
	c.vetting.copies = h.copies
	c.report = func(sandbox.Report) {}
	if m != nil {
		c.report = func(r sandbox.Report) { h.confined(m, r) }
		c.vetting.pin, c.vetting.err = m.made.pin, m.made.pinErr
	} else {
		c.vetting.pin, c.vetting.err = h.pin(cfg)
	}
	return c
}

// A confinement runs one plugin in the sandbox that its block describes.
type confinement struct {
	cfg    *config.Plugin
	log    hclog.Logger
	report func(sandbox.Report) // is told what is enforced

	vetting vetting
}

var _ plugin.Launcher = (*confinement)(nil)

// Prepare implements [plugin.Launcher].
func (c *confinement) Prepare(cmd *exec.Cmd, dirs plugin.Dirs) (plugin.Launched, error) {
	own, err := c.vetting.vet(c.cfg, cmd)
	if err != nil {
		return nil, err
	}
	l, err := sandbox.Prepare(cmd, c.policy(dirs, own), sandbox.Options{Log: c.log})
	if err != nil {
		if own != nil {
			err = errors.Join(err, own.Release())
		}
		return nil, c.explain(err)
	}
	return &confined{Launch: l, c: c, copy: own}, nil
}

// policy is the sandbox block in the words of the sandbox.
func (c *confinement) policy(dirs plugin.Dirs, own *integrity.Copy) sandbox.Policy {
	s := &c.cfg.Sandbox
	p := sandbox.Policy{
		Mode:  sandbox.Mode(s.Mode),
		Files: copied(own, c.cfg.Files),
		Grant: sandbox.Grant{
			Read: s.Read, Write: s.Write, Network: s.Network, Hosts: s.Hosts,
			Memory: s.Memory, CPU: s.CPU, Pids: s.PIDs,
		},
		Folders: []string{dirs.Work, dirs.Socket}, // the first is its home
	}
	if dirs.Data != "" {
		p.Folders = append(p.Folders, dirs.Data)
	}
	for _, g := range s.Require {
		p.Require = append(p.Require, sandbox.Guarantee(g))
	}
	if s.Exec {
		p.Grant.Exec = []string{"*"}
	}
	return p
}

// explain says where in the file to mend what the sandbox refuses.
func (c *confinement) explain(err error) error {
	at := c.cfg.Sandbox.Block
	return fmt.Errorf("%w (the sandbox of plugin %q, %s:%d)", err, c.cfg.Handle, at.Filename, at.Start.Line)
}

// A confined is one launch.
type confined struct {
	*sandbox.Launch
	c    *confinement
	copy *integrity.Copy // what runs; nil if nothing is pinned
}

// Close implements [plugin.Launched].
func (l *confined) Close() error {
	err := l.Launch.Close()
	if l.copy != nil {
		err = errors.Join(err, l.copy.Release())
	}
	return err
}

// Started implements [plugin.Launched]. It says what is not enforced: a plugin
// that runs with less than its block asks for must not go unnoticed.
func (l *confined) Started(ctx context.Context) error {
	report, err := l.Report(ctx)
	var refused *sandbox.LaunchError
	switch {
	case errors.As(err, &refused):
		return l.c.explain(err)
	case err != nil:
		return err
	}
	l.c.report(report)
	if l.c.cfg.Sandbox.Mode == config.SandboxOff {
		l.c.log.Warn("plugin runs without a sandbox: it may do whatever this user may", "user", os.Getuid())
		return nil
	}
	for _, note := range report.Notes {
		l.c.log.Warn("sandbox", "error", note)
	}
	for _, s := range report.Missing() {
		l.c.log.Warn("sandbox guarantee is not enforced", "guarantee", s.Guarantee, "error", s.String())
	}
	if l.c.cfg.Sandbox.Network {
		l.c.log.Warn("plugin may use the whole network")
	}
	return nil
}
