// Package registry holds the catalogs: which primitives are on offer now, under
// which names each endpoint serves them, and which plugin is behind each.
//
// It is the one door to a plugin: every use passes an [Endpoint], which checks
// arguments and results. It starts no plugin and knows no protocol. Readers
// never block: each sees one snapshot, replaced in one step.
package registry

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"
	"github.com/yosida95/uritemplate/v3"

	"github.com/mcphost/mcphost/host/events"
	"github.com/mcphost/mcphost/host/primitive"
	"github.com/mcphost/mcphost/host/schema"
)

// An Offer is what one plugin offers, under its own names. It must not change
// once it was handed over.
type Offer struct {
	Tools, Resources, Templates, Prompts []*primitive.Primitive

	// What the plugin announced.
	HasResources, HasPrompts, Completions, Logging, ResourceUpdates bool

	Instructions string
	Lists        *primitive.CacheHint // nil: private, and to be asked again
}

func (o *Offer) list(k primitive.Kind) []*primitive.Primitive {
	switch k {
	case primitive.KindTool:
		return o.Tools
	case primitive.KindResource:
		return o.Resources
	case primitive.KindTemplate:
		return o.Templates
	case primitive.KindPrompt:
		return o.Prompts
	}
	return nil
}

// A Registry holds the offers of all plugins and the endpoints over them. Its
// methods may be called concurrently.
type Registry struct {
	log     hclog.Logger
	schemas *schema.Cache

	// onWatch tells a plugin which of its resources somebody watches. It must not block.
	onWatch func(handle string, uris []string)

	mu        sync.Mutex // guards what follows
	offers    map[string]*Offer
	endpoints []*Endpoint
	watched   map[string][]string // by handle, sorted
}

// New returns an empty registry. OnWatch is called, without blocking, with the
// whole set of a plugin's resources that are watched whenever it changes; nil
// is for nobody.
func New(log hclog.Logger, onWatch func(handle string, uris []string)) *Registry {
	return &Registry{
		log: log, schemas: schema.NewCache(maxSchemas), onWatch: onWatch,
		offers: make(map[string]*Offer), watched: make(map[string][]string),
	}
}

// SetOffer makes o what the plugin called handle offers; nil is nothing. When
// it returns, every endpoint serves the new snapshot and the subscribers know.
func (r *Registry) SetOffer(handle string, o *Offer) {
	r.Apply(Change{Offers: map[string]*Offer{handle: o}})
}

// A Change is what a reload replaces. Its parts take effect together.
type Change struct {
	Offers    map[string]*Offer     // by handle; nil is nothing
	Endpoints map[*Endpoint]Options // all but the name, which stays
	Removed   []*Endpoint
}

// Apply makes c in one step: an endpoint goes from its old snapshot to the new
// one, without another between, and its subscribers are told what differs. When
// it returns, they know.
func (r *Registry) Apply(c Change) {
	offers := make(map[string]*Offer, len(c.Offers))
	for handle, o := range c.Offers {
		if o != nil {
			o = r.prepare(handle, o)
		}
		offers[handle] = o
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for handle, o := range offers {
		if o == nil {
			delete(r.offers, handle)
			delete(r.watched, handle)
		} else {
			r.offers[handle] = o
		}
	}
	r.endpoints = slices.DeleteFunc(r.endpoints, func(e *Endpoint) bool { return slices.Contains(c.Removed, e) })
	for _, e := range r.endpoints {
		o, changed := c.Endpoints[e]
		if changed {
			e.set(o)
		}
		if changed || slices.ContainsFunc(e.plugins, func(p Member) bool { _, ok := offers[p.Handle]; return ok }) {
			e.rebuild(r.offers)
		}
	}
	r.watchLocked()
}

// Watched returns which resources of the plugin somebody watches, sorted.
func (r *Registry) Watched(handle string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.watched[handle])
}

// ResourceUpdated tells the subscribers that a resource of the plugin changed.
// A plugin speaks for its own resources only.
func (r *Registry) ResourceUpdated(handle, uri string) {
	r.mu.Lock()
	endpoints := slices.Clone(r.endpoints)
	r.mu.Unlock()
	for _, e := range endpoints {
		if e.owner(uri) == handle {
			e.bus.Publish(events.Change{URIs: []string{uri}})
		}
	}
}

// prepare returns a copy of o whose primitives can check what they are used
// with. A primitive that cannot be served is left out with a line in the log,
// the others stay.
func (r *Registry) prepare(handle string, o *Offer) *Offer {
	next := *o
	for _, list := range []*[]*primitive.Primitive{&next.Tools, &next.Resources, &next.Templates, &next.Prompts} {
		kept := make([]*primitive.Primitive, 0, len(*list))
		for _, p := range *list {
			q := *p
			if err := r.check(&q); err != nil {
				r.log.Warn("left out a primitive", "handle", handle, "primitive", p.Kind, "name", p.Own, "error", err)
				continue
			}
			kept = append(kept, &q)
		}
		*list = kept
	}
	return &next
}

// maxSchemas bounds how many compiled schemas are kept.
const maxSchemas = 4096

// maxTemplate bounds the length of a URI template, whose pattern grows with it,
// and maxURI that of a URI which may match one.
const (
	maxTemplate = 4 << 10
	maxURI      = 4 << 10
)

func (r *Registry) check(p *primitive.Primitive) error {
	switch p.Kind {
	case primitive.KindTool:
		return r.checkTool(p)
	case primitive.KindTemplate:
		if len(p.Own) > maxTemplate {
			return fmt.Errorf("the URI template is longer than %d bytes", maxTemplate)
		}
		t, err := uritemplate.New(p.Own)
		if err != nil {
			return fmt.Errorf("reading the URI template: %w", err)
		}
		start, _, _ := strings.Cut(p.Own, "{")
		p.Matches = func(uri string) bool {
			// A match takes microseconds a byte, so that what can be told without one is.
			return len(uri) <= maxURI && strings.HasPrefix(uri, start) && t.Match(uri) != nil
		}
	case primitive.KindResource, primitive.KindPrompt:
	}
	return nil
}

func (r *Registry) checkTool(p *primitive.Primitive) error {
	in, err := r.schemas.Compile(p.InputSchema)
	if err != nil {
		return fmt.Errorf("input schema: %w", err)
	}
	p.CheckArguments = in.Validate
	// streamable-http, "Custom Headers": a tool with an invalid annotation is
	// dropped by clients, so it is left out here, where somebody sees why.
	if p.Headers, err = schema.Headers(p.InputSchema); err != nil {
		return fmt.Errorf("input schema: %w", err)
	}
	if p.OutputSchema == nil {
		return nil
	}
	out, err := r.schemas.Compile(p.OutputSchema)
	if err != nil {
		return fmt.Errorf("output schema: %w", err)
	}
	p.CheckStructured = out.Validate
	return nil
}

// watch recomputes which resources of which plugin are watched.
func (r *Registry) watch() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watchLocked()
}

func (r *Registry) watchLocked() {
	sets := make(map[string]map[string]struct{})
	for _, e := range r.endpoints {
		for uri, h := range e.watchedOwners() {
			if h != "" {
				if sets[h] == nil {
					sets[h] = make(map[string]struct{})
				}
				sets[h][uri] = struct{}{}
			}
		}
	}
	for h := range r.offers {
		uris := slices.Sorted(maps.Keys(sets[h]))
		if r.onWatch != nil && !slices.Equal(uris, r.watched[h]) {
			r.watched[h] = uris
			r.onWatch(h, uris)
		}
	}
}
