package schema

import (
	"crypto/sha256"
	"sync"
)

// A Cache keeps compiled schemas by the digest of their text. It may be used
// concurrently; when it is full, the schema that came first goes.
type Cache struct {
	max int

	mu      sync.Mutex // guards what follows
	entries map[[sha256.Size]byte]cached
	order   [][sha256.Size]byte // oldest first
}

type cached struct {
	schema *Schema
	err    error
}

// NewCache returns a cache of at most limit schemas, at least one.
func NewCache(limit int) *Cache {
	return &Cache{max: max(limit, 1), entries: make(map[[sha256.Size]byte]cached)}
}

// Compile is [Compile], remembered: failures too.
func (c *Cache) Compile(b []byte) (*Schema, error) {
	if len(b) > maxBytes {
		return Compile(b) // refused without a digest
	}
	key := sha256.Sum256(b)
	c.mu.Lock()
	got, ok := c.entries[key]
	c.mu.Unlock()
	if ok {
		return got.schema, got.err
	}
	// Compiled without the lock: two callers may do it twice, none waits for another's.
	got.schema, got.err = Compile(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.entries[key]; ok {
		return got.schema, got.err
	}
	if len(c.order) == c.max {
		delete(c.entries, c.order[0])
		c.order = append(c.order[:0], c.order[1:]...)
	}
	c.entries[key] = got
	c.order = append(c.order, key)
	return got.schema, got.err
}
