package plugin

import (
	"sync"
	"time"
)

// A logLimit bounds how many lines of a plugin reach the log. Lines over the
// limit are counted, not kept.
type logLimit struct {
	rate  float64 // lines a second
	burst float64

	mu      sync.Mutex // guards what follows
	tokens  float64
	last    time.Time
	dropped int
}

func newLogLimit(rate, burst float64) *logLimit {
	return &logLimit{rate: rate, burst: burst, tokens: burst}
}

// allow reports whether a line may be logged at now, and how many lines were
// dropped since the last one that was.
func (l *logLimit) allow(now time.Time) (ok bool, dropped int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.last.IsZero() {
		l.tokens = min(l.burst, l.tokens+now.Sub(l.last).Seconds()*l.rate)
	}
	l.last = now
	if l.tokens < 1 {
		l.dropped++
		return false, 0
	}
	l.tokens--
	dropped, l.dropped = l.dropped, 0
	return true, dropped
}
