// Package modern serves the lineage of revision 2026-07-28: every message
// stands alone and says in _meta what it needs, nothing is remembered between
// requests, and the host never sends a request of its own.
package modern

import (
	"context"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/primitive"
)

// A Server serves the modern lineage. Its zero value is not usable; use [New].
type Server struct{ methods map[string]method }

// A method serves one request that has climbed the ladder. It returns the
// whole response, or a fault and its HTTP status; both nil if it has replied itself.
type method func(ctx context.Context, r *request) (response []byte, fault *fault)

// A fault is an error response with its HTTP status.
type fault struct {
	err    *jsonrpc.Error
	status int
}

// faultf returns a fault of the request itself: in-band -32602 and the like are 200.
func faultf(status int, c jsonrpc.Code, format string, args ...any) *fault {
	return &fault{jsonrpc.Errorf(c, format, args...), status}
}

// A request is one exchange with what the methods need of it.
type request struct {
	*mcp.Exchange

	revision mcp.Revision
	view     mcp.View
	encoder  mcp.Encoder
	buf      *mcp.Buffer          // for the response
	tool     *primitive.Primitive // of tools/call, if there is one of that name
	name     string               // params.name or params.uri, if it is a string
}

var _ mcp.Handler = (*Server)(nil)

// New returns a Server.
func New() *Server {
	return &Server{map[string]method{
		mcp.MethodDiscover.Name:      discover,
		mcp.MethodListen.Name:        listen,
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
	r := &request{Exchange: x, revision: mcp.R20260728, buf: mcp.GetBuffer()}
	defer r.buf.Put()
	response, f := s.serve(ctx, r)
	if response != nil {
		r.buf.B = response // it may have grown
	}
	switch {
	case f != nil:
		x.Out.Reply(jsonrpc.AppendError(nil, x.Message.ID, f.err), f.status)
	case response == nil:
	case int64(len(response)) > x.Endpoint.Limits.MaxResponseSize:
		tooLarge := primitive.Errorf(primitive.TooLarge, "the result has %d bytes, the limit is %d", len(response), x.Endpoint.Limits.MaxResponseSize)
		response, f = r.failed(nil, tooLarge, primitive.KindResource)
		x.Out.Reply(jsonrpc.AppendError(response, x.Message.ID, f.err), f.status)
	default:
		x.Out.Reply(response, 200)
	}
}

func (s *Server) serve(ctx context.Context, r *request) ([]byte, *fault) {
	if f := r.climb(ctx); f != nil {
		return nil, f
	}
	return s.methods[r.Message.Method](ctx, r)
}

// discover answers server/discover.
func discover(_ context.Context, r *request) ([]byte, *fault) {
	w := r.start()
	w = append(w, `{"supportedVersions":[`...)
	for i, v := range mcp.Revisions {
		if i > 0 {
			w = append(w, ',')
		}
		w = jsonrpc.AppendString(w, v.String())
	}
	w = append(w, `],"capabilities":`...)
	w = append(w, mcp.CapabilitiesJSON(r.view.Snapshot, r.revision)...)
	if text := r.view.Snapshot.Instructions; text != "" {
		w = append(w, `,"instructions":`...)
		w = jsonrpc.AppendString(w, text)
	}
	w = append(w, ',')
	return append(r.encoder.Discovered(w, r.view.Snapshot.Lists), '}'), nil
}

// list answers the four list methods.
func list(_ context.Context, r *request) ([]byte, *fault) {
	k, _ := mcp.ListKind(r.Message.Method)
	b, e := r.Endpoint.AppendPage(r.start(), r.encoder, r.view, k, r.Params.Cursor)
	if e != nil {
		return nil, &fault{e, mcp.Status(mcp.Modern, e.Code)}
	}
	return append(b, '}'), nil
}
