package config

import (
	"fmt"
	"regexp"

	"github.com/hashicorp/hcl/v2"
)

// decode reads the whole of all files.
func (d *decoder) decode(body hcl.Body) {
	variables, rest, diags := body.PartialContent(&hcl.BodySchema{
		Blocks: []hcl.BlockHeaderSchema{{Type: "variable", LabelNames: []string{"name"}}},
	})
	d.diags = append(d.diags, diags...)
	d.variables(variables.Blocks)

	c := d.config
	var top Place
	d.body(rest, &top, fields{
		args:   map[string]setter{"seal_keys": set(&c.SealKeys, sealKeys)},
		secret: []string{"seal_keys"},
		blocks: map[string]child{
			// The schema of the rest has it too, so that a misspelled "variable" is recognised.
			"variable": {labels: []string{"name"}, read: func(*hcl.Block) {}},
			"server":   {once: true, read: d.server},
			"http":     {once: true, read: d.http},
			"limits":   {once: true, read: d.limits},
			"plugin":   {labels: []string{"handle"}, read: d.plugin},
			"local":    {labels: []string{"handle"}, read: d.local},
			"web":      {labels: []string{"path"}, read: d.web},
		},
	})
	d.limitsFromEnv()
}

func (d *decoder) server(b *hcl.Block) {
	s := &d.config.Server
	s.Block = b.DefRange
	d.body(b.Body, &s.Place, fields{
		args: map[string]setter{
			"name":         set(&s.Name, nonEmpty),
			"version":      set(&s.Version, text),
			"title":        set(&s.Title, text),
			"instructions": set(&s.Instructions, text),
			"website_url":  set(&s.WebsiteURL, webURL),
			"seal_keys": func(a value) {
				if d.config.SealKeys != nil {
					d.errorf(a.at(), "Conflicting arguments", `The argument "seal_keys" is written twice: in the server block and outside of it.`)
				}
				set(&d.config.SealKeys, sealKeys)(a)
			},
		},
		secret: []string{"seal_keys"},
	})
}

func (d *decoder) http(b *hcl.Block) {
	h := &d.config.HTTP
	h.Block = b.DefRange
	d.body(b.Body, &h.Place, fields{args: map[string]setter{
		"listen":               set(&h.Listen, listenAddress),
		"allowed_origins":      set(&h.AllowedOrigins, origins),
		"allowed_hosts":        set(&h.AllowedHosts, hostNames),
		"legacy_sse":           set(&h.LegacySSE, boolean),
		"session_idle_timeout": set(&h.SessionIdleTimeout, duration(bound{})),
		"max_sessions":         set(&h.MaxSessions, count(bound{})),
		"poll_after":           set(&h.PollAfter, duration(bound{zero: true})),
		"metrics":              set(&h.Metrics, d.metricsPath),
	}})
}

// A handle names a plugin or a local endpoint.
var handlePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$`)

// handle checks the label of a plugin or local block: its form, and that it is
// the first of its kind.
func (d *decoder) handle(b *hcl.Block, kind string) bool {
	name, at := b.Labels[0], b.LabelRanges[0]
	if !handlePattern.MatchString(name) {
		d.errorf(at, "Invalid handle", "A handle is 1 to 128 letters, digits, dots, dashes and underscores, and begins with a letter or a digit; %q is not.", name)
		d.seen[kind+" "+name] = at // it is there, if badly named: no endpoint need complain
		return false
	}
	return d.once(kind+" "+name, at, "Duplicate handle", fmt.Sprintf("The handle %q is given to two %ss", name, kind))
}

func (d *decoder) plugin(b *hcl.Block) {
	p := d.newPlugin(b)
	good := d.handle(b, "plugin")
	f := d.pluginFields(p)
	d.body(b.Body, &p.Place, f.with(d.shapes(b, &p.Tools, &p.Prompts, &p.Resources)))
	if good {
		d.config.Plugins = append(d.config.Plugins, p)
	}
}

func (d *decoder) newPlugin(b *hcl.Block) *Plugin {
	p := defaultPlugin(b.Labels[0])
	p.Block, p.Sandbox.Block = b.DefRange, b.DefRange
	p.sources, p.eval = d.config.sources, d.scope(b.DefRange.Filename)
	dir := d.dir(b.DefRange.Filename)
	p.absolute = func(path string) string { return d.absolute(dir, path) }
	return p
}

func (d *decoder) pluginFields(p *Plugin) fields {
	return fields{
		args: map[string]setter{
			"command":              set(&p.Command, command),
			"builtin":              set(&p.Builtin, builtin),
			"files":                set(&p.Files, paths),
			"sha256":               set(&p.SHA256, sha256Hex),
			"timeout":              set(&p.Timeout, duration(bound{})),
			"start":                set(&p.Start, choice(StartEager, StartLazy)),
			"idle_timeout":         set(&p.IdleTimeout, duration(bound{zero: true})),
			"max_concurrent_calls": set(&p.MaxConcurrentCalls, count(bound{zero: true})),
			"mtls":                 set(&p.MTLS, boolean),
			"env":                  set(&p.Env, environment),
			"secrets":              set(&p.Secrets, secretMap),
		},
		secret: []string{"env", "secrets"},
		blocks: map[string]child{
			"config":  {once: true, read: func(b *hcl.Block) { p.config = b }},
			"sandbox": {once: true, read: func(b *hcl.Block) { d.sandbox(b, &p.Sandbox) }},
		},
	}
}

func (d *decoder) sandbox(b *hcl.Block, s *Sandbox) {
	s.Block = b.DefRange
	d.body(b.Body, &s.Place, fields{args: map[string]setter{
		"mode":    set(&s.Mode, choice(SandboxStrict, SandboxBestEffort, SandboxOff)),
		"require": set(&s.Require, choices(Guarantees...)),
		"read":    set(&s.Read, paths),
		"write":   set(&s.Write, paths),
		"network": set(&s.Network, boolean),
		"hosts":   set(&s.Hosts, hostPorts),
		"exec":    set(&s.Exec, boolean),
		"memory":  set(&s.Memory, size(bound{zero: true})),
		"cpu":     set(&s.CPU, fraction(bound{zero: true})),
		"pids":    set(&s.PIDs, count(bound{zero: true})),
	}})
}

// local reads an endpoint, and the plugin in it where the block has a command.
// The shape of such a block is the endpoint's, so that no prefix is put twice.
func (d *decoder) local(b *hcl.Block) {
	l := &Local{Handle: b.Labels[0], OnConflict: ConflictPrefix}
	l.Block = b.DefRange
	p := d.newPlugin(b)
	good := d.handle(b, "local")
	f := endpointFields(&l.Plugins, &l.OnConflict).with(d.shapes(b, &l.Tools, &l.Prompts, &l.Resources))
	f.args["scopes"] = set(&l.Scopes, texts)
	d.body(b.Body, &l.Place, f.with(d.pluginFields(p)))
	p.Place = l.Place

	own := l.Has("command") || l.Has("builtin")
	switch {
	case own && l.Has("plugins"):
		d.errorf(l.At("plugins"), "Conflicting arguments", `A local block has either "plugins" or a plugin of its own, by "command" or "builtin".`)
	case own && good && d.once("plugin "+l.Handle, b.LabelRanges[0], "Duplicate handle", fmt.Sprintf("The local block %q has a command, so its handle is that of a plugin too, and it is given to two plugins", l.Handle)):
		l.Plugins = []string{l.Handle}
		d.config.Plugins = append(d.config.Plugins, p)
	case !own:
		d.onlyWithCommand(l, p)
	}
	if good {
		d.config.Locals = append(d.config.Locals, l)
	}
}

// onlyWithCommand complains about the arguments of a plugin in a block that has none.
func (d *decoder) onlyWithCommand(l *Local, p *Plugin) {
	f := d.pluginFields(p)
	for _, name := range keys(f.args) {
		if l.Has(name) {
			d.errorf(l.At(name), "Conflicting arguments", "The argument %q belongs to a plugin, and this block has no \"command\".", name)
		}
	}
	if p.config != nil {
		d.errorf(p.config.DefRange, "Conflicting arguments", "The config block belongs to a plugin, and this block has no \"command\".")
	}
	if p.Sandbox.Block != l.Block {
		d.errorf(p.Sandbox.Block, "Conflicting arguments", "The sandbox block belongs to a plugin, and this block has no \"command\".")
	}
}

func (d *decoder) web(b *hcl.Block) {
	w := &Web{Path: b.Labels[0], OnConflict: ConflictPrefix}
	w.Block = b.DefRange
	at := b.LabelRanges[0]
	good := d.webPath(w.Path, at) && d.once("web "+w.Path, at, "Duplicate path", fmt.Sprintf("The path %q is given to two web blocks", w.Path))
	w.put("path", at)
	f := endpointFields(&w.Plugins, &w.OnConflict)
	d.body(b.Body, &w.Place, f.with(d.shapes(b, &w.Tools, &w.Prompts, &w.Resources)))
	if good {
		d.config.Webs = append(d.config.Webs, w)
	}
}

func endpointFields(plugins *[]string, conflict *OnConflict) fields {
	return fields{args: map[string]setter{
		"plugins":     set(plugins, texts),
		"on_conflict": set(conflict, choice(ConflictPrefix, ConflictSkip, ConflictError)),
	}}
}

// shapes are the three blocks that plugins and endpoints share.
func (d *decoder) shapes(around *hcl.Block, tools, prompts, resources *Shape) fields {
	shape := func(s *Shape, names bool) child {
		s.Block = around.DefRange
		return child{once: true, read: func(b *hcl.Block) { d.shape(b, s, names) }}
	}
	return fields{blocks: map[string]child{
		"tools":     shape(tools, true),
		"prompts":   shape(prompts, true),
		"resources": shape(resources, false),
	}}
}

// shape reads one. A resource is named by its URI, which is also how the plugin
// is asked for it and what its results link to: it cannot be renamed.
func (d *decoder) shape(b *hcl.Block, s *Shape, names bool) {
	s.Block = b.DefRange
	f := fields{args: map[string]setter{
		"include": set(&s.Include, globs),
		"exclude": set(&s.Exclude, globs),
	}}
	if names {
		f.args["prefix"] = set(&s.Prefix, namePrefix)
		f.args["rename"] = set(&s.Rename, renames)
	}
	d.body(b.Body, &s.Place, f)
}
