package plugin

import (
	"context"
	"fmt"
	"time"
)

// A Status is how a plugin is, for people.
type Status struct {
	State  State
	Since  time.Time // when the state began; zero before Start
	Reason error     // see [Plugin.State]
	PID    int       // of the process that serves; 0 if none does
	Starts int       // processes that came to serve so far
}

// Status returns how the plugin is.
func (p *Plugin) Status() Status {
	s := Status{Starts: int(p.starts.Load())}
	p.sup.mu.Lock()
	s.State, s.Since, s.Reason = p.sup.state, p.sup.since, p.sup.why
	p.sup.mu.Unlock()
	if u := p.sup.serving(); u != nil {
		s.PID = (*u).proc.pid
	}
	return s
}

// Wake starts the process, if there is none, and returns when it serves, or
// with why it does not. Start must have been called.
func (p *Plugin) Wake(ctx context.Context) error {
	if _, err := p.sup.get(ctx); err != nil {
		return fmt.Errorf("starting plugin %q: %w", p.o.Handle, err)
	}
	return nil
}
