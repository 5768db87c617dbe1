package mcp

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/primitive"
)

// NewUse returns the use that x asks for. Its arguments are a JSON object, or
// a fault says what else they are.
func NewUse(x *Exchange) (*primitive.Use, *jsonrpc.Error) {
	u := &primitive.Use{Caller: x.Caller, CallID: NewCallID(), Arguments: x.Params.Arguments}
	if u.Arguments != nil && !jsonrpc.IsObject(u.Arguments) {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, "params.arguments must be an object")
	}
	return u, nil
}

// NewCallID returns an id for a call: unique, and nothing to guess from.
func NewCallID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails
	return hex.EncodeToString(b[:])
}

// A CompletionRequest is what completion/complete asks for.
type CompletionRequest struct {
	Kind primitive.Kind // a prompt or a template
	Key  string
	primitive.Completion
}

// NewCompletion reads the params of completion/complete (utilities/completion).
func NewCompletion(x *Exchange) (*CompletionRequest, *jsonrpc.Error) {
	c := &CompletionRequest{Completion: primitive.Completion{Caller: x.Caller}}
	p := &x.Params
	if p.Ref == nil || !jsonrpc.IsObject(p.Ref) || p.Argument == nil || !jsonrpc.IsObject(p.Argument) {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, "params.ref and params.argument must be objects")
	}
	var ok bool
	switch text(jsonrpc.Lookup(p.Ref, "type")) {
	case "ref/prompt":
		c.Kind = primitive.KindPrompt
		c.Key, ok = jsonrpc.String(jsonrpc.Lookup(p.Ref, "name"))
	case "ref/resource":
		c.Kind = primitive.KindTemplate
		c.Key, ok = jsonrpc.String(jsonrpc.Lookup(p.Ref, "uri"))
	}
	if !ok {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, `params.ref must be {"type":"ref/prompt","name":…} or {"type":"ref/resource","uri":…}`)
	}
	var named, valued bool
	c.Argument, named = jsonrpc.String(jsonrpc.Lookup(p.Argument, "name"))
	c.Value, valued = jsonrpc.String(jsonrpc.Lookup(p.Argument, "value"))
	if !named || !valued {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, "params.argument must have a name and a value, both strings")
	}
	if p.Context != nil && jsonrpc.IsObject(p.Context) {
		c.Context = stringMap(jsonrpc.Lookup(p.Context, "arguments"))
	}
	return c, nil
}

// stringMap reads an object of strings; what is no string is left out.
func stringMap(obj []byte) map[string]string {
	if obj == nil || !jsonrpc.IsObject(obj) {
		return nil
	}
	m := make(map[string]string)
	jsonrpc.Members(obj, func(k, v []byte) bool {
		if s, ok := jsonrpc.String(v); ok {
			m[string(k)] = s
		}
		return true
	})
	return m
}

// A capability that an input request needs of a client.
type clientCapability struct{ name, member string }

// NeededCapability returns the client capability that an input request needs,
// as a ClientCapabilities object, and whether caps, the client's, have it
// (patterns/mrtr; client/elicitation, "Capabilities").
func NeededCapability(caps []byte, q *primitive.InputRequest) (needed []byte, ok bool) {
	c := neededCapability(q)
	have := jsonrpc.Lookup(orEmpty(caps), c.name)
	if c.member == "" {
		return []byte(`{"` + c.name + `":{}}`), have != nil && jsonrpc.IsObject(have)
	}
	needed = []byte(`{"` + c.name + `":{"` + c.member + `":{}}}`)
	if have == nil || !jsonrpc.IsObject(have) {
		return needed, false
	}
	if c.member == "form" && jsonrpc.Lookup(have, "url") == nil {
		return needed, true // an empty object means form mode
	}
	return needed, jsonrpc.Lookup(have, c.member) != nil
}

func neededCapability(q *primitive.InputRequest) clientCapability {
	switch q.Method {
	case "elicitation/create":
		if text(jsonrpc.Lookup(orEmpty(q.Params), "mode")) == "url" {
			return clientCapability{"elicitation", "url"}
		}
		return clientCapability{"elicitation", "form"}
	case "sampling/createMessage":
		if jsonrpc.Lookup(orEmpty(q.Params), "tools") != nil {
			return clientCapability{"sampling", "tools"}
		}
		return clientCapability{"sampling", ""}
	}
	return clientCapability{"roots", ""}
}

// ValidInputMethod reports whether method may be an input request (patterns/mrtr).
func ValidInputMethod(method string) bool {
	switch method {
	case "elicitation/create", "sampling/createMessage", "roots/list":
		return true
	}
	return false
}

func orEmpty(obj []byte) []byte {
	if obj == nil {
		return []byte("{}")
	}
	return obj
}
