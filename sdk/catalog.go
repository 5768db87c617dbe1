package sdk

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/proto"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// partSize bounds a part of the catalog, in bytes: well below the message limit.
const partSize = 1 << 20

// maxUpdates bounds the resource updates that wait for a watcher. More than that are told by a new catalog revision
// alone.
const maxUpdates = 4096

// contents is what a plugin offers at one moment. It is immutable once load has returned it.
type contents struct {
	revision      uint64
	tools         map[string]*tool
	resources     map[string]*resource
	templates     map[string]*template
	templateOrder []string
	prompts       map[string]*prompt
	completions   map[completionKey]CompleteFunc
}

// catalog holds the contents and tells watchers of each change. Adding many primitives one by one is cheap: the contents
// are published when somebody looks.
type catalog struct {
	now atomic.Pointer[contents] // nil while the draft has changes that nobody has looked at

	mu       sync.Mutex // guards what follows
	draft    contents
	watchers map[*watcher]struct{}
}

// watcher is one Watch stream.
type watcher struct {
	changed chan struct{}   // one token: look again
	updates map[string]bool // URIs, coalesced; guarded by catalog.mu
}

func (c *catalog) init() {
	c.watchers = map[*watcher]struct{}{}
	c.draft = contents{
		tools: map[string]*tool{}, resources: map[string]*resource{}, templates: map[string]*template{},
		prompts: map[string]*prompt{}, completions: map[completionKey]CompleteFunc{},
	}
}

// change has edit change the contents, which then have the next revision.
func (c *catalog) change(edit func(*contents)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	edit(&c.draft)
	c.draft.revision++
	c.now.Store(nil)
	c.wakeLocked()
}

// load returns the contents with every change in them. It waits for nobody but where there was a change.
func (c *catalog) load() *contents {
	if now := c.now.Load(); now != nil {
		return now
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now.Load(); now != nil {
		return now
	}
	now := &contents{
		revision: c.draft.revision,
		tools:    maps.Clone(c.draft.tools), resources: maps.Clone(c.draft.resources), templates: maps.Clone(c.draft.templates),
		prompts: maps.Clone(c.draft.prompts), completions: maps.Clone(c.draft.completions),
		templateOrder: slices.Sorted(maps.Keys(c.draft.templates)),
	}
	c.now.Store(now)
	return now
}

// updated tells every watcher that a resource changed.
func (c *catalog) updated(uri string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w := range c.watchers {
		if len(w.updates) < maxUpdates {
			w.updates[uri] = true
		}
	}
	c.wakeLocked()
}

func (c *catalog) wakeLocked() {
	for w := range c.watchers {
		select {
		case w.changed <- struct{}{}:
		default:
		}
	}
}

func (c *catalog) watch() *watcher {
	w := &watcher{changed: make(chan struct{}, 1), updates: map[string]bool{}}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watchers[w] = struct{}{}
	return w
}

func (c *catalog) unwatch(w *watcher) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.watchers, w)
}

// take returns the updates that wait for w, sorted, and forgets them.
func (c *catalog) take(w *watcher) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	uris := slices.Sorted(maps.Keys(w.updates))
	clear(w.updates)
	return uris
}

type offers struct{ resources, prompts, completions bool }

func (c *catalog) offers() offers {
	now := c.load()
	return offers{
		resources:   len(now.resources)+len(now.templates) > 0,
		prompts:     len(now.prompts) > 0,
		completions: len(now.completions) > 0,
	}
}

// parts returns the contents as the parts of one catalog, sorted by name.
func (c *contents) parts(instructions string) []*pluginv1.CatalogPart {
	b := partBuilder{revision: c.revision}
	b.part(len(instructions)).Instructions = instructions
	for _, name := range slices.Sorted(maps.Keys(c.tools)) {
		d := c.tools[name].definition
		part := b.part(proto.Size(d))
		part.Tools = append(part.Tools, d)
	}
	for _, uri := range slices.Sorted(maps.Keys(c.resources)) {
		d := c.resources[uri].definition
		part := b.part(proto.Size(d))
		part.Resources = append(part.Resources, d)
	}
	for _, key := range c.templateOrder {
		d := c.templates[key].definition
		part := b.part(proto.Size(d))
		part.ResourceTemplates = append(part.ResourceTemplates, d)
	}
	for _, name := range slices.Sorted(maps.Keys(c.prompts)) {
		d := c.prompts[name].definition
		part := b.part(proto.Size(d))
		part.Prompts = append(part.Prompts, d)
	}
	b.list[len(b.list)-1].Last = true
	return b.list
}

// partBuilder fills one part after the other.
type partBuilder struct {
	revision uint64
	list     []*pluginv1.CatalogPart
	room     int
}

// part returns the part that takes size more bytes.
func (b *partBuilder) part(size int) *pluginv1.CatalogPart {
	if len(b.list) == 0 || size > b.room {
		b.list = append(b.list, &pluginv1.CatalogPart{Revision: b.revision})
		b.room = partSize
	}
	b.room -= size
	return b.list[len(b.list)-1]
}
