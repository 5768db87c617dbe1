package streamhttp

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
)

var (
	errGone       = errors.New("the client is gone")
	errJSONOnly   = errors.New("the client does not accept event streams")
	errNotifyLate = errors.New("the response has been sent already")
)

// A responder is the way back of one POST. It writes to the connection that
// brought the message, as JSON, or as an event stream from the first
// notification on; or to the stream of a legacy call, once there is one.
type responder struct {
	h      *Handler
	events bool // the client takes event streams

	// stream, of a legacy call, is set before the work runs.
	stream *stream

	mu    sync.Mutex // guards what follows; a write holds up only this response
	state responseState
	out   eventWriter
	timer *time.Timer
}

type responseState uint8

const (
	pending   responseState = iota // nothing is sent
	streaming                      // the response is an event stream
	finished                       // all is sent; nothing may be written any more
)

var _ mcp.Responder = (*responder)(nil)

// Notify implements [mcp.Responder].
func (o *responder) Notify(msg []byte) error {
	if o.stream != nil {
		return o.stream.notify(msg)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.state == finished:
		return errNotifyLate
	case !o.events:
		return dropped(msg)
	}
	o.openLocked()
	o.out.message(nil, msg)
	return o.flushLocked()
}

// dropped says what it means that msg cannot be sent because the client takes
// JSON alone: notifications may be lost, a request would wait for ever.
func dropped(msg []byte) error {
	if jsonrpc.Lookup(msg, "id") != nil {
		return errJSONOnly
	}
	return nil
}

// Reply implements [mcp.Responder].
func (o *responder) Reply(msg []byte, status int) {
	if o.stream != nil {
		o.stream.reply(msg, status)
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch o.state {
	case finished:
		return
	case pending:
		o.h.reply(o.out.w, msg, status)
	case streaming:
		if msg != nil {
			o.out.message(nil, msg)
			_ = o.flushLocked() // the stream ends either way
		}
	}
	o.state = finished
}

// finish ends a response that nobody gave, and forbids what comes late.
func (o *responder) finish(ctx context.Context) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.timer != nil {
		o.timer.Stop()
	}
	switch {
	case o.state == streaming:
		o.out.close()
	case o.state == pending && o.h.ctx.Err() != nil:
		o.h.refuseBusy(o.out.w, "the server is shutting down")
	case o.state == pending && ctx.Err() == nil:
		o.h.endUnanswered(o.out.w, o.events)
	}
	o.state = finished
}

// endUnanswered ends the response to a request that was cancelled: with an
// empty event stream, which is one of the two forms that a response has, or
// with nothing where the client does not take that.
func (h *Handler) endUnanswered(w http.ResponseWriter, events bool) {
	if !events {
		h.reply(w, nil, http.StatusAccepted)
		return
	}
	e := eventWriter{w: w, timeout: h.opts.WriteTimeout}
	e.open()
}

// keepAlive keeps the stream of a slow response alive. A response that is not
// one yet becomes one, so that nothing on the way takes the connection for dead.
func (o *responder) keepAlive() {
	if !o.events {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.out.last = time.Now()
	o.timer = time.AfterFunc(o.h.endpoint.Limits.SubscriptionKeepalive, o.tick)
}

func (o *responder) tick() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.state == finished {
		return
	}
	interval := o.h.endpoint.Limits.SubscriptionKeepalive
	if quiet := time.Since(o.out.last); quiet < interval {
		o.timer.Reset(interval - quiet)
		return
	}
	o.openLocked()
	o.out.comment()
	if o.flushLocked() == nil {
		o.timer.Reset(interval)
	}
}

func (o *responder) openLocked() {
	if o.state == pending {
		o.state = streaming
		o.out.open()
	}
}

func (o *responder) flushLocked() error {
	if err := o.out.flush(); err != nil {
		o.state = finished
		return errGone
	}
	return nil
}
