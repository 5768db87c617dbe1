// Package legacy serves the revisions up to 2025-11-25: a session opens with
// initialize, remembers what both sides agreed on, and the host may send
// requests of its own within it.
package legacy

import (
	"context"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/primitive"
)

// A Server serves the legacy lineage. Use [New].
type Server struct{ methods map[string]method }

// A method serves one request. It returns the whole response or an error.
type method func(ctx context.Context, r *request) (response []byte, e *jsonrpc.Error)

// A request is one exchange with what the methods need of it.
type request struct {
	*mcp.Exchange

	session *mcp.Session // nil before initialize
	view    mcp.View
	encoder mcp.Encoder
	buf     *mcp.Buffer // for the response
}

var _ mcp.Handler = (*Server)(nil)

// New returns a Server.
func New() *Server {
	return &Server{map[string]method{
		mcp.MethodInitialize.Name:    initialize,
		mcp.MethodPing.Name:          ping,
		mcp.MethodSetLevel.Name:      setLevel,
		mcp.MethodSubscribe.Name:     subscribe,
		mcp.MethodUnsubscribe.Name:   unsubscribe,
		mcp.MethodListTools.Name:     list,
		mcp.MethodListPrompts.Name:   list,
		mcp.MethodListResources.Name: list,
		mcp.MethodListTemplates.Name: list,
		mcp.MethodCallTool.Name:      callTool,
		mcp.MethodGetPrompt.Name:     getPrompt,
		mcp.MethodReadResource.Name:  readResource,
		mcp.MethodComplete.Name:      complete,
	}}
}

// Handle implements [mcp.Handler].
func (s *Server) Handle(ctx context.Context, x *mcp.Exchange) {
	r := &request{Exchange: x, session: x.Conn.Session()}
	if !x.Message.IsRequest() {
		r.notification()
		return
	}
	r.buf = mcp.GetBuffer()
	defer r.buf.Put()
	response, e := s.serve(ctx, r)
	if response != nil {
		r.buf.B = response // it may have grown
	}
	if e == nil && int64(len(response)) > x.Endpoint.Limits.MaxResponseSize {
		_, e = mcp.Fault(primitive.Errorf(primitive.TooLarge, "the result has %d bytes, the limit is %d",
			len(response), x.Endpoint.Limits.MaxResponseSize), primitive.KindResource, mcp.Legacy)
	}
	switch {
	case e != nil:
		// In a session every error is 200: a 404 would say that the session is gone.
		status := mcp.Status(mcp.Legacy, e.Code)
		if e.Code == mcp.BusyCode && r.session == nil {
			status = 503
		}
		x.Out.Reply(jsonrpc.AppendError(nil, x.Message.ID, e), status)
	case response != nil:
		x.Out.Reply(response, 200)
	}
}

func (s *Server) serve(ctx context.Context, r *request) ([]byte, *jsonrpc.Error) {
	if int64(len(r.Params.Meta)) > r.Endpoint.Limits.MaxMetadataSize {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, "_meta has %d bytes, the limit is %d", len(r.Params.Meta), r.Endpoint.Limits.MaxMetadataSize)
	}
	revision := mcp.LatestLegacy
	if r.session != nil {
		revision = r.session.Revision
	}
	r.view = r.Endpoint.Catalog.View(ctx, r.Caller)
	r.encoder = mcp.Encoder{Revision: revision}
	serve := s.methods[r.Method.Name]
	if serve == nil || !r.Method.Advertised(r.view.Snapshot) {
		return nil, jsonrpc.Errorf(jsonrpc.MethodNotFound, "method not found")
	}
	return serve(ctx, r)
}

// notification handles what a client says of itself; what it says of
// cancellation the server has done.
func (r *request) notification() {
	if r.session != nil && r.Message.Method == "notifications/initialized" && r.session.Initialize() {
		r.forwardChanges()
	}
}

// start returns the start of the response, in the request's buffer.
func (r *request) start() []byte { return jsonrpc.AppendResult(r.buf.B[:0], r.Message.ID) }

// empty returns a response with an empty result: exactly {} on these revisions.
func (r *request) empty() []byte { return append(r.encoder.Empty(r.start()), '}') }

func ping(_ context.Context, r *request) ([]byte, *jsonrpc.Error) { return r.empty(), nil }

// setLevel answers logging/setLevel: the level of the whole session.
func setLevel(_ context.Context, r *request) ([]byte, *jsonrpc.Error) {
	level, ok := jsonrpc.String(r.Params.Level)
	if !ok || !mcp.ValidLevel(level) {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, "params.level is not a log level")
	}
	r.session.SetLogLevel(level)
	return r.empty(), nil
}

// list answers the four list methods.
func list(_ context.Context, r *request) ([]byte, *jsonrpc.Error) {
	k, _ := mcp.ListKind(r.Message.Method)
	b, e := r.Endpoint.AppendPage(r.start(), r.encoder, r.view, k, r.Params.Cursor)
	if e != nil {
		return nil, e
	}
	return append(b, '}'), nil
}

// complete answers completion/complete.
func complete(ctx context.Context, r *request) ([]byte, *jsonrpc.Error) {
	c, e := mcp.NewCompletion(r.Exchange)
	if e != nil {
		return nil, e
	}
	if !r.encoder.Revision.Has(mcp.CompletionContext) {
		c.Context = nil
	}
	res, err := r.Endpoint.Catalog.Complete(ctx, r.view, c.Kind, c.Key, &c.Completion)
	if err != nil {
		_, e = mcp.Fault(err, c.Kind, mcp.Legacy)
		return nil, e
	}
	return append(r.encoder.Completion(r.start(), res), '}'), nil
}
