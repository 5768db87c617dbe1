package legacy

import (
	"context"
	"errors"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/primitive"
)

// callTool answers tools/call.
func callTool(ctx context.Context, r *request) ([]byte, *jsonrpc.Error) {
	name, ok := jsonrpc.String(r.Params.Name)
	if !ok {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, "params.name must be a string")
	}
	tool, _ := r.view.Lookup(primitive.KindTool, name)
	return r.use(ctx, primitive.KindTool, func(u *primitive.Use) ([]byte, *primitive.InputRequired, error) {
		res, err := r.Endpoint.Catalog.CallTool(ctx, r.view, name, u)
		if err != nil {
			return nil, nil, err
		}
		if res.Input != nil {
			return nil, res.Input, nil
		}
		return r.encoder.ToolResult(r.start(), tool, res), nil, nil
	})
}

// getPrompt answers prompts/get.
func getPrompt(ctx context.Context, r *request) ([]byte, *jsonrpc.Error) {
	name, ok := jsonrpc.String(r.Params.Name)
	if !ok {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, "params.name must be a string")
	}
	return r.use(ctx, primitive.KindPrompt, func(u *primitive.Use) ([]byte, *primitive.InputRequired, error) {
		res, err := r.Endpoint.Catalog.GetPrompt(ctx, r.view, name, u)
		if err != nil {
			return nil, nil, err
		}
		if res.Input != nil {
			return nil, res.Input, nil
		}
		return r.encoder.PromptResult(r.start(), res), nil, nil
	})
}

// readResource answers resources/read.
func readResource(ctx context.Context, r *request) ([]byte, *jsonrpc.Error) {
	uri, ok := jsonrpc.String(r.Params.URI)
	if !ok {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, "params.uri must be a string")
	}
	return r.use(ctx, primitive.KindResource, func(u *primitive.Use) ([]byte, *primitive.InputRequired, error) {
		u.URI, u.Arguments = uri, nil
		res, err := r.Endpoint.Catalog.ReadResource(ctx, r.view, u)
		if err != nil {
			return nil, nil, err
		}
		if res.Input != nil {
			return nil, res.Input, nil
		}
		return r.encoder.ReadResult(r.start(), res), nil, nil
	})
}

// use makes one use of a primitive of kind k. Where the plugin needs input,
// the client is asked and the plugin is called again, as often as the limit allows.
func (r *request) use(ctx context.Context, k primitive.Kind, do func(*primitive.Use) ([]byte, *primitive.InputRequired, error)) ([]byte, *jsonrpc.Error) {
	u, e := mcp.NewUse(r.Exchange)
	if e != nil {
		return nil, e
	}
	token := r.Meta.ProgressToken
	if token != nil && !mcp.ValidToken(token) {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, "_meta.progressToken must be a string or an integer")
	}
	peer := mcp.NewPeer(r.Out, r.encoder.Revision, token, r.session.LogLevel())
	if peer != nil {
		u.Peer = peer
		defer peer.Close()
	}
	for {
		response, need, err := do(u)
		if err == nil && need == nil {
			peer.Close()
			return append(response, '}'), nil
		}
		if err == nil {
			err = r.answer(ctx, u, need)
		}
		if err != nil {
			peer.Close()
			return r.failed(err, k)
		}
	}
}

// failed turns the failure of a use into a result that the model can read, or into an error.
func (r *request) failed(err error, k primitive.Kind) ([]byte, *jsonrpc.Error) {
	text, e := mcp.Fault(err, k, mcp.Legacy)
	if e != nil {
		if e.Code == mcp.ResourceNotFound && e.Data == nil {
			uri, _ := jsonrpc.String(r.Params.URI)
			e.Data = append(jsonrpc.AppendString([]byte(`{"uri":`), uri), '}')
		}
		return nil, e
	}
	res := &primitive.ToolResult{IsError: true, Content: []primitive.Content{{Text: text}}}
	return append(r.encoder.ToolResult(r.start(), nil, res), '}'), nil
}

func (r *request) fault(err error, k primitive.Kind) *jsonrpc.Error {
	_, e := mcp.Fault(err, k, mcp.Legacy)
	return e
}

// answer asks the client what the plugin needs and prepares u for the next round.
func (r *request) answer(ctx context.Context, u *primitive.Use, need *primitive.InputRequired) error {
	if len(need.Requests) == 0 && need.State == nil {
		return primitive.Errorf(primitive.InvalidResult, "the plugin asked for input without a question")
	}
	if u.Round+1 >= r.Endpoint.Limits.MaxInputRounds {
		return primitive.Errorf(primitive.InvalidResult, "the plugin asked for input %d times", u.Round+1)
	}
	inputs := make(map[string][]byte, len(need.Requests))
	for i := range need.Requests {
		q := &need.Requests[i]
		answer, err := r.ask(ctx, q)
		if err != nil {
			return err
		}
		inputs[q.Key] = answer
	}
	u.Inputs, u.State, u.Round = inputs, need.State, u.Round+1
	return nil
}

// ask sends one question on the stream of the call that it belongs to and
// waits for the answer, without holding a slot.
func (r *request) ask(ctx context.Context, q *primitive.InputRequest) ([]byte, error) {
	if !mcp.ValidInputMethod(q.Method) {
		return nil, primitive.Errorf(primitive.InvalidResult, "the plugin asked for input by %q, which is none of the methods for it", q.Method)
	}
	params, ok := mcp.Question(q, r.encoder.Revision, r.session.Capabilities)
	if !ok {
		return nil, primitive.Errorf(primitive.NeedsInput, "this needs %s, which the client has not declared", q.Method)
	}
	if r.WaitForPerson != nil {
		defer r.WaitForPerson()()
	}
	ctx, cancel := context.WithTimeout(ctx, r.Endpoint.Limits.InputTimeout)
	defer cancel()
	answer, err := r.session.Request(ctx, r.Out, q.Method, params)
	var refused *jsonrpc.Error
	switch {
	case err == nil && !jsonrpc.IsObject(answer):
		return nil, primitive.Errorf(primitive.NeedsInput, "the client gave an answer to %s that is no object", q.Method)
	case errors.As(err, &refused):
		return nil, primitive.Errorf(primitive.NeedsInput, "the client refused %s: %s", q.Method, refused.Message)
	case errors.Is(err, context.DeadlineExceeded):
		return nil, primitive.Errorf(primitive.TimedOut, "the client did not answer %s in time", q.Method)
	case err != nil:
		return nil, primitive.Wrap(primitive.Unavailable, err)
	}
	return answer, nil
}
