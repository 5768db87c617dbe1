package seal

import (
	"crypto/sha256"
	"sync"
	"time"
)

// A Once remembers which tokens have been used, for those that are good for one
// use (MCP patterns/mrtr: single use is enforced by the server). It holds a
// bounded number, each until its expiry, and may be used concurrently.
//
// Each process remembers its own. Hosts that share keys must send the rounds of
// one exchange to one of them, or have a token accepted once by each.
type Once struct {
	limit int

	mu   sync.Mutex // guards used
	used map[[sha256.Size]byte]time.Time
}

// NewOnce returns a memory of at most limit tokens, at least one.
func NewOnce(limit int) *Once {
	return &Once{limit: max(limit, 1), used: make(map[[sha256.Size]byte]time.Time)}
}

// Use reports whether token, which Open has accepted, is used for the first
// time; expires is when it can no longer be opened. When the memory is full of
// tokens that still live, it refuses: it never forgets one to make room.
func (o *Once) Use(token string, expires, now time.Time) bool {
	key := sha256.Sum256([]byte(token))
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, used := o.used[key]; used || !now.Before(expires) {
		return false
	}
	if len(o.used) >= o.limit {
		o.forgetLocked(now)
	}
	if len(o.used) >= o.limit {
		return false
	}
	o.used[key] = expires
	return true
}

// forgetLocked drops what has expired.
func (o *Once) forgetLocked(now time.Time) {
	for key, expires := range o.used {
		if !now.Before(expires) {
			delete(o.used, key)
		}
	}
}
