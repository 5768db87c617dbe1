package server

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
)

// A call is one request in flight. It is the way back of its exchange as well:
// once the client has cancelled the request or it has been answered, nothing
// more is sent for it.
type call struct {
	s       *Server
	key     callID
	lineage mcp.Lineage
	out     mcp.Responder
	method  string
	closed  atomic.Bool // cancelled by the client, or answered

	// Of the work; guarded by the server's mutex. The client may have
	// cancelled before the work began.
	stop      context.CancelFunc
	cancelled bool
}

var _ mcp.Responder = (*call)(nil)

// Notify implements [mcp.Responder].
func (c *call) Notify(msg []byte) error {
	if c.closed.Load() {
		return context.Canceled
	}
	return c.out.Notify(msg)
}

// Reply implements [mcp.Responder]. The id is free before the client can see
// the answer: it may use it again at once.
func (c *call) Reply(msg []byte, status int) {
	if !c.closed.Swap(true) {
		c.s.forget(c)
		c.out.Reply(msg, status)
	}
}

// track makes the request in x one in flight. An id that is in flight already
// is refused: basic/index, "Requests", wants ids that do not repeat.
func (s *Server) track(x *mcp.Exchange, l mcp.Lineage) (*call, *jsonrpc.Error) {
	c := &call{s: s, lineage: l, key: callID{x.Conn, string(x.Message.ID)}, out: x.Out, method: x.Message.Method}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, dup := s.inFlight[c.key]; dup {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidRequest, "a request with this id is in flight")
	}
	s.inFlight[c.key] = c
	x.Out = c
	return c, nil
}

// cancellable makes stop what the client's cancellation calls.
func (s *Server) cancellable(c *call, stop context.CancelFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.stop = stop; c.cancelled {
		stop()
	}
}

// forget takes c out of those in flight.
func (s *Server) forget(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetLocked(c)
}

func (s *Server) forgetLocked(c *call) {
	if s.inFlight[c.key] == c { // the id may be that of a new request by now
		delete(s.inFlight, c.key)
	}
}

// cancel ends the request named key, if there is one. initialize cannot be
// cancelled (basic/utilities/cancellation).
func (s *Server) cancel(key callID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.inFlight[key]
	if c == nil || c.method == mcp.MethodInitialize.Name {
		return
	}
	// Close before cancelling: nothing may be sent for it any more.
	c.closed.Store(true)
	s.forgetLocked(c)
	if c.cancelled = true; c.stop != nil {
		c.stop()
	}
}

// slots bound the requests in work and those that wait to be.
type slots struct {
	free chan struct{}
	long atomic.Int64 // open requests of the long kind

	asking atomic.Int64 // requests that wait for a person

	mu       sync.Mutex // guards reserved
	reserved int

	maxReserved int
	maxLong     int64
}

func newSlots(l mcp.Limits) *slots {
	s := &slots{
		free:        make(chan struct{}, l.MaxConcurrentRequests),
		maxReserved: l.MaxConcurrentRequests + l.MaxQueuedRequests,
		maxLong:     int64(l.MaxSubscriptions),
	}
	return s
}

// A reservation is the place of one request among those in work or waiting.
type reservation struct {
	s    *slots
	long bool
	held bool // a slot; of the goroutine that runs the request
}

// reserve takes a place; it reports false if all are taken.
func (s *slots) reserve(long bool) (*reservation, bool) {
	if long {
		if s.long.Add(1) > s.maxLong {
			s.long.Add(-1)
			return nil, false
		}
		return &reservation{s: s, long: true}, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reserved >= s.maxReserved {
		return nil, false
	}
	s.reserved++
	return &reservation{s: s}, true
}

// wait returns when the request has a slot, or ctx is done.
func (r *reservation) wait(ctx context.Context) error {
	if r.long {
		return ctx.Err()
	}
	select {
	case r.s.free <- struct{}{}:
		r.held = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// maxAsking bounds how many requests wait for a person without a slot.
const maxAsking = 1024

// yield gives slot and place away while a person is asked; resume takes them
// again. People are slow: those who wait for them must not fill the queue of
// the others. When there are too many, the slot is kept, which bounds them.
func (r *reservation) yield() (resume func()) {
	if !r.held {
		return func() {}
	}
	if r.s.asking.Add(1) > maxAsking {
		r.s.asking.Add(-1)
		return func() {}
	}
	r.held = false
	<-r.s.free
	r.s.place(-1)
	return func() {
		r.s.asking.Add(-1)
		r.s.place(1)
		r.s.free <- struct{}{}
		r.held = true
	}
}

// place takes n places, of those who have been let in before.
func (s *slots) place(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reserved += n
}

// done gives the place back.
func (r *reservation) done() {
	if r.long {
		r.s.long.Add(-1)
		return
	}
	if r.held {
		r.held = false
		<-r.s.free
	}
	r.s.place(-1)
}
