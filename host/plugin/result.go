package plugin

import (
	"bytes"
	"errors"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/primitive"
	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// toolResult converts what process tag answered. It keeps the bytes of resp.
func toolResult(resp *pluginv1.CallToolResponse, tag string) (*primitive.ToolResult, error) {
	switch o := resp.GetOutcome().(type) {
	case *pluginv1.CallToolResponse_InputRequired:
		in, err := inputRequired(o.InputRequired, tag)
		return &primitive.ToolResult{Input: in}, err
	case *pluginv1.CallToolResponse_Error:
		return nil, foreign(o.Error)
	case *pluginv1.CallToolResponse_Result:
		return completeTool(o.Result)
	}
	return nil, errNoOutcome
}

var errNoOutcome = brokenContract("the answer has no outcome")

func completeTool(r *pluginv1.ToolResult) (*primitive.ToolResult, error) {
	var v values
	if raw := r.GetResultJson(); len(raw) > 0 {
		out := &primitive.ToolResult{Raw: v.object("result", raw)}
		return out, v.err
	}
	out := &primitive.ToolResult{
		Structured: v.any("structured content", r.GetStructuredJson()),
		IsError:    r.GetIsError(),
		Meta:       v.object("_meta", r.GetMetaJson()),
	}
	if list := r.GetContent(); len(list) > 0 {
		out.Content = make([]primitive.Content, len(list))
		for i, c := range list {
			v.content(&out.Content[i], c)
		}
	}
	return out, v.err
}

func readResult(resp *pluginv1.ReadResourceResponse, tag string) (*primitive.ReadResult, error) {
	switch o := resp.GetOutcome().(type) {
	case *pluginv1.ReadResourceResponse_InputRequired:
		in, err := inputRequired(o.InputRequired, tag)
		return &primitive.ReadResult{Input: in}, err
	case *pluginv1.ReadResourceResponse_Error:
		if o.Error.GetCode() == resourceNotFound {
			return nil, primitive.Wrap(primitive.NotFound, errors.New(clean(o.Error.GetMessage(), maxText, false)))
		}
		return nil, foreign(o.Error)
	case *pluginv1.ReadResourceResponse_Result:
		return completeRead(o.Result)
	}
	return nil, errNoOutcome
}

func completeRead(r *pluginv1.ReadResourceResult) (*primitive.ReadResult, error) {
	var v values
	out := &primitive.ReadResult{}
	if h := r.GetCache(); h != nil {
		out.Cache = cacheHint(h)
	}
	if raw := r.GetResultJson(); len(raw) > 0 {
		out.Raw = v.object("result", raw)
		return out, v.err
	}
	out.Meta = v.object("_meta", r.GetMetaJson())
	list := r.GetContents()
	if len(list) == 0 {
		return nil, brokenContract("a resource without contents; one that does not exist is an error")
	}
	out.Contents = make([]primitive.ResourceContents, len(list))
	for i, c := range list {
		v.contents(&out.Contents[i], c)
	}
	return out, v.err
}

func promptResult(resp *pluginv1.GetPromptResponse, tag string) (*primitive.PromptResult, error) {
	switch o := resp.GetOutcome().(type) {
	case *pluginv1.GetPromptResponse_InputRequired:
		in, err := inputRequired(o.InputRequired, tag)
		return &primitive.PromptResult{Input: in}, err
	case *pluginv1.GetPromptResponse_Error:
		return nil, foreign(o.Error)
	case *pluginv1.GetPromptResponse_Result:
		return completePrompt(o.Result)
	}
	return nil, errNoOutcome
}

func completePrompt(r *pluginv1.GetPromptResult) (*primitive.PromptResult, error) {
	var v values
	if raw := r.GetResultJson(); len(raw) > 0 {
		out := &primitive.PromptResult{Raw: v.object("result", raw)}
		return out, v.err
	}
	out := &primitive.PromptResult{Description: clean(r.GetDescription(), maxDescription, true), Meta: v.object("_meta", r.GetMetaJson())}
	list := r.GetMessages()
	out.Messages = make([]primitive.PromptMessage, len(list))
	for i, m := range list {
		if m.GetRole() != "user" && m.GetRole() != "assistant" {
			return nil, brokenContract("a message has the role %q; it must be \"user\" or \"assistant\"", clean(m.GetRole(), maxShort, false))
		}
		out.Messages[i].Role = m.GetRole()
		v.content(&out.Messages[i].Content, m.GetContent())
	}
	return out, v.err
}

const (
	maxCompletions = 100
	maxInputs      = 64
	maxState       = 1 << 20
)

func completionResult(resp *pluginv1.CompleteResponse) (*primitive.CompletionResult, error) {
	switch o := resp.GetOutcome().(type) {
	case *pluginv1.CompleteResponse_Error:
		return nil, foreign(o.Error)
	case *pluginv1.CompleteResponse_Result:
		values := o.Result.GetValues()
		out := &primitive.CompletionResult{HasMore: o.Result.GetHasMore() || len(values) > maxCompletions}
		out.Values = values[:min(len(values), maxCompletions)]
		if o.Result.Total != nil && o.Result.GetTotal() >= 0 {
			out.Total = new(o.Result.GetTotal())
		}
		return out, nil
	}
	return nil, errNoOutcome
}

// inputMethods are what a plugin may ask a client for.
var inputMethods = map[string]bool{"elicitation/create": true, "sampling/createMessage": true, "roots/list": true}

func inputRequired(r *pluginv1.InputRequired, tag string) (*primitive.InputRequired, error) {
	list := r.GetRequests()
	switch {
	case len(list) > maxInputs:
		return nil, brokenContract("the answer asks %d questions; at most %d are possible", len(list), maxInputs)
	case len(r.GetState()) > maxState:
		return nil, brokenContract("the state has %d bytes; at most %d are possible", len(r.GetState()), maxState)
	}
	out := &primitive.InputRequired{State: sealState(r.State, r.GetSticky(), tag), SingleUse: r.GetSingleUse(), Sticky: r.GetSticky()}
	if d := r.GetExpiresAfter(); d.IsValid() && d.AsDuration() > 0 {
		out.ExpiresAfter = d.AsDuration()
	}
	if len(list) == 0 && out.State == nil {
		return nil, brokenContract("the answer wants input and neither asks a question nor keeps a state")
	}
	var v values
	seen := make(map[string]bool, len(list))
	for _, q := range list {
		key := q.GetKey()
		switch {
		case key == "" || len(key) > maxShort || clean(key, maxShort, false) != key || seen[key]:
			return nil, brokenContract("a question has no key of its own")
		case !inputMethods[q.GetMethod()]:
			return nil, brokenContract("a question has the method %q", clean(q.GetMethod(), maxShort, false))
		}
		seen[key] = true
		params := v.object("params", q.GetParamsJson())
		if params == nil {
			params = []byte("{}")
		}
		out.Requests = append(out.Requests, primitive.InputRequest{Key: key, Method: q.GetMethod(), Params: params})
	}
	return out, v.err
}

// line returns v, JSON, on one line; nearly always that is v itself.
func line(v []byte) []byte {
	if bytes.IndexByte(v, '\n') < 0 && bytes.IndexByte(v, '\r') < 0 {
		return v
	}
	return jsonrpc.AppendLine(make([]byte, 0, len(v)), v)
}
