// Package events is the change bus: whoever changes a catalog or a resource
// publishes, whoever serves a client subscribes.
//
// Nothing queues. A subscription holds what changed since it was last taken,
// at most once each, so a slow reader delays nobody and its memory is bounded
// by what it is interested in.
package events

import (
	"maps"
	"slices"
	"sync"
)

// A Change is what changed: any of the lists, and the contents of resources.
type Change struct {
	Tools, Prompts, Resources bool
	URIs                      []string
}

// None reports whether nothing changed.
func (c Change) None() bool { return !c.Tools && !c.Prompts && !c.Resources && len(c.URIs) == 0 }

// A Bus carries changes of one endpoint to its subscriptions. The zero Bus is
// ready; its methods may be called concurrently.
type Bus struct {
	// OnWatch, if set before the first subscription, is called with the whole
	// set of watched URIs, sorted, whenever it changes. Calls do not overlap.
	OnWatch func(uris []string)

	watching sync.Mutex // orders changes of interests, and with them calls of OnWatch

	mu      sync.Mutex // guards subs and watched
	subs    map[*Subscription]struct{}
	watched map[string]int // URI -> how many subscriptions
}

// Publish hands c to every subscription that is interested. It does not block.
func (b *Bus) Publish(c Change) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.subs {
		s.add(c)
	}
}

// Subscribe returns a subscription to what is of interest.
func (b *Bus) Subscribe(want Change) *Subscription {
	s := &Subscription{bus: b, ready: make(chan struct{}, 1)}
	b.mu.Lock()
	if b.subs == nil {
		b.subs, b.watched = make(map[*Subscription]struct{}), make(map[string]int)
	}
	b.subs[s] = struct{}{}
	b.mu.Unlock()
	s.Update(want)
	return s
}

// Watched returns the URIs that somebody watches, sorted.
func (b *Bus) Watched() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Keys(b.watched))
}

// countWatching moves a subscription from the URIs of one interest to those of
// the next and tells OnWatch if the set of all changed. It needs b.watching held.
func (b *Bus) countWatching(from, to []string) {
	b.mu.Lock()
	changed := false
	for _, uri := range to {
		b.watched[uri]++
		changed = changed || b.watched[uri] == 1
	}
	for _, uri := range from {
		if b.watched[uri]--; b.watched[uri] == 0 {
			delete(b.watched, uri)
			changed = true
		}
	}
	b.mu.Unlock()
	if changed && b.OnWatch != nil {
		b.OnWatch(b.Watched())
	}
}

// A Subscription collects changes until they are taken.
type Subscription struct {
	bus   *Bus
	ready chan struct{}

	mu     sync.Mutex // guards what follows
	closed bool
	want   Change
	uris   map[string]struct{} // of want
	lists  Change              // lists that changed and were not taken
	dirty  map[string]struct{} // resources that changed and were not taken
}

// Ready is signalled when Take has something to give.
func (s *Subscription) Ready() <-chan struct{} { return s.ready }

// add notes what of c is of interest.
func (s *Subscription) add(c Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.lists.Tools = s.lists.Tools || c.Tools && s.want.Tools
	s.lists.Prompts = s.lists.Prompts || c.Prompts && s.want.Prompts
	s.lists.Resources = s.lists.Resources || c.Resources && s.want.Resources
	for _, uri := range c.URIs {
		if _, ok := s.uris[uri]; ok {
			s.dirty[uri] = struct{}{}
		}
	}
	s.signalLocked()
}

func (s *Subscription) signalLocked() {
	if s.lists.None() && len(s.dirty) == 0 {
		return
	}
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// Take returns what changed since the last Take.
func (s *Subscription) Take() Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.lists
	c.URIs = slices.Sorted(maps.Keys(s.dirty))
	s.lists = Change{}
	clear(s.dirty)
	return c
}

// Update changes what is of interest. What waits and still is, stays.
func (s *Subscription) Update(want Change) {
	s.bus.watching.Lock()
	defer s.bus.watching.Unlock()
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	before := slices.Collect(maps.Keys(s.uris))
	s.want = want
	s.uris = make(map[string]struct{}, len(want.URIs))
	for _, uri := range want.URIs {
		s.uris[uri] = struct{}{}
	}
	if s.dirty == nil {
		s.dirty = make(map[string]struct{})
	}
	maps.DeleteFunc(s.dirty, func(uri string, _ struct{}) bool { _, ok := s.uris[uri]; return !ok })
	after := slices.Collect(maps.Keys(s.uris))
	s.mu.Unlock()
	s.bus.countWatching(before, after)
}

// Close ends the subscription. It may be called twice.
func (s *Subscription) Close() {
	s.bus.watching.Lock()
	defer s.bus.watching.Unlock()
	s.bus.mu.Lock()
	delete(s.bus.subs, s)
	s.bus.mu.Unlock()
	s.mu.Lock()
	before := slices.Collect(maps.Keys(s.uris))
	s.closed, s.uris = true, nil
	s.mu.Unlock()
	s.bus.countWatching(before, nil)
}
