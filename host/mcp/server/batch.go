package server

import (
	"context"
	"sync"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
)

// maxBatch bounds the messages of one array: an answer is many times the size
// of the least element.
const maxBatch = 256

// acceptBatch serves a JSON-RPC batch, which one revision alone has
// (2025-03-26 basic/index, "Batching"): a live session of it, no initialize
// within, and one array of the responses as the answer.
func (s *Server) acceptBatch(x *mcp.Exchange, body []byte) *mcp.Work {
	if err := jsonrpc.Check(body); err != nil {
		x.Out.Reply(jsonrpc.AppendError(nil, nil, jsonrpc.Errorf(jsonrpc.ParseError, "parse error")), 400)
		return nil
	}
	if status, fault := batchFault(x); fault != nil {
		x.Out.Reply(jsonrpc.AppendError(nil, nil, fault), status)
		return nil
	}
	var elements [][]byte
	modern := false
	jsonrpc.Elements(body, func(v []byte) bool {
		elements = append(elements, v)
		modern = modern || jsonrpc.IsObject(v) && mcp.ReadMeta(mcp.ReadParams(jsonrpc.Lookup(v, "params")).Meta).ProtocolVersion != nil
		return len(elements) <= maxBatch
	})
	var fault *jsonrpc.Error
	switch {
	case len(elements) == 0 || modern:
		fault = jsonrpc.Errorf(jsonrpc.InvalidRequest, "invalid request: this array is no batch of a legacy session")
	case len(elements) > maxBatch:
		fault = jsonrpc.Errorf(jsonrpc.InvalidRequest, "invalid request: a batch has at most %d messages", maxBatch)
	}
	if fault != nil {
		x.Out.Reply(jsonrpc.AppendError(nil, nil, fault), 400)
		return nil
	}
	b := &batch{out: x.Out, room: x.Endpoint.Limits.MaxResponseSize}
	for _, e := range elements {
		s.acceptElement(x, b, e)
	}
	if len(b.work) == 0 {
		b.reply()
		return nil
	}
	return &mcp.Work{Lineage: mcp.Legacy, Run: b.run}
}

// batchFault says why x must not be a batch, if so.
func batchFault(x *mcp.Exchange) (int, *jsonrpc.Error) {
	if x.Headers != nil && x.State == mcp.SessionUnknown {
		return 404, jsonrpc.Errorf(jsonrpc.InvalidRequest, "the session does not exist or has ended: send initialize")
	}
	if x.Headers != nil {
		if v := checkVersionHeader(headerClaim(x)); v.fault != nil {
			return v.status, v.fault
		}
	}
	session := x.Conn.Session()
	if session == nil || !session.Revision.Batching() {
		return 400, jsonrpc.Errorf(jsonrpc.InvalidRequest, "invalid request: batches need a session of revision 2025-03-26")
	}
	return 0, nil
}

// acceptElement accepts one message of a batch, whose reply joins the others.
func (s *Server) acceptElement(x *mcp.Exchange, b *batch, body []byte) {
	m, fault := jsonrpc.Parse(body)
	y := &mcp.Exchange{
		Endpoint: x.Endpoint, Conn: x.Conn, Principal: x.Principal,
		Headers: x.Headers, State: x.State, Out: &element{b, m.ID},
	}
	if fault == nil && m.Method == mcp.MethodInitialize.Name {
		fault = jsonrpc.Errorf(jsonrpc.InvalidRequest, "initialize must not be part of a batch")
	}
	if fault != nil && (m.Result != nil || m.Err != nil) {
		return
	}
	if fault != nil {
		y.Out.Reply(jsonrpc.AppendError(nil, m.ID, fault), 400)
		return
	}
	if work := s.acceptMessage(y, &m); work != nil {
		b.work = append(b.work, work)
	}
}

// A batch gathers the responses to the requests of one array.
type batch struct {
	out  mcp.Responder
	work []*mcp.Work

	mu      sync.Mutex // guards what follows, and out
	replies []byte
	room    int64 // bytes of results that the answer may still take
}

// run serves all requests at once and answers when the last is done.
func (b *batch) run(ctx context.Context) {
	var wg sync.WaitGroup
	for _, w := range b.work {
		wg.Go(func() { w.Run(ctx) })
	}
	wg.Wait()
	b.reply()
}

func (b *batch) reply() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.replies == nil {
		// Only notifications and responses, or requests that were cancelled.
		b.out.Reply(nil, 202)
		return
	}
	b.out.Reply(append(b.replies, ']'), 200)
}

// An element is the way back of one message of a batch.
type element struct {
	*batch

	id []byte
}

var _ mcp.Responder = (*element)(nil)

// Notify implements [mcp.Responder].
func (e *element) Notify(msg []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.out.Notify(msg)
}

// Reply implements [mcp.Responder]. The limit of a response is that of the
// array as well: what finds no room in it any more becomes an error.
func (e *element) Reply(msg []byte, _ int) {
	if msg == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.room -= int64(len(msg)); e.room < 0 {
		e.room += int64(len(msg))
		msg = jsonrpc.AppendError(nil, e.id, jsonrpc.Errorf(jsonrpc.InternalError, "the results of this batch are larger than the limit"))
	}
	if e.replies == nil {
		e.replies = append(e.replies, '[')
	} else {
		e.replies = append(e.replies, ',')
	}
	e.replies = append(e.replies, msg...)
}
