package plugin

import (
	"fmt"
	"strings"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/primitive"
	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// A toolCall holds all messages of one call, so that they are made at once.
type toolCall struct {
	req       pluginv1.CallToolRequest
	context   pluginv1.CallContext
	principal pluginv1.Principal
	resp      pluginv1.CallToolResponse
}

// maxArguments leaves room in a message for what else is in it.
const maxArguments = pluginv1.MaxMessageToPlugin - 4<<20

func (p *Plugin) fillTool(c *toolCall, t *primitive.Primitive, u *primitive.Use) (heldState, error) {
	if len(u.Arguments) > maxArguments {
		return heldState{}, primitive.Errorf(primitive.InvalidArguments, "the arguments are larger than %d MiB", maxArguments>>20)
	}
	state, err := openState(u.State)
	if err != nil {
		return heldState{}, err
	}
	fillContext(&c.context, &c.principal, u.Caller, u)
	c.req.Context = &c.context
	c.req.Name = t.Own
	c.req.ArgumentsJson = u.Arguments
	c.req.InputResponsesJson = u.Inputs
	c.req.State = state.bytes
	return state, nil
}

// callContext makes the context of a use; u is nil for what is no use.
func callContext(c *primitive.Caller, u *primitive.Use) *pluginv1.CallContext {
	cc := &pluginv1.CallContext{}
	fillContext(cc, &pluginv1.Principal{}, c, u)
	return cc
}

func fillContext(cc *pluginv1.CallContext, principal *pluginv1.Principal, c *primitive.Caller, u *primitive.Use) {
	if c != nil {
		principal.Subject = c.Principal.Subject
		principal.Issuer = c.Principal.Issuer
		principal.Scopes = c.Principal.Scopes
		principal.ClaimsJson = c.Principal.Claims
		cc.ProtocolVersion = c.Revision
		cc.ClientInfoJson = c.ClientInfo
		cc.ClientCapabilitiesJson = c.ClientCapabilities
		cc.Session = c.Session
		cc.Traceparent, cc.Tracestate = c.Traceparent, c.Tracestate
		cc.MetaJson = ownMeta(c.Meta)
		cc.Endpoint, cc.Transport = c.Endpoint, c.Transport
	}
	cc.Principal = principal
	if u != nil {
		cc.CallId = u.CallID
		cc.Round = uint32(u.Round) //nolint:gosec // the host bounds rounds
	}
}

// ownMeta returns meta less the keys that are the protocol's: a plugin has
// what they say in fields of its own, or must not have it.
func ownMeta(meta []byte) []byte {
	if len(meta) == 0 || !jsonrpc.IsObject(meta) {
		return nil
	}
	reserved, others := 0, 0
	jsonrpc.Members(meta, func(k, _ []byte) bool {
		if isReserved(string(k)) {
			reserved++
		} else {
			others++
		}
		return true
	})
	switch {
	case others == 0:
		return nil
	case reserved == 0:
		return meta
	}
	w := &writer{}
	jsonrpc.Members(meta, func(k, v []byte) bool {
		if !isReserved(string(k)) {
			w.raw(string(k), v)
		}
		return true
	})
	return append(w.buf, '}')
}

// isReserved reports whether a key of _meta is the protocol's.
//
// basic "_meta": prefixes whose second label is mcp or modelcontextprotocol are
// reserved. progressToken has no prefix.
func isReserved(key string) bool {
	if key == "progressToken" {
		return true
	}
	prefix, _, ok := strings.Cut(key, "/")
	if !ok {
		return false
	}
	_, rest, ok := strings.Cut(prefix, ".")
	if !ok {
		return false
	}
	label, _, _ := strings.Cut(rest, ".")
	return label == "mcp" || label == "modelcontextprotocol"
}

var referenceKinds = map[primitive.Kind]pluginv1.PrimitiveRef_Kind{
	primitive.KindTool:     pluginv1.PrimitiveRef_KIND_TOOL,
	primitive.KindResource: pluginv1.PrimitiveRef_KIND_RESOURCE,
	primitive.KindTemplate: pluginv1.PrimitiveRef_KIND_RESOURCE_TEMPLATE,
	primitive.KindPrompt:   pluginv1.PrimitiveRef_KIND_PROMPT,
}

func reference(p *primitive.Primitive) *pluginv1.PrimitiveRef {
	return &pluginv1.PrimitiveRef{Kind: referenceKinds[p.Kind], Name: p.Own}
}

// promptValues reads the arguments of a prompt, which are strings.
func promptValues(args []byte) (map[string]string, error) {
	if args == nil {
		return nil, nil
	}
	values := make(map[string]string)
	var err error
	jsonrpc.Members(args, func(k, v []byte) bool {
		s, ok := jsonrpc.String(v)
		if !ok {
			err = primitive.Errorf(primitive.InvalidArguments, "argument %s of a prompt must be a string", fmt.Sprintf("%.80q", k))
			return false
		}
		values[string(k)] = s
		return true
	})
	return values, err
}
