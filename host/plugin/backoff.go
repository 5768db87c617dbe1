package plugin

import (
	"math/rand/v2"
	"time"
)

const (
	backoffBase = 500 * time.Millisecond
	backoffMax  = time.Minute
	// steadyTime is how long a process must serve for its past to be forgotten.
	steadyTime = 5 * time.Minute
	// More than loopExits ends within loopWindow are a crash loop.
	loopExits  = 5
	loopWindow = 2 * time.Minute
)

// A record is what a supervisor remembers of the processes that ended.
type record struct {
	attempt int         // ends since the plugin was steady
	ends    []time.Time // the last ones, oldest first
}

// ended notes that a process ended at now, after it had served since ready
// (zero if it never did), and reports whether that makes a crash loop.
func (r *record) ended(now, ready time.Time) (loop bool) {
	if !ready.IsZero() && now.Sub(ready) >= steadyTime {
		r.attempt = 0
	}
	r.attempt++
	r.ends = append(r.ends, now)
	for len(r.ends) > 0 && now.Sub(r.ends[0]) > loopWindow {
		r.ends = r.ends[1:]
	}
	return len(r.ends) > loopExits
}

// delay returns how long to wait before the next start: up to twice as long
// after each end, anywhere below that so that plugins do not start in step.
func (r *record) delay() time.Duration {
	return rand.N(ceiling(r.attempt)) + time.Millisecond //nolint:gosec // a jitter is no secret
}

// ceiling is the longest delay after the nth end, n from 1.
func ceiling(n int) time.Duration {
	if n > 8 { // beyond, the shift passes the maximum anyway
		return backoffMax
	}
	return min(backoffMax, backoffBase<<max(0, n-1))
}
