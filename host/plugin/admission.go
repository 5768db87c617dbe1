package plugin

import (
	"context"
	"errors"

	"github.com/mcphost/mcphost/host/primitive"
)

// enter returns the process to use, with a slot of it taken, and starts one if
// there is none. leave must follow if err is nil.
func (p *Plugin) enter(ctx context.Context) (*instance, error) {
	p.sup.enter()
	if u := p.sup.serving(); u != nil && !p.sup.closing.Load() {
		select {
		case (*u).slots <- struct{}{}:
			return *u, nil
		default:
		}
	}
	i, err := p.queue(ctx)
	if err != nil {
		p.sup.leave()
	}
	return i, err
}

func (p *Plugin) leave(i *instance) {
	<-i.slots
	p.sup.leave()
}

// maxMoves is how many processes a use may see end while it waits for its turn.
const maxMoves = 3

// queue waits for a process and a slot of it. The queue is bounded: when it is
// full, a use is refused.
func (p *Plugin) queue(ctx context.Context) (*instance, error) {
	if p.queued.Add(1) > int64(p.o.MaxQueued) {
		p.queued.Add(-1)
		return nil, primitive.Wrap(primitive.Busy, errors.New("the plugin's queue is full"))
	}
	defer p.queued.Add(-1)
	var last *instance
	for range maxMoves {
		i, err := p.sup.get(ctx)
		if err != nil {
			return nil, p.unavailable(ctx, err)
		}
		select {
		case i.slots <- struct{}{}:
			return i, nil
		case <-i.proc.dead:
			last = i
		case <-ctx.Done():
			return nil, p.unavailable(ctx, ctx.Err())
		}
	}
	return nil, &primitive.Error{Failure: primitive.Crashed, Incident: last.incident, Err: errors.New("the plugin ended again and again")}
}
