package registry

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphost/mcphost/host/config"
	"github.com/mcphost/mcphost/host/events"
	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/primitive"
)

// Shapes say which primitives are taken, and under which names. Resources and
// templates share one and keep their URIs. The zero value takes all as they are.
type Shapes struct{ Tools, Prompts, Resources *config.Shape }

// apply returns the name under which p is served, where key is its name so
// far, and false if it is not served.
func (s *Shapes) apply(p *primitive.Primitive, key string) (string, bool) {
	shape := s.Resources
	switch p.Kind {
	case primitive.KindTool:
		shape = s.Tools
	case primitive.KindPrompt:
		shape = s.Prompts
	case primitive.KindResource, primitive.KindTemplate:
	}
	if shape == nil {
		return key, true
	}
	return shape.Name(p.Own, key), shape.Serves(p.Own)
}

// A Member is one plugin of an endpoint, with the shapes of its own block.
type Member struct {
	Handle string
	Shapes Shapes
}

// Options describe an endpoint.
type Options struct {
	Name         string
	Plugins      []Member          // in the order of the file, which decides conflicts
	Shapes       Shapes            // of the endpoint, applied after the plugins'
	OnConflict   config.OnConflict // empty is config.ConflictPrefix
	Instructions string            // of the server
}

// An Endpoint is the catalog of one local or web block. It implements [mcp.Catalog].
type Endpoint struct {
	name string
	log  hclog.Logger
	bus  events.Bus

	current atomic.Pointer[catalog]

	// What follows is guarded by the registry's mutex.
	plugins  []Member
	shapes   Shapes
	conflict config.OnConflict
	preamble string
	watched  ownership
}

// An ownership is whose the watched resources are by one catalog.
type ownership struct {
	catalog *catalog
	handles map[string]string // by URI; empty is nobody
}

var _ mcp.Catalog = (*Endpoint)(nil)

// A catalog is a snapshot with what only the registry needs of it.
type catalog struct {
	snapshot  *primitive.Snapshot
	templates []*primitive.Primitive // in the order of the file, which decides whose a URI is
	owners    map[*primitive.Primitive]string
	silent    map[string]bool // plugins that complete no arguments
	replaced  chan struct{}   // closed when it is not current any more
}

// NewEndpoint adds an endpoint over the plugins that o names.
func (r *Registry) NewEndpoint(o Options) *Endpoint {
	e := &Endpoint{name: o.Name, log: r.log.With("endpoint", o.Name)}
	e.set(o)
	e.bus.OnWatch = func([]string) { r.watch() }
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endpoints = append(r.endpoints, e)
	e.rebuild(r.offers)
	return e
}

// set takes everything but the name from o.
func (e *Endpoint) set(o Options) {
	e.plugins, e.shapes, e.conflict, e.preamble = o.Plugins, o.Shapes, o.OnConflict, o.Instructions
	if e.conflict == "" {
		e.conflict = config.ConflictPrefix
	}
}

// View implements [mcp.Catalog].
func (e *Endpoint) View(context.Context, *primitive.Caller) mcp.View {
	return mcp.View{Snapshot: e.current.Load().snapshot}
}

// rebuild makes a new snapshot of the offers and tells the subscribers what differs.
func (e *Endpoint) rebuild(offers map[string]*Offer) {
	next := e.assemble(offers)
	last := e.current.Swap(next)
	if last == nil {
		return
	}
	close(last.replaced)
	a, b := last.snapshot, next.snapshot
	change := events.Change{
		Tools:     differ(a.Tools, b.Tools),
		Prompts:   differ(a.Prompts, b.Prompts),
		Resources: differ(a.Resources, b.Resources) || differ(a.Templates, b.Templates),
	}
	if !change.None() {
		e.bus.Publish(change)
	}
}

func differ(a, b []*primitive.Primitive) bool {
	return !slices.EqualFunc(a, b, func(p, q *primitive.Primitive) bool {
		return p.Key == q.Key && bytes.Equal(p.Definition, q.Definition)
	})
}

func (e *Endpoint) assemble(offers map[string]*Offer) *catalog {
	c := &catalog{snapshot: &primitive.Snapshot{}, owners: make(map[*primitive.Primitive]string), silent: make(map[string]bool), replaced: make(chan struct{})}
	s := c.snapshot
	texts := []string{}
	if e.preamble != "" {
		texts = append(texts, e.preamble)
	}
	first := true
	for _, m := range e.plugins {
		o := offers[m.Handle]
		if o == nil {
			continue
		}
		s.HasResources = s.HasResources || o.HasResources
		s.HasPrompts = s.HasPrompts || o.HasPrompts
		s.Completions = s.Completions || o.Completions
		c.silent[m.Handle] = !o.Completions
		s.Logging = s.Logging || o.Logging
		s.ResourceUpdates = s.ResourceUpdates || o.ResourceUpdates
		if o.Instructions != "" {
			texts = append(texts, o.Instructions)
		}
		s.Lists = narrow(s.Lists, o.Lists, first)
		first = false
	}
	s.Instructions = strings.Join(texts, "\n\n")
	s.Tools = e.gather(c, offers, primitive.KindTool)
	s.Prompts = e.gather(c, offers, primitive.KindPrompt)
	s.Resources = e.gather(c, offers, primitive.KindResource)
	c.templates = e.gather(c, offers, primitive.KindTemplate)
	s.Templates = slices.Clone(c.templates)
	for _, list := range [][]*primitive.Primitive{s.Tools, s.Prompts, s.Resources, s.Templates} {
		slices.SortFunc(list, func(a, b *primitive.Primitive) int { return strings.Compare(a.Key, b.Key) })
	}
	return c
}

// narrow returns a hint that holds for both: the shorter life, public only if both are.
func narrow(a primitive.CacheHint, b *primitive.CacheHint, first bool) primitive.CacheHint {
	if b == nil {
		return primitive.CacheHint{}
	}
	if first {
		return *b
	}
	return primitive.CacheHint{TTL: min(a.TTL, b.TTL), Public: a.Public && b.Public}
}

// gather returns the primitives of kind k in the order of the file, under
// their served names, with conflicts settled by that order.
func (e *Endpoint) gather(c *catalog, offers map[string]*Offer, k primitive.Kind) []*primitive.Primitive {
	var list []*primitive.Primitive
	taken := make(map[string]int) // key -> index in list
	for _, m := range e.plugins {
		o := offers[m.Handle]
		if o == nil {
			continue
		}
		for _, p := range o.list(k) {
			key, ok := e.served(m, p)
			if !ok {
				continue
			}
			if at, clash := taken[key]; clash {
				if key, ok = e.settle(m, p, key, c.owners[list[at]]); !ok {
					continue
				}
				if _, clash = taken[key]; clash {
					e.log.Warn("left out a primitive whose name is taken", "handle", m.Handle, "primitive", k, "name", key)
					continue
				}
			}
			q := rename(p, key)
			taken[key] = len(list)
			list = append(list, q)
			c.owners[q] = m.Handle
		}
	}
	return list
}

// served returns the name that the shapes give p, false if it is not served.
func (e *Endpoint) served(m Member, p *primitive.Primitive) (string, bool) {
	key, ok := m.Shapes.apply(p, p.Own)
	if ok {
		key, ok = e.shapes.apply(p, key)
	}
	if !ok {
		return "", false
	}
	if p.Kind == primitive.KindResource || p.Kind == primitive.KindTemplate {
		return p.Own, true
	}
	if p.Kind == primitive.KindTool && !validName(key) {
		e.log.Warn("left out a tool whose served name is not 1 to 128 of A-Z a-z 0-9 _ . -", "handle", m.Handle, "tool", key)
		return "", false
	}
	return key, true
}

// settle decides what becomes of p, whose name key is that of another plugin's primitive.
func (e *Endpoint) settle(m Member, p *primitive.Primitive, key, owner string) (string, bool) {
	if e.conflict == config.ConflictPrefix && (p.Kind == primitive.KindTool || p.Kind == primitive.KindPrompt) {
		if name := m.Handle + "_" + key; validName(name) {
			e.log.Warn("prefixed a name that is taken", "handle", m.Handle, "primitive", p.Kind, "name", key, "taken_by", owner, "served", name)
			return name, true
		}
	}
	e.log.Warn("left out a primitive whose name is taken", "handle", m.Handle, "primitive", p.Kind, "name", key, "taken_by", owner)
	return "", false
}

// validName reports whether name is one for a tool (server/tools, "Tool Names").
func validName(name string) bool {
	if name == "" || len(name) > 128 {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '.', c == '-':
		default:
			return false
		}
	}
	return true
}

// rename returns p as served under key: its definition but for the name is
// byte for byte the plugin's.
func rename(p *primitive.Primitive, key string) *primitive.Primitive {
	q := *p
	q.Key = key
	if key == p.Own {
		return &q
	}
	b := []byte{'{'}
	jsonrpc.Members(p.Definition, func(k, v []byte) bool {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = jsonrpc.AppendString(b, string(k))
		b = append(b, ':')
		if string(k) == "name" {
			b = jsonrpc.AppendString(b, key)
		} else {
			b = append(b, v...)
		}
		return true
	})
	q.Definition = append(b, '}')
	return &q
}

// owner returns the handle of the plugin whose resource uri is, empty if it is nobody's.
func (e *Endpoint) owner(uri string) string {
	c := e.current.Load()
	if p := c.resource(mcp.View{Snapshot: c.snapshot}, uri); p != nil {
		return c.owners[p]
	}
	return ""
}

// watchedOwners returns whose each watched resource is. What is known from the
// last time is not matched again: each subscription would otherwise cost as
// much as all there are. It needs the registry's mutex held.
func (e *Endpoint) watchedOwners() map[string]string {
	c, last := e.current.Load(), e.watched
	uris := e.bus.Watched()
	e.watched = ownership{c, make(map[string]string, len(uris))}
	for _, uri := range uris {
		h, known := last.handles[uri]
		if !known || last.catalog != c {
			h = e.owner(uri)
		}
		e.watched.handles[uri] = h
	}
	return e.watched.handles
}

// resource returns what answers for uri: the resource of that URI, or the
// first template in the file that matches.
func (c *catalog) resource(v mcp.View, uri string) *primitive.Primitive {
	if p, ok := v.Lookup(primitive.KindResource, uri); ok {
		return p
	}
	for _, t := range c.templates {
		if t.Matches == nil || !t.Matches(uri) {
			continue
		}
		if _, ok := v.Lookup(primitive.KindTemplate, t.Key); ok {
			return t
		}
	}
	return nil
}

// Subscribe implements [mcp.Catalog].
func (e *Endpoint) Subscribe(_ *primitive.Caller, want mcp.Interest) mcp.Subscription {
	return subscription{e.bus.Subscribe(events.Change(want))}
}

// A subscription speaks the words of mcp.
type subscription struct{ *events.Subscription }

func (s subscription) Take() mcp.Interest       { return mcp.Interest(s.Subscription.Take()) }
func (s subscription) Update(want mcp.Interest) { s.Subscription.Update(events.Change(want)) }
