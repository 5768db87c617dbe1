package mcp

import (
	"github.com/mcphost/mcphost/host/jsonrpc"
)

// Params are the members of a request's params that some method reads, as the
// bytes that were received; nil is absent. What else there is, is ignored.
type Params struct {
	Meta []byte

	Name, URI, Cursor, Arguments []byte
	InputResponses, RequestState []byte

	// Of initialize.
	ProtocolVersion, Capabilities, ClientInfo []byte
	// Of completion/complete.
	Ref, Argument, Context []byte
	// Of the rest.
	Level, Notifications, RequestID []byte
}

// ReadParams finds the members of params, a valid JSON value or nil.
func ReadParams(params []byte) (p Params) {
	if params == nil || params[0] != '{' {
		return p
	}
	jsonrpc.Members(params, func(k, v []byte) bool {
		if dst := p.member(string(k)); dst != nil {
			*dst = v
		}
		return true
	})
	return p
}

func (p *Params) member(name string) *[]byte {
	switch name {
	case "_meta":
		return &p.Meta
	case "name":
		return &p.Name
	case "uri":
		return &p.URI
	case "cursor":
		return &p.Cursor
	case "arguments":
		return &p.Arguments
	case "inputResponses":
		return &p.InputResponses
	case "requestState":
		return &p.RequestState
	case "protocolVersion":
		return &p.ProtocolVersion
	case "capabilities":
		return &p.Capabilities
	case "clientInfo":
		return &p.ClientInfo
	case "ref":
		return &p.Ref
	case "argument":
		return &p.Argument
	case "context":
		return &p.Context
	case "level":
		return &p.Level
	case "notifications":
		return &p.Notifications
	case "requestId":
		return &p.RequestID
	}
	return nil
}

// Meta is the members of a request's _meta that the host reads, as received; nil is absent.
type Meta struct {
	ProtocolVersion    []byte // the claim: its presence makes a message modern or names a legacy revision
	ClientInfo         []byte
	ClientCapabilities []byte
	LogLevel           []byte
	ProgressToken      []byte
	Traceparent        []byte
	Tracestate         []byte
}

// ReadMeta finds the members of meta, a valid JSON value or nil.
func ReadMeta(meta []byte) (m Meta) {
	if meta == nil || meta[0] != '{' {
		return m
	}
	jsonrpc.Members(meta, func(k, v []byte) bool {
		switch string(k) {
		case MetaProtocolVersion:
			m.ProtocolVersion = v
		case MetaClientInfo:
			m.ClientInfo = v
		case MetaClientCapabilities:
			m.ClientCapabilities = v
		case MetaLogLevel:
			m.LogLevel = v
		case "progressToken":
			m.ProgressToken = v
		case "traceparent":
			m.Traceparent = v
		case "tracestate":
			m.Tracestate = v
		}
		return true
	})
	return m
}

// text decodes v if it is a string.
func text(v []byte) string {
	s, _ := jsonrpc.String(v)
	return s
}

// ValidToken reports whether v is a progress token: a string or an integer.
func ValidToken(v []byte) bool {
	if len(v) == 0 {
		return false
	}
	if v[0] == '"' {
		return true
	}
	for i, c := range v {
		if (c < '0' || c > '9') && (c != '-' || i > 0) {
			return false
		}
	}
	return true
}
