package config

import (
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// check looks at what the decoded values mean together. It never complains of
// what follows from an earlier complaint.
func (d *decoder) check() {
	for _, p := range d.config.Plugins {
		d.checkPlugin(p)
		d.checkSandbox(p)
	}
	used := map[string]bool{}
	for _, l := range d.config.Locals {
		if own := l.Has("command") || l.Has("builtin"); !own {
			d.checkPlugins(&l.Place, l.Plugins)
		}
		mark(used, l.Plugins)
	}
	for _, w := range d.config.Webs {
		d.checkPlugins(&w.Place, w.Plugins)
		mark(used, w.Plugins)
	}
	d.checkUnused(used)
	d.checkHTTP()
}

func mark(used map[string]bool, handles []string) {
	for _, h := range handles {
		used[h] = true
	}
}

func (d *decoder) checkPlugin(p *Plugin) {
	switch {
	case p.Has("command") && p.Has("builtin"):
		d.errorf(p.At("builtin"), "Conflicting arguments", `A plugin has either a "command" or a "builtin".`)
	case !p.Has("command") && !p.Has("builtin"):
		d.errorf(p.Block, "Missing command", "The plugin %q says nothing to run. Write command = [\"./bin/plugin\"], or builtin with the name of a bundled plugin.", p.Handle)
	}
	if p.Has("builtin") {
		for _, name := range []string{"sha256", "files"} {
			if p.Has(name) {
				d.errorf(p.At(name), "Conflicting arguments", "A builtin is part of mcphost itself, so it takes no %q.", name)
			}
		}
	}
	d.resolve(p)
	d.checkArguments(p)
	if p.config != nil {
		d.checkConfig(p.config.Body, p.eval)
	}
	for i, file := range p.Files {
		if _, err := os.Stat(file); err != nil {
			d.errorf(p.At("files", strconv.Itoa(i)), "Missing file", "%s", readProblem(file, err))
		}
	}
}

// checkConfig evaluates everything in a config block, so that a missing variable
// is reported before a plugin is started. What the values mean is the plugin's.
func (d *decoder) checkConfig(body hcl.Body, eval *hcl.EvalContext) {
	args, blocks, diags := open(body)
	d.diags = append(d.diags, diags...)
	for _, attr := range args {
		_, diags := evaluate(attr.Expr, eval)
		d.diags = append(d.diags, diags...)
	}
	for _, b := range blocks {
		d.checkConfig(b.Body, eval)
	}
}

func (d *decoder) checkSandbox(p *Plugin) {
	s := &p.Sandbox
	if s.Network && len(s.Hosts) > 0 {
		d.errorf(s.At("hosts"), "Conflicting arguments", "With network = true everything can be reached; write either that or the hosts.")
	}
	if s.Mode == SandboxOff {
		for _, name := range []string{"require", "read", "write", "network", "hosts", "exec", "memory", "cpu", "pids"} {
			if s.Has(name) {
				d.warnf(s.At(name), "Argument without effect", "The sandbox is off, so %q has no effect: the plugin may do everything that you may.", name)
			}
		}
		return
	}
	d.warnMissing(s, "read", s.Read)
	d.warnMissing(s, "write", s.Write)
}

func (d *decoder) warnMissing(s *Sandbox, name string, paths []string) {
	for i, path := range paths {
		if _, err := os.Lstat(path); os.IsNotExist(err) {
			d.warnf(s.At(name, strconv.Itoa(i)), "Missing path", "There is nothing at %q, so nothing is granted there.", path)
		}
	}
}

// checkPlugins looks at the plugins of one endpoint.
func (d *decoder) checkPlugins(place *Place, handles []string) {
	if !place.Has("plugins") {
		d.errorf(place.Block, "Missing plugins", "An endpoint needs plugins = [\"HANDLE\"]%s.", known(d.handles()))
		return
	}
	seen := map[string]bool{}
	for i, h := range handles {
		at := place.At("plugins", strconv.Itoa(i))
		if seen[h] {
			d.errorf(at, "Duplicate plugin", "The plugin %q stands in this list twice.", h)
		}
		seen[h] = true
		if _, ok := d.seen["plugin "+h]; !ok { // by name: a plugin that did not decode is there
			d.errorf(at, "Unknown plugin", "There is no plugin %q.%s", h, didYouMean(h, d.handles()))
		}
	}
	if handles != nil && len(handles) == 0 {
		d.warnf(place.At("plugins"), "Empty endpoint", "This endpoint has no plugins, so it offers nothing.")
	}
}

func (d *decoder) handles() []string {
	handles := make([]string, len(d.config.Plugins))
	for i, p := range d.config.Plugins {
		handles[i] = p.Handle
	}
	return handles
}

func (d *decoder) checkUnused(used map[string]bool) {
	if d.diags.HasErrors() { // a misspelled handle would be reported twice
		return
	}
	for _, p := range d.config.Plugins {
		if !used[p.Handle] {
			d.warnf(p.Block, "Unused plugin", "No endpoint has the plugin %q, so it is never started. Name it in the plugins of a local or web block.", p.Handle)
		}
	}
}

func (d *decoder) checkHTTP() {
	h := &d.config.HTTP
	if len(d.config.Webs) > 0 && !loopback(h.Listen) {
		d.warnf(h.At("listen"), "Open listener", "Everyone who can reach %q can call every tool: there is no authentication yet. Listen on 127.0.0.1 unless something in front asks who comes.", h.Listen)
	}
	if !h.LegacySSE {
		return
	}
	for _, w := range d.config.Webs {
		for _, other := range d.config.Webs {
			base := strings.TrimSuffix(other.Path, "/")
			if w.Path == base+"/sse" || w.Path == base+"/message" {
				d.errorf(w.At("path"), "Overlapping path", "With legacy_sse the path %q belongs to the endpoint %q at %s.", w.Path, other.Path, where(other.Block))
			}
		}
	}
}

func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil || host == "localhost" {
		return err == nil
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
