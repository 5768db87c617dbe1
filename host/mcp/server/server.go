// Package server is the front of the MCP server. It takes what a transport
// brings, decides which lineage each message belongs to, keeps the requests in
// flight so that they can be cancelled, bounds how many there are, and hands
// them to the lineages.
//
// It knows neither transports nor what a lineage says.
package server

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
)

// A Server serves one transport of one endpoint, or several endpoints that
// share its bounds. Use [New].
type Server struct {
	legacy, modern mcp.Handler
	limits         mcp.Limits
	log            hclog.Logger
	slots          *slots

	mu       sync.Mutex // guards inFlight
	inFlight map[callID]*call
}

var _ mcp.Front = (*Server)(nil)

// A callID is unique among the requests in flight: ids are unique per sender only.
type callID struct {
	conn *mcp.Conn
	id   string // the bytes that the client wrote
}

// New returns a Server that hands messages to the two lineages.
func New(legacy, modern mcp.Handler, limits mcp.Limits, log hclog.Logger) *Server {
	return &Server{
		legacy: legacy, modern: modern, limits: limits, log: log,
		slots:    newSlots(limits),
		inFlight: make(map[callID]*call),
	}
}

// Accept implements [mcp.Front].
func (s *Server) Accept(x *mcp.Exchange, body []byte) *mcp.Work {
	if jsonrpc.IsArray(body) {
		return s.acceptBatch(x, body)
	}
	m, fault := jsonrpc.Parse(body)
	if fault != nil {
		if x.Headers == nil && (m.Result != nil || m.Err != nil) {
			return nil // a response is never answered: both sides could go on for ever
		}
		x.Out.Reply(jsonrpc.AppendError(nil, m.ID, fault), 400)
		return nil
	}
	if limit := s.limits.MaxMetadataSize + maxLongParams; m.IsRequest() && int64(len(body)) > limit && mcp.IsLong(m.Method) {
		// It stays in memory as long as the request is open, and many may be.
		x.Out.Reply(jsonrpc.AppendError(nil, m.ID, jsonrpc.Errorf(jsonrpc.InvalidRequest, "the message is larger than %d bytes, the limit for %s", limit, m.Method)), 413)
		return nil
	}
	return s.acceptMessage(x, &m)
}

// maxLongParams bounds, with the limit of _meta, a request that stays open.
const maxLongParams = 64 << 10

// acceptMessage classifies one message and settles it or says what is to be done.
func (s *Server) acceptMessage(x *mcp.Exchange, m *jsonrpc.Message) *mcp.Work {
	x.Message = m
	x.Params = mcp.ReadParams(m.Params)
	x.Meta = mcp.ReadMeta(x.Params.Meta)
	v := classify(x)
	switch {
	case v.fault != nil:
		refuse(x, v)
		return nil
	case m.IsResponse():
		s.response(x)
		return nil
	case m.IsNotification():
		s.notification(x, v)
		return nil
	}
	return s.request(x, v)
}

// busy is what a request gets for which there is no slot, or none in time.
func busy(l mcp.Lineage) verdict {
	e := jsonrpc.Errorf(mcp.BusyCode, "too many requests at once; try again later")
	return verdict{fault: e, status: mcp.Status(l, e.Code)}
}

// refuse answers x with the fault of v. What is no request gets no answer on a
// pipe, and an error without an id on HTTP: the id of a response is one of
// ours, which the client would take for that of a request of its own.
func refuse(x *mcp.Exchange, v verdict) {
	switch {
	case x.Message.IsRequest():
		x.Out.Reply(jsonrpc.AppendError(nil, x.Message.ID, v.fault), v.status)
	case x.Headers != nil:
		x.Out.Reply(jsonrpc.AppendError(nil, nil, v.fault), v.status)
	}
}

// response delivers the client's answer to a request of ours.
func (s *Server) response(x *mcp.Exchange) {
	if session := x.Conn.Session(); session != nil {
		m := *x.Message
		m.ID, m.Result, m.Err = clone(m.ID), clone(m.Result), clone(m.Err)
		session.Deliver(&m)
	}
	x.Out.Reply(nil, 202)
}

func clone(b []byte) []byte {
	if b == nil {
		return nil
	}
	return append([]byte{}, b...)
}

// notification handles cancellation, and leaves what else a legacy client says to its lineage.
func (s *Server) notification(x *mcp.Exchange, v verdict) {
	switch {
	case x.Message.Method == "notifications/cancelled":
		// On modern HTTP a client cancels by going away; there is no connection
		// whose requests a notification could name.
		if x.Headers == nil || v.lineage == mcp.Legacy {
			s.cancel(callID{x.Conn, string(x.Params.RequestID)})
		}
	case v.lineage == mcp.Legacy:
		s.prepare(x, v)
		s.protect(x, func() { s.legacy.Handle(context.Background(), x) }) //nolint:forbidigo // it only touches the session
	}
	x.Out.Reply(nil, 202)
}

// request tracks a request and returns the work of serving it; methods that
// only touch the session are served at once, so that what follows sees their effect.
func (s *Server) request(x *mcp.Exchange, v verdict) *mcp.Work {
	method, known := mcp.LookupMethod(x.Message.Method, v.revision)
	if known {
		x.Method = method
	}
	c, fault := s.track(x, v.lineage)
	if fault != nil {
		refuse(x, verdict{fault: fault, status: 400})
		return nil
	}
	s.prepare(x, v)
	handler := s.modern
	if v.lineage == mcp.Legacy {
		handler = s.legacy
	}
	if method.Inline && known || !known {
		defer s.forget(c)
		s.protect(x, func() { handler.Handle(context.Background(), x) }) //nolint:forbidigo // it only touches the session, or refuses
		return nil
	}
	release, ok := s.slots.reserve(method.Long)
	if !ok {
		s.forget(c)
		refuse(x, busy(v.lineage))
		return nil
	}
	return &mcp.Work{Lineage: v.lineage, Run: func(ctx context.Context) {
		defer s.forget(c)
		defer release.done()
		s.run(ctx, c, x, handler, release)
	}}
}

// run waits for a slot and serves x, until the transport, the client or the
// clock ends it.
func (s *Server) run(ctx context.Context, c *call, x *mcp.Exchange, handler mcp.Handler, slot *reservation) {
	var cancel context.CancelFunc
	if x.Method.Long {
		ctx, cancel = context.WithCancel(ctx)
	} else {
		ctx, cancel = context.WithTimeout(ctx, s.limits.RequestTimeout)
	}
	defer cancel()
	s.cancellable(c, cancel)
	if err := slot.wait(ctx); err != nil {
		// Who cancelled, or went away, awaits no answer; who was kept waiting does.
		if errors.Is(err, context.DeadlineExceeded) {
			refuse(x, busy(c.lineage))
		}
		return
	}
	x.WaitForPerson = slot.yield
	s.protect(x, func() { handler.Handle(ctx, x) })
}

// protect keeps a panic of f from ending the host: the request gets an internal error.
func (s *Server) protect(x *mcp.Exchange, f func()) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		s.log.Error("handler panicked", "method", x.Message.Method, "error", fmt.Sprint(p), "stack", string(debug.Stack()))
		if x.Message.IsRequest() {
			x.Out.Reply(jsonrpc.AppendError(nil, x.Message.ID, jsonrpc.Errorf(jsonrpc.InternalError, "internal error")), 500)
		}
	}()
	f()
}

// prepare tells the lineage who calls.
func (s *Server) prepare(x *mcp.Exchange, v verdict) {
	x.Caller = newCaller(x, v)
}
