package plugin

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/mcphost/mcphost/host/primitive"
	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// A Catalog is all that a plugin offers at one moment. It never changes; its
// lists are sorted by name and must not be modified.
type Catalog struct {
	Tools, Resources, Templates, Prompts []*primitive.Primitive

	Revision     uint64
	Capabilities Capabilities
	Instructions string
	Lists        *primitive.CacheHint // nil: the plugin did not say
	// Problems are the first of the primitives that were left out.
	Problems []Problem

	digest [sha256.Size]byte
}

// A Problem says why a primitive was left out of a catalog.
type Problem struct {
	Kind   primitive.Kind
	Name   string // safe to print
	Reason string
}

// List returns the primitives of kind k.
func (c *Catalog) List(k primitive.Kind) []*primitive.Primitive {
	switch k {
	case primitive.KindTool:
		return c.Tools
	case primitive.KindResource:
		return c.Resources
	case primitive.KindTemplate:
		return c.Templates
	case primitive.KindPrompt:
		return c.Prompts
	}
	return nil
}

// Limits of a catalog.
const (
	maxPrimitives   = 100_000
	maxDefinition   = 1 << 20
	maxCatalog      = 64 << 20 // bytes of definitions together
	maxInstructions = 64 << 10
	maxProblems     = 100
)

// An assembly builds a catalog from its parts.
type assembly struct {
	source primitive.Source
	caps   Capabilities
	c      *Catalog
	names  map[name]struct{}
	bytes  int
	left   int // out, in all

	keep  bool                    // the parts, for encodeCatalog
	parts []*pluginv1.CatalogPart // of c so far, or of the last one
}

type name struct {
	kind primitive.Kind
	key  string
}

// add adds one part and returns the catalog if it was the last.
func (a *assembly) add(part *pluginv1.CatalogPart) *Catalog {
	if a.c == nil {
		a.c = &Catalog{Capabilities: a.caps}
		a.names, a.bytes, a.left, a.parts = make(map[name]struct{}), 0, 0, nil
	}
	if a.keep {
		a.parts = append(a.parts, part)
	}
	c := a.c
	c.Revision = part.GetRevision()
	for _, t := range part.GetTools() {
		a.put(&c.Tools, t.GetName(), primitive.KindTool, func() (*primitive.Primitive, error) { return tool(t) })
	}
	for _, r := range part.GetResources() {
		a.put(&c.Resources, r.GetUri(), primitive.KindResource, func() (*primitive.Primitive, error) { return resource(r) })
	}
	for _, t := range part.GetResourceTemplates() {
		a.put(&c.Templates, t.GetUriTemplate(), primitive.KindTemplate, func() (*primitive.Primitive, error) { return template(t) })
	}
	for _, p := range part.GetPrompts() {
		a.put(&c.Prompts, p.GetName(), primitive.KindPrompt, func() (*primitive.Primitive, error) { return prompt(p) })
	}
	if s := part.GetInstructions(); s != "" {
		c.Instructions = clean(s, maxInstructions, true)
	}
	if h := part.GetCache(); h != nil {
		c.Lists = cacheHint(h)
	}
	if !part.GetLast() {
		return nil
	}
	a.c = nil
	c.finish()
	return c
}

// put makes one primitive and adds it to list, or notes why not.
func (a *assembly) put(list *[]*primitive.Primitive, label string, k primitive.Kind, build func() (*primitive.Primitive, error)) {
	if len(a.names) >= maxPrimitives {
		a.leaveOut(k, label, fmt.Errorf("a catalog has at most %d primitives", maxPrimitives))
		return
	}
	p, err := build()
	if err != nil {
		a.leaveOut(k, label, err)
		return
	}
	size := len(p.Definition)
	id := name{k, p.Own}
	_, twice := a.names[id]
	switch {
	case size > maxDefinition:
		err = fmt.Errorf("its definition has %d bytes; at most %d are possible", size, maxDefinition)
	case a.bytes+size > maxCatalog:
		err = fmt.Errorf("the definitions of a catalog have at most %d bytes together", maxCatalog)
	case twice:
		err = fmt.Errorf("the catalog names it twice")
	}
	if err != nil {
		a.leaveOut(k, p.Own, err)
		return
	}
	a.names[id] = struct{}{}
	a.bytes += size
	p.Source = a.source
	*list = append(*list, p)
}

func (a *assembly) leaveOut(k primitive.Kind, label string, err error) {
	if a.left++; len(a.c.Problems) < maxProblems {
		a.c.Problems = append(a.c.Problems, Problem{Kind: k, Name: clean(label, maxShort, false), Reason: err.Error()})
	}
}

// finish sorts the lists and computes the digest.
func (c *Catalog) finish() {
	h := sha256.New()
	for _, k := range primitive.Kinds {
		list := c.List(k)
		slices.SortFunc(list, func(a, b *primitive.Primitive) int { return strings.Compare(a.Key, b.Key) })
		for _, p := range list {
			fmt.Fprintf(h, "%d %d %d %q\n", k, p.Timeout, len(p.Definition), p.Own)
			h.Write(p.Definition)
		}
	}
	fmt.Fprintf(h, "%q %+v", c.Instructions, c.Capabilities)
	if c.Lists != nil {
		fmt.Fprintf(h, " %+v", *c.Lists)
	}
	h.Sum(c.digest[:0])
}

func cacheHint(h *pluginv1.CacheHint) *primitive.CacheHint {
	hint := &primitive.CacheHint{Public: h.GetScope() == pluginv1.CacheHint_SCOPE_PUBLIC}
	if ttl := h.GetTtl(); ttl.IsValid() && ttl.AsDuration() > 0 {
		hint.TTL = ttl.AsDuration()
	}
	return hint
}
