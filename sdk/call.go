package sdk

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/hashicorp/go-hclog"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// A Call is one use of a tool, a resource or a prompt: who asks, and what can be said to them meanwhile.
// It must not be kept after the handler returned.
type Call struct {
	plugin  *Plugin
	context *pluginv1.CallContext
	answers map[string][]byte // of the client, to the requests of the round before
	state   []byte
	subject string

	mu     sync.Mutex // guards what follows
	send   func(*pluginv1.CallToolStreamResponse) error
	last   float64 // progress that was sent
	memory *memory // of the rounds, parsed when it is first needed
	input  *pluginv1.InputRequired
	clash  bool // two questions had one key
}

// Principal is who calls, as the host authenticated them.
type Principal struct {
	Subject string
	Issuer  string
	Scopes  []string
	Claims  json.RawMessage // nil: none
}

// HasScope reports whether the principal has the scope.
func (p Principal) HasScope(scope string) bool { return slices.Contains(p.Scopes, scope) }

// Client is what the client says about itself. Nothing of it can be trusted.
type Client struct {
	Name         string
	Title        string
	Version      string
	Info         json.RawMessage // the whole
	Capabilities json.RawMessage
}

// ID returns the id of the call, the same through all its rounds and retries.
func (c *Call) ID() string { return c.context.GetCallId() }

// Principal returns who calls.
func (c *Call) Principal() Principal {
	p := c.context.GetPrincipal()
	return Principal{Subject: p.GetSubject(), Issuer: p.GetIssuer(), Scopes: p.GetScopes(), Claims: p.GetClaimsJson()}
}

// Client returns what the client says about itself.
func (c *Call) Client() Client {
	info := c.context.GetClientInfoJson()
	client := Client{Info: info, Capabilities: c.context.GetClientCapabilitiesJson()}
	var names struct{ Name, Title, Version string }
	if json.Unmarshal(info, &names) == nil {
		client.Name, client.Title, client.Version = names.Name, names.Title, names.Version
	}
	return client
}

// Supports reports whether the client declared a capability, "elicitation", "sampling" or "roots" say.
func (c *Call) Supports(capability string) bool {
	var declared map[string]json.RawMessage
	if json.Unmarshal(c.context.GetClientCapabilitiesJson(), &declared) != nil {
		return false
	}
	_, ok := declared[capability]
	return ok
}

// ProtocolVersion returns the revision of MCP that the client speaks.
func (c *Call) ProtocolVersion() string { return c.context.GetProtocolVersion() }

// Session returns the client's session, or "" where the protocol has none.
func (c *Call) Session() string { return c.context.GetSession() }

// Round returns how often the call was answered with questions before: 0 the first time.
func (c *Call) Round() int { return int(c.context.GetRound()) }

// Attempt returns how often the call was tried before, after a crash: 0 the first time.
func (c *Call) Attempt() int { return int(c.context.GetAttempt()) }

// Traceparent returns the W3C trace context of the call, or "".
func (c *Call) Traceparent() string { return c.context.GetTraceparent() }

// Tracestate returns the W3C trace state of the call, or "".
func (c *Call) Tracestate() string { return c.context.GetTracestate() }

// Meta returns the request's _meta less the protocol's own keys, or nil.
func (c *Call) Meta() json.RawMessage { return c.context.GetMetaJson() }

// Endpoint returns the name of the local or web block that the caller sees.
func (c *Call) Endpoint() string { return c.context.GetEndpoint() }

// Transport returns "stdio" or "http".
func (c *Call) Transport() string { return c.context.GetTransport() }

// Handle returns the name that the operator gave the plugin, or "" before Configure.
func (c *Call) Handle() string {
	if s := c.plugin.setup.Load(); s != nil {
		return s.handle
	}
	return ""
}

// DataDir returns the folder that is the plugin's own and is kept across restarts, or "" before Configure.
func (c *Call) DataDir() string {
	if s := c.plugin.setup.Load(); s != nil {
		return s.dataDir
	}
	return ""
}

// Secret returns a secret that the operator handed to the plugin.
func (c *Call) Secret(name string) (string, bool) {
	s := c.plugin.setup.Load()
	if s == nil {
		return "", false
	}
	value, ok := s.secrets[name]
	return value, ok
}

// Logger returns the operator's log, bound to the call. What the client shall see goes through [Call.Log].
func (c *Call) Logger() hclog.Logger {
	return c.plugin.log.With("primitive", c.subject, "request", c.ID())
}

// InputResponses returns the client's answers to the requests of the round before, by key. [Elicit] and its
// like read them by themselves.
func (c *Call) InputResponses() map[string]json.RawMessage {
	responses := make(map[string]json.RawMessage, len(c.answers))
	for key, answer := range c.answers {
		responses[key] = answer
	}
	return responses
}

// State returns the state of the [InputRequired] that the round before ended with, byte for byte, or nil. The
// host verified it.
func (c *Call) State() []byte { return c.state }
