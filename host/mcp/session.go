package mcp

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/primitive"
)

// ErrSessionClosed ends requests to a client whose session has ended.
var ErrSessionClosed = errors.New("the session has ended")

// A Session is what a legacy client and the host agreed on in initialize, and
// the requests that the host has sent to that client. Its methods may be
// called concurrently.
type Session struct {
	// Name tells sessions apart in logs and for plugins; it is not the id.
	Name string
	// Revision is the negotiated one.
	Revision Revision
	// Principal opened the session; it belongs to nobody else.
	Principal primitive.Principal
	// ClientInfo and Capabilities are the client's, JSON objects, copied.
	ClientInfo, Capabilities []byte
	// Send sends a message that belongs to no request of the client.
	Send func(msg []byte) error

	ctx    context.Context //nolint:containedctx // it is the life of the session, which outlives every request
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu          sync.Mutex // guards what follows
	closed      bool
	initialized bool
	logLevel    string
	resources   map[string]struct{}
	changes     Subscription
	nextID      int64
	pending     map[string]chan *jsonrpc.Message
}

// NewSession returns a session that lives until ctx is done or it is closed.
func NewSession(ctx context.Context, r Revision) *Session {
	s := &Session{Revision: r, resources: make(map[string]struct{}), pending: make(map[string]chan *jsonrpc.Message)}
	s.ctx, s.cancel = context.WithCancel(ctx)
	return s
}

// Context is done when the session has ended.
func (s *Session) Context() context.Context { return s.ctx }

// Go runs f, which ends when its context is done, until the session is closed.
// It reports false if that has happened already.
func (s *Session) Go(f func(ctx context.Context)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.wg.Go(func() { f(s.ctx) })
	return true
}

// Close ends the session and returns when nothing of it runs any more. It may
// be called twice.
func (s *Session) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.wg.Wait()
}

// Initialize notes that the client has sent notifications/initialized; it
// reports whether that was the first time.
func (s *Session) Initialize() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := !s.initialized
	s.initialized = true
	return first
}

// LogLevel returns the level that logging/setLevel set, empty before.
func (s *Session) LogLevel() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logLevel
}

// SetLogLevel sets the level.
func (s *Session) SetLogLevel(level string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logLevel = level
}

// SetChanges hands s the subscription that Watch and Unwatch keep up to date.
func (s *Session) SetChanges(c Subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes = c
	c.Update(s.interestLocked())
}

// Watch adds uri to the resources whose updates the client gets. It reports
// false if there are limit of them already.
func (s *Session) Watch(uri string, limit int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.resources[uri]; !ok && len(s.resources) >= limit {
		return false
	}
	s.resources[uri] = struct{}{}
	s.updateLocked()
	return true
}

// Unwatch removes uri.
func (s *Session) Unwatch(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.resources, uri)
	s.updateLocked()
}

func (s *Session) updateLocked() {
	if s.changes != nil {
		s.changes.Update(s.interestLocked())
	}
}

func (s *Session) interestLocked() Interest {
	want := Interest{Tools: true, Prompts: true, Resources: true}
	for uri := range s.resources {
		want.URIs = append(want.URIs, uri)
	}
	return want
}

// Request sends a request to the client on out, the way back of the client's
// request that it belongs to, and returns the result. A JSON-RPC error of the
// client is a [*jsonrpc.Error]. When ctx ends first, the client is told.
func (s *Session) Request(ctx context.Context, out Responder, method string, params []byte) ([]byte, error) {
	id, answer := s.expect()
	defer s.forget(id)
	if err := out.Notify(jsonrpc.AppendRequest(nil, []byte(id), method, params)); err != nil {
		return nil, err
	}
	select {
	case m := <-answer:
		if e := m.Error(); e != nil {
			return nil, e
		}
		return m.Result, nil
	case <-s.ctx.Done():
		return nil, ErrSessionClosed
	case <-ctx.Done():
		// basic/utilities/cancellation (2025-11-25): the sender of a request that it gives up SHOULD say so.
		if err := out.Notify(jsonrpc.AppendNotification(nil, "notifications/cancelled", []byte(`{"requestId":`+id+`}`))); err != nil {
			return nil, errors.Join(ctx.Err(), err)
		}
		return nil, ctx.Err()
	}
}

func (s *Session) expect() (string, <-chan *jsonrpc.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nextID++
	id := strconv.FormatInt(s.nextID, 10)
	answer := make(chan *jsonrpc.Message, 1)
	s.pending[id] = answer
	return id, answer
}

func (s *Session) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pending, id)
}

// Deliver hands a response of the client to the request that awaits it. One
// that nothing awaits is dropped: it may be late. m must not be reused.
func (s *Session) Deliver(m *jsonrpc.Message) {
	s.mu.Lock()
	answer := s.pending[string(m.ID)]
	delete(s.pending, string(m.ID))
	s.mu.Unlock()
	if answer != nil {
		answer <- m
	}
}
