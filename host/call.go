package host

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mcphost/mcphost/host/config"
	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/primitive"
)

// A Client makes requests of a local endpoint from within this process. They
// take the path of any client's: front, lineage, registry, plugin.
type Client struct {
	endpoint  *mcp.Endpoint
	front     mcp.Front
	principal primitive.Principal
}

// Client returns a client of l, as the local user.
func (h *Host) Client(l *config.Local) *Client {
	ep := h.Local(l)
	return &Client{endpoint: ep, front: h.newFront(ep.Limits), principal: LocalUser(l.Scopes)}
}

// A ToolInfo is what a listing shows of a tool.
type ToolInfo struct {
	Name        string
	Title       string
	Description string
	Definition  []byte // the whole of it, JSON
}

// Tools returns the tools of the endpoint, sorted by name.
func (c *Client) Tools(ctx context.Context) []ToolInfo {
	var list []ToolInfo
	for _, t := range c.endpoint.Catalog.View(ctx, &primitive.Caller{Principal: c.principal, Endpoint: c.endpoint.Name}).Snapshot.Tools {
		title, _ := jsonrpc.String(jsonrpc.Lookup(t.Definition, "title"))
		description, _ := jsonrpc.String(jsonrpc.Lookup(t.Definition, "description"))
		list = append(list, ToolInfo{Name: t.Key, Title: title, Description: description, Definition: t.Definition})
	}
	return list
}

// Arguments returns the arguments that pairs of the form name=value say. A
// value is a string where the tool's schema wants one, and otherwise JSON, or a
// string if it is no JSON. name:=value is JSON in any case.
func (c *Client) Arguments(ctx context.Context, tool string, pairs []string) ([]byte, error) {
	view := c.endpoint.Catalog.View(ctx, &primitive.Caller{Principal: c.principal, Endpoint: c.endpoint.Name})
	var properties []byte
	if t, ok := view.Lookup(primitive.KindTool, tool); ok {
		properties = jsonrpc.Lookup(t.InputSchema, "properties")
	}
	b := []byte{'{'}
	seen := make(map[string]bool)
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%q is not of the form name=value", pair)
		}
		name, isJSON := strings.CutSuffix(name, ":")
		if seen[name] {
			return nil, fmt.Errorf("the argument %q is given twice", name)
		}
		seen[name] = true
		if isJSON && !jsonrpc.Valid([]byte(value)) {
			return nil, fmt.Errorf("the value of %q is not JSON: %q", name, value)
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(jsonrpc.AppendString(b, name), ':')
		if isJSON || jsonrpc.Valid([]byte(value)) && !wantsString(properties, name) {
			b = jsonrpc.AppendLine(b, []byte(value))
		} else {
			b = jsonrpc.AppendString(b, value)
		}
	}
	return append(b, '}'), nil
}

// wantsString reports whether the schema of the argument name is that of a string alone.
func wantsString(properties []byte, name string) bool {
	if properties == nil || !jsonrpc.IsObject(properties) {
		return false
	}
	schema := jsonrpc.Lookup(properties, name)
	if schema == nil || !jsonrpc.IsObject(schema) {
		return false
	}
	kind, _ := jsonrpc.String(jsonrpc.Lookup(schema, "type"))
	return kind == "string"
}

// CallTool calls a tool and returns the result object as JSON. Progress and
// logs of the call are handed to notify, one notification each.
func (c *Client) CallTool(ctx context.Context, tool string, arguments []byte, notify func(method string, params []byte)) ([]byte, error) {
	body := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":`)
	body = jsonrpc.AppendString(body, tool)
	body = append(body, `,"arguments":`...)
	body = jsonrpc.AppendLine(body, arguments)
	body = append(body, `,"_meta":{"progressToken":1,"`+mcp.MetaProtocolVersion+`":"`+mcp.R20260728.String()+`","`+
		mcp.MetaLogLevel+`":"info","`+mcp.MetaClientInfo+`":{"name":"mcphost call","version":`...)
	body = jsonrpc.AppendString(body, Version)
	body = append(body, `},"`+mcp.MetaClientCapabilities+`":{}}}}`...)
	out := &answer{notify: notify}
	x := &mcp.Exchange{Endpoint: c.endpoint, Conn: &mcp.Conn{}, Principal: c.principal, Out: out}
	if work := c.front.Accept(x, body); work != nil {
		work.Run(ctx)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m, fault := jsonrpc.Parse(out.response)
	if fault != nil {
		return nil, fmt.Errorf("reading the response: %w", fault)
	}
	if e := m.Error(); e != nil {
		return nil, e
	}
	return m.Result, nil
}

// An answer is the way back of one request of a [Client].
type answer struct {
	notify   func(method string, params []byte)
	response []byte
}

var errNotNotification = errors.New("not a notification")

// Notify implements [mcp.Responder].
func (a *answer) Notify(msg []byte) error {
	m, fault := jsonrpc.Parse(msg)
	if fault != nil || !m.IsNotification() {
		return errNotNotification
	}
	a.notify(m.Method, m.Params)
	return nil
}

// Reply implements [mcp.Responder].
func (a *answer) Reply(msg []byte, _ int) { a.response = append([]byte(nil), msg...) }
