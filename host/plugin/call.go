package plugin

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/mcphost/mcphost/host/primitive"
	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// CallTool implements [primitive.Source]. The call goes over a stream only if
// the client wants to hear of it before its end and the plugin can tell.
func (p *Plugin) CallTool(ctx context.Context, t *primitive.Primitive, u *primitive.Use) (*primitive.ToolResult, error) {
	ctx, cancel := p.bound(ctx, t.Timeout)
	defer cancel()
	if err := p.permit(ctx, u.Caller, t, u.Arguments); err != nil {
		return nil, err
	}
	c := &toolCall{}
	state, err := p.fillTool(c, t, u)
	if err != nil {
		return nil, err
	}
	var i *instance
	resp := &c.resp
	if u.Peer != nil && p.streams() {
		i, resp, err = p.stream(ctx, c, state, u.Peer, mayRepeat(t))
	} else {
		i, err = p.invoke(ctx, pluginv1.PluginService_CallTool_FullMethodName, &c.context, state, &c.req, resp, mayRepeat(t))
	}
	if err != nil {
		return nil, err
	}
	return toolResult(resp, i.tag)
}

// ReadResource implements [primitive.Source].
func (p *Plugin) ReadResource(ctx context.Context, r *primitive.Primitive, u *primitive.Use) (*primitive.ReadResult, error) {
	ctx, cancel := p.bound(ctx, r.Timeout)
	defer cancel()
	if err := p.permit(ctx, u.Caller, r, nil); err != nil {
		return nil, err
	}
	state, err := openState(u.State)
	if err != nil {
		return nil, err
	}
	cc := callContext(u.Caller, u)
	req := &pluginv1.ReadResourceRequest{Context: cc, Uri: u.URI, InputResponsesJson: u.Inputs, State: state.bytes}
	resp := &pluginv1.ReadResourceResponse{}
	i, err := p.invoke(ctx, pluginv1.PluginService_ReadResource_FullMethodName, cc, state, req, resp, true)
	if err != nil {
		return nil, err
	}
	return readResult(resp, i.tag)
}

// GetPrompt implements [primitive.Source].
func (p *Plugin) GetPrompt(ctx context.Context, pr *primitive.Primitive, u *primitive.Use) (*primitive.PromptResult, error) {
	ctx, cancel := p.bound(ctx, pr.Timeout)
	defer cancel()
	if err := p.permit(ctx, u.Caller, pr, u.Arguments); err != nil {
		return nil, err
	}
	state, err := openState(u.State)
	if err != nil {
		return nil, err
	}
	args, err := promptValues(u.Arguments)
	if err != nil {
		return nil, err
	}
	cc := callContext(u.Caller, u)
	req := &pluginv1.GetPromptRequest{Context: cc, Name: pr.Own, Arguments: args, InputResponsesJson: u.Inputs, State: state.bytes}
	resp := &pluginv1.GetPromptResponse{}
	i, err := p.invoke(ctx, pluginv1.PluginService_GetPrompt_FullMethodName, cc, state, req, resp, true)
	if err != nil {
		return nil, err
	}
	return promptResult(resp, i.tag)
}

// Complete implements [primitive.Source].
func (p *Plugin) Complete(ctx context.Context, pr *primitive.Primitive, c *primitive.Completion) (*primitive.CompletionResult, error) {
	ctx, cancel := p.bound(ctx, 0)
	defer cancel()
	if err := p.permit(ctx, c.Caller, pr, nil); err != nil {
		return nil, err
	}
	cc := callContext(c.Caller, nil)
	req := &pluginv1.CompleteRequest{
		Context: cc, Reference: reference(pr), ArgumentName: c.Argument, ArgumentValue: c.Value, ContextArguments: c.Context,
	}
	resp := &pluginv1.CompleteResponse{}
	if _, err := p.invoke(ctx, pluginv1.PluginService_Complete_FullMethodName, cc, heldState{}, req, resp, true); err != nil {
		return nil, err
	}
	return completionResult(resp)
}

// bound returns ctx with the shortest of its own deadline, timeout (if not 0)
// and the plugin's.
func (p *Plugin) bound(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout <= 0 || timeout > p.o.Timeout {
		timeout = p.o.Timeout
	}
	if d, ok := ctx.Deadline(); ok && time.Until(d) <= timeout {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, timeout)
}

// mayRepeat reports whether a call of t may be made a second time if nobody
// knows how the first one ended.
func mayRepeat(t *primitive.Primitive) bool {
	return t.ReadOnly != nil && *t.ReadOnly || t.Idempotent != nil && *t.Idempotent
}

// streams reports whether the plugin can tell of a call before its end.
func (p *Plugin) streams() bool {
	c := p.catalog.Load()
	return c != nil && c.Capabilities.Streaming
}

// invoke makes a unary call and returns the process that answered. If the
// process ended before it answered and again is set, the call is made once more.
func (p *Plugin) invoke(
	ctx context.Context, method string, cc *pluginv1.CallContext, state heldState, req, resp proto.Message, again bool,
) (*instance, error) {
	for {
		i, err := p.enter(ctx)
		if err != nil {
			return nil, err
		}
		if err = state.check(i); err == nil {
			err = i.conn.Invoke(ctx, method, req, resp)
		}
		p.leave(i)
		if err == nil {
			return i, nil
		}
		failure := p.failure(ctx, i, err)
		if !again || cc.Attempt > 0 || failure.Failure != primitive.Crashed || state.sticky {
			return nil, failure
		}
		cc.Attempt++
		proto.Reset(resp)
	}
}
