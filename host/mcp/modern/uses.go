package modern

import (
	"context"
	"fmt"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/primitive"
)

// callTool answers tools/call.
func callTool(ctx context.Context, r *request) ([]byte, *fault) {
	return r.use(func(u *primitive.Use) ([]byte, *primitive.InputRequired, error) {
		res, err := r.Endpoint.Catalog.CallTool(ctx, r.view, r.name, u)
		if err != nil {
			return nil, nil, err
		}
		if res.Input != nil {
			return nil, res.Input, nil
		}
		return r.encoder.ToolResult(r.start(), r.tool, res), nil, nil
	}, primitive.KindTool)
}

// getPrompt answers prompts/get.
func getPrompt(ctx context.Context, r *request) ([]byte, *fault) {
	return r.use(func(u *primitive.Use) ([]byte, *primitive.InputRequired, error) {
		res, err := r.Endpoint.Catalog.GetPrompt(ctx, r.view, r.name, u)
		if err != nil {
			return nil, nil, err
		}
		if res.Input != nil {
			return nil, res.Input, nil
		}
		return r.encoder.PromptResult(r.start(), res), nil, nil
	}, primitive.KindPrompt)
}

// readResource answers resources/read.
func readResource(ctx context.Context, r *request) ([]byte, *fault) {
	return r.use(func(u *primitive.Use) ([]byte, *primitive.InputRequired, error) {
		u.URI, u.Arguments = r.name, nil
		res, err := r.Endpoint.Catalog.ReadResource(ctx, r.view, u)
		if err != nil {
			return nil, nil, err
		}
		if res.Input != nil {
			return nil, res.Input, nil
		}
		return r.encoder.ReadResult(r.start(), res), nil, nil
	}, primitive.KindResource)
}

// start returns the start of the response, in the request's buffer.
func (r *request) start() []byte { return jsonrpc.AppendResult(r.buf.B[:0], r.Message.ID) }

// use makes one use of a primitive of kind k: its state is opened, its progress
// and logs are forwarded, and what it needs of the client is asked for.
func (r *request) use(do func(*primitive.Use) ([]byte, *primitive.InputRequired, error), k primitive.Kind) ([]byte, *fault) {
	u, e := mcp.NewUse(r.Exchange)
	if e != nil {
		return nil, &fault{e, 200}
	}
	if f := r.openState(u); f != nil {
		return nil, f
	}
	level, _ := jsonrpc.String(r.Meta.LogLevel)
	peer := mcp.NewPeer(r.Out, r.revision, r.Meta.ProgressToken, level)
	if peer != nil {
		u.Peer = peer
		defer peer.Close()
	}
	response, need, err := do(u)
	peer.Close()
	switch {
	case err != nil:
		return r.failed(r.tool, err, k)
	case need != nil:
		return r.ask(u, need, k)
	}
	return append(response, '}'), nil
}

// failed turns the failure of a use into a result that the model can read, or
// into an error response.
func (r *request) failed(t *primitive.Primitive, err error, k primitive.Kind) ([]byte, *fault) {
	text, e := mcp.Fault(err, k, mcp.Modern)
	if e != nil {
		if k == primitive.KindResource && e.Code == jsonrpc.InvalidParams && e.Data == nil {
			// server/resources: data.uri is recommended for a resource that does not exist.
			e.Data = append(jsonrpc.AppendString([]byte(`{"uri":`), r.name), '}')
		}
		return nil, &fault{e, mcp.Status(mcp.Modern, e.Code)}
	}
	res := &primitive.ToolResult{IsError: true, Content: []primitive.Content{{Text: text}}}
	return append(r.encoder.ToolResult(r.start(), t, res), '}'), nil
}

// complete answers completion/complete.
func complete(ctx context.Context, r *request) ([]byte, *fault) {
	c, e := mcp.NewCompletion(r.Exchange)
	if e != nil {
		return nil, &fault{e, 200}
	}
	res, err := r.Endpoint.Catalog.Complete(ctx, r.view, c.Kind, c.Key, &c.Completion)
	if err != nil {
		return r.failed(nil, err, c.Kind)
	}
	return append(r.encoder.Completion(r.start(), res), '}'), nil
}

// ask answers with input_required, or says that the client cannot give what is needed.
func (r *request) ask(u *primitive.Use, need *primitive.InputRequired, k primitive.Kind) ([]byte, *fault) {
	if len(need.Requests) == 0 && need.State == nil {
		return r.failed(r.tool, primitive.Errorf(primitive.InvalidResult, "the plugin asked for input without a question"), k)
	}
	if u.Round+1 >= r.Endpoint.Limits.MaxInputRounds {
		return r.failed(r.tool, primitive.Errorf(primitive.InvalidResult, "the plugin asked for input %d times", u.Round+1), k)
	}
	state := r.sealState(u, need)
	if limit := r.Endpoint.Limits.MaxRequestSize / 2; int64(len(state)) > limit {
		return r.failed(r.tool, primitive.Errorf(primitive.InvalidResult, "the plugin's state has %d bytes sealed and could not come back in a request; the limit is %d", len(state), limit), k)
	}
	for i := range need.Requests {
		if e := r.checkQuestion(&need.Requests[i]); e != nil {
			return r.failed(r.tool, e, k)
		}
	}
	b := append(r.start(), `{"resultType":"input_required"`...)
	if len(need.Requests) > 0 {
		b = append(b, `,"inputRequests":{`...)
		for i, q := range need.Requests {
			if i > 0 {
				b = append(b, ',')
			}
			b = jsonrpc.AppendString(b, q.Key)
			b = append(b, `:{"method":`...)
			b = jsonrpc.AppendString(b, q.Method)
			b = append(b, `,"params":`...)
			b = jsonrpc.AppendLine(b, q.Params)
			b = append(b, '}')
		}
		b = append(b, '}')
	}
	b = append(b, `,"requestState":`...)
	b = jsonrpc.AppendString(b, state)
	b = append(b, `,"_meta":{"`+mcp.MetaServerInfo+`":`...)
	b = append(b, r.encoder.ServerInfo...)
	return append(b, "}}}"...), nil
}

// checkQuestion refuses a question of a kind that does not exist or that this
// request's client has not declared: it MUST NOT be sent (patterns/mrtr).
func (r *request) checkQuestion(q *primitive.InputRequest) error {
	if !mcp.ValidInputMethod(q.Method) {
		return primitive.Errorf(primitive.InvalidResult, "the plugin asked for input by %q, which is none of the methods for it", q.Method)
	}
	needed, ok := mcp.NeededCapability(r.Caller.ClientCapabilities, q)
	if ok {
		return nil
	}
	return &primitive.Error{
		Failure: primitive.NeedsInput,
		Detail:  fmt.Sprintf("this needs %s, which the client has not declared", q.Method),
		Data:    append(append([]byte(`{"requiredCapabilities":`), needed...), '}'),
	}
}
