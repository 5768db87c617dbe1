package registry

import (
	"context"
	"errors"
	"strings"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/primitive"
)

// CallTool implements [mcp.Catalog].
func (e *Endpoint) CallTool(ctx context.Context, v mcp.View, name string, u *primitive.Use) (*primitive.ToolResult, error) {
	return follow(ctx, e, v, u.Caller, func(v mcp.View) (*primitive.ToolResult, error) { return e.callTool(ctx, v, name, u) })
}

func (e *Endpoint) callTool(ctx context.Context, v mcp.View, name string, u *primitive.Use) (*primitive.ToolResult, error) {
	p, ok := v.Lookup(primitive.KindTool, name)
	if !ok {
		return nil, primitive.Errorf(primitive.NotFound, "unknown tool: %q", name)
	}
	if u.Arguments == nil {
		u.Arguments = []byte("{}")
	}
	if p.CheckArguments != nil {
		if err := p.CheckArguments(u.Arguments); err != nil {
			// server/tools, "Error Handling": the model can mend its arguments if it is told.
			return nil, primitive.Errorf(primitive.InvalidArguments, "invalid arguments: %v", err)
		}
	}
	res, err := p.Source.CallTool(ctx, p, u)
	if err != nil {
		return nil, e.failed(p, err)
	}
	return res, e.checkResult(p, res)
}

// checkResult refuses a structured result that breaks the tool's own output
// schema: servers MUST conform to it (server/tools, "Output Schema").
func (e *Endpoint) checkResult(p *primitive.Primitive, res *primitive.ToolResult) error {
	if res.Input == nil && res.Raw != nil {
		if err := e.demandArray(p, res.Raw, "content"); err != nil {
			return err
		}
	}
	if res.Input != nil || p.CheckStructured == nil {
		return nil
	}
	structured, isError := res.Structured, res.IsError
	if res.Raw != nil {
		structured = jsonrpc.Lookup(res.Raw, "structuredContent")
		isError = string(jsonrpc.Lookup(res.Raw, "isError")) == "true"
	}
	if isError {
		return nil
	}
	if structured == nil {
		return e.failed(p, primitive.Errorf(primitive.InvalidResult, "the tool declares an output schema and gave no structured result"))
	}
	if err := p.CheckStructured(structured); err != nil {
		return e.failed(p, primitive.Errorf(primitive.InvalidResult, "the tool's result breaks its own output schema: %v", err))
	}
	return nil
}

// failed notes the failure of a use for the operator and returns it for the client.
func (e *Endpoint) failed(p *primitive.Primitive, err error) error {
	pe, ok := errors.AsType[*primitive.Error](err)
	if !ok {
		pe = primitive.Wrap(primitive.Internal, err)
	}
	switch pe.Failure {
	case primitive.Internal, primitive.InvalidResult:
		e.log.Warn("use failed", "primitive", p.Kind, "name", p.Key, "error", err)
	case primitive.NotFound, primitive.InvalidArguments, primitive.Denied, primitive.Unavailable, primitive.Crashed,
		primitive.TimedOut, primitive.Busy, primitive.TooLarge, primitive.NeedsInput, primitive.Foreign:
		e.log.Debug("use failed", "primitive", p.Kind, "name", p.Key, "error", err)
	}
	return pe
}

// GetPrompt implements [mcp.Catalog].
func (e *Endpoint) GetPrompt(ctx context.Context, v mcp.View, name string, u *primitive.Use) (*primitive.PromptResult, error) {
	return follow(ctx, e, v, u.Caller, func(v mcp.View) (*primitive.PromptResult, error) { return e.getPrompt(ctx, v, name, u) })
}

func (e *Endpoint) getPrompt(ctx context.Context, v mcp.View, name string, u *primitive.Use) (*primitive.PromptResult, error) {
	p, ok := v.Lookup(primitive.KindPrompt, name)
	if !ok {
		return nil, primitive.Errorf(primitive.NotFound, "unknown prompt: %q", name)
	}
	if err := checkPromptArguments(p, u.Arguments); err != nil {
		return nil, err
	}
	res, err := p.Source.GetPrompt(ctx, p, u)
	if err != nil {
		return nil, e.failed(p, err)
	}
	if res.Input == nil && res.Raw != nil {
		if err := e.demandArray(p, res.Raw, "messages"); err != nil {
			return nil, err
		}
	}
	return res, nil
}

// checkPromptArguments demands strings, and those that must be there (server/prompts).
func checkPromptArguments(p *primitive.Primitive, args []byte) error {
	given := make(map[string]bool)
	var wrong, missing []string
	if args != nil {
		jsonrpc.Members(args, func(k, v []byte) bool {
			given[string(k)] = true
			if v[0] != '"' {
				wrong = append(wrong, string(k))
			}
			return true
		})
	}
	for _, name := range p.RequiredArguments {
		if !given[name] {
			missing = append(missing, name)
		}
	}
	switch {
	case len(wrong) > 0:
		return primitive.Errorf(primitive.InvalidArguments, "arguments must be strings: %s", strings.Join(wrong, ", "))
	case len(missing) > 0:
		return primitive.Errorf(primitive.InvalidArguments, "missing arguments: %s", strings.Join(missing, ", "))
	}
	return nil
}

// Readable implements [mcp.Catalog].
func (e *Endpoint) Readable(v mcp.View, uri string) bool {
	return e.current.Load().resource(v, uri) != nil
}

// ReadResource implements [mcp.Catalog].
func (e *Endpoint) ReadResource(ctx context.Context, v mcp.View, u *primitive.Use) (*primitive.ReadResult, error) {
	return follow(ctx, e, v, u.Caller, func(v mcp.View) (*primitive.ReadResult, error) { return e.readResource(ctx, v, u) })
}

func (e *Endpoint) readResource(ctx context.Context, v mcp.View, u *primitive.Use) (*primitive.ReadResult, error) {
	p := e.current.Load().resource(v, u.URI)
	if p == nil {
		return nil, primitive.Errorf(primitive.NotFound, "resource not found")
	}
	res, err := p.Source.ReadResource(ctx, p, u)
	if err != nil {
		return nil, e.failed(p, err)
	}
	if res.Input != nil {
		return res, nil
	}
	empty := len(res.Contents) == 0
	if res.Raw != nil {
		if err := e.demandArray(p, res.Raw, "contents"); err != nil {
			return nil, err
		}
		empty = true
		jsonrpc.Elements(jsonrpc.Lookup(res.Raw, "contents"), func([]byte) bool { empty = false; return false })
	}
	if empty {
		// server/resources: a resource that does not exist MUST NOT be empty contents.
		return nil, primitive.Errorf(primitive.NotFound, "resource not found")
	}
	return res, nil
}

// demandArray refuses a result that came whole and lacks the array that clients demand of it.
func (e *Endpoint) demandArray(p *primitive.Primitive, raw []byte, member string) error {
	if jsonrpc.IsArray(jsonrpc.Lookup(raw, member)) {
		return nil
	}
	return e.failed(p, primitive.Errorf(primitive.InvalidResult, "the plugin's result has no array %q", member))
}

// Complete implements [mcp.Catalog].
func (e *Endpoint) Complete(ctx context.Context, v mcp.View, k primitive.Kind, key string, c *primitive.Completion) (*primitive.CompletionResult, error) {
	return follow(ctx, e, v, c.Caller, func(v mcp.View) (*primitive.CompletionResult, error) { return e.complete(ctx, v, k, key, c) })
}

func (e *Endpoint) complete(ctx context.Context, v mcp.View, k primitive.Kind, key string, c *primitive.Completion) (*primitive.CompletionResult, error) {
	p, ok := v.Lookup(k, key)
	if !ok {
		return nil, primitive.Errorf(primitive.NotFound, "unknown %s: %q", k, key)
	}
	if cat := e.current.Load(); cat.silent[cat.owners[p]] {
		return &primitive.CompletionResult{}, nil // the endpoint completes, and this plugin has nothing to say
	}
	res, err := p.Source.Complete(ctx, p, c)
	if err != nil {
		return nil, e.failed(p, err)
	}
	return res, nil
}
