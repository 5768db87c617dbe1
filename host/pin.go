package host

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/mcphost/mcphost/host/config"
	"github.com/mcphost/mcphost/host/integrity"
	"github.com/mcphost/mcphost/host/plugin"
	"github.com/mcphost/mcphost/host/primitive"
)

// maxQuarantineLines bounds what the log says of one catalog.
const maxQuarantineLines = 20

// LockPath returns where the lock file of cfg is: beside the first of its files.
func LockPath(cfg *config.Config) string {
	dir := "."
	if len(cfg.Files) > 0 {
		dir = filepath.Dir(cfg.Files[0])
	}
	path := filepath.Join(dir, integrity.LockName)
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path // the working folder is gone, and with it what is relative to it
}

// pin returns what is accepted of the plugin of cfg. After an error nothing is
// known, and the plugin must not run.
func (h *Host) pin(cfg *config.Plugin) (integrity.Pin, error) {
	e, err := h.lock.Entry(cfg.Handle)
	return integrity.Pin{SHA256: cfg.SHA256, Entry: e}, err
}

// subject returns what the plugin of cfg is made of on disk.
func subject(cfg *config.Plugin) (integrity.Subject, error) {
	s, err := integrity.NewSubject(cfg.Command[0], cfg.Files)
	if cfg.SHA256 != "" { // the operator wants even an interpreter to be this one
		s.Interpreter = false
	}
	return s, err
}

// A vetting makes sure that what runs is what was accepted.
type vetting struct {
	copies *integrity.Store
	pin    integrity.Pin
	err    error // why pin is not known
	// found is told what a process is going to be made of, which is then
	// copied even if nothing is pinned; nil is for nobody.
	found func(integrity.Sums)
}

// vet lets cmd run the private copy of the plugin, if that is what was accepted.
// It returns the copy, nil if nothing is pinned. cmd is complete but for its
// confinement.
func (v *vetting) vet(cfg *config.Plugin, cmd *exec.Cmd) (*integrity.Copy, error) {
	if v.err != nil {
		return nil, v.err
	}
	if len(cfg.Command) == 0 || v.found == nil && !v.pin.Pins() {
		return nil, nil //nolint:nilnil // there is nothing to copy
	}
	s, err := subject(cfg)
	if err != nil {
		return nil, err
	}
	c, err := v.copies.Take(s)
	if err != nil {
		return nil, err
	}
	if err := v.pin.Check(c.Sums); err != nil {
		at := cfg.At("sha256")
		err = fmt.Errorf("%w (plugin %q, %s:%d)", err, cfg.Handle, at.Filename, at.Start.Line)
		return nil, errors.Join(err, c.Release())
	}
	if v.found != nil {
		v.found(c.Sums)
	}
	cmd.Path = c.Path(cmd.Path)
	for i, arg := range cmd.Args {
		cmd.Args[i] = c.Text(arg)
	}
	for i, variable := range cmd.Env {
		name, value, _ := strings.Cut(variable, "=")
		cmd.Env[i] = name + "=" + c.Text(value)
	}
	return c, nil
}

// copied returns paths in c, which may be nil.
func copied(c *integrity.Copy, paths []string) []string {
	if c == nil {
		return paths
	}
	out := make([]string, len(paths))
	for i, path := range paths {
		out[i] = c.Path(path)
	}
	return out
}

// admit returns c without what was not accepted. A line in the log names each.
func (h *Host) admit(cfg *config.Plugin, pin integrity.Pin, c *plugin.Catalog) *plugin.Catalog {
	if pin.Entry == nil {
		return c
	}
	kept, left := *c, 0
	refuse := func(kind, name string, err error) {
		if left++; left <= maxQuarantineLines {
			h.log.Warn("quarantined, until mcphost lock accepts it", "handle", cfg.Handle, kind, name, "error", err)
		}
	}
	for _, list := range []*[]*primitive.Primitive{&kept.Tools, &kept.Resources, &kept.Templates, &kept.Prompts} {
		good := make([]*primitive.Primitive, 0, len(*list))
		for _, p := range *list {
			if err := pin.Admit(p); err != nil {
				refuse(p.Kind.String(), p.Own, err)
				continue
			}
			good = append(good, p)
		}
		*list = good
	}
	if err := pin.AdmitInstructions(c.Instructions); err != nil {
		refuse(integrity.Instructions, "", err)
		kept.Instructions = ""
	}
	if left > maxQuarantineLines {
		h.log.Warn("quarantined more", "handle", cfg.Handle, "number", left-maxQuarantineLines)
	}
	return &kept
}
