// Package mcp holds what both lineages of the Model Context Protocol share:
// the revisions and what each carries, the exchange that a message travels in,
// the table of faults, the limits, and the encoders that write a primitive or
// a result in the form of a revision.
//
// It moves no bytes and decides nothing: transports (mcp/stdio, mcp/streamhttp)
// bring messages, mcp/server routes them, mcp/modern and mcp/legacy answer.
package mcp

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/primitive"
)

// Keys of _meta that the specification reserves (basic/index, "General fields").
const (
	MetaProtocolVersion    = "io.modelcontextprotocol/protocolVersion"
	MetaClientInfo         = "io.modelcontextprotocol/clientInfo"
	MetaClientCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaLogLevel           = "io.modelcontextprotocol/logLevel"
	MetaSubscriptionID     = "io.modelcontextprotocol/subscriptionId"
	MetaServerInfo         = "io.modelcontextprotocol/serverInfo"
)

// A Responder is the way back for one message. Its methods may be called from
// one goroutine at a time and do not keep msg, which is one whole JSON-RPC
// message without line breaks.
type Responder interface {
	// Notify sends a message that precedes the response: a notification of the
	// request, or a request to the client that belongs to it. On HTTP the first
	// one turns the response into an event stream. An error means that the
	// client cannot be reached any more.
	Notify(msg []byte) error

	// Reply sends the one response. The status is for transports that have
	// one; it is ignored once Notify was called.
	Reply(msg []byte, status int)
}

// A Conn is the sender of messages, as far as ids must be unique within it: the
// pipe of stdio, a legacy HTTP session, or a single modern HTTP request.
type Conn struct {
	// Send sends a message that belongs to no request of the client. It is nil
	// where there is no way to: on modern HTTP. It may be called concurrently
	// and does not keep msg.
	Send func(msg []byte) error

	// legacy is the session of claim-less messages; nil until initialize.
	legacy atomic.Pointer[Session]
}

// Session returns the legacy session of c, nil before initialize.
func (c *Conn) Session() *Session { return c.legacy.Load() }

// Open makes s the legacy session of c; it reports false if there is one already.
func (c *Conn) Open(s *Session) bool { return c.legacy.CompareAndSwap(nil, s) }

// A Headers gives the headers of an HTTP request.
type Headers interface {
	// Values returns all values of the header name, in its canonical form, nil if it is absent.
	Values(name string) []string
}

// A SessionState is what a transport knows of the Mcp-Session-Id of a request.
type SessionState uint8

// The states of a session id.
const (
	SessionNone    SessionState = iota // there is no id
	SessionLive                        // the id names a session of this principal
	SessionUnknown                     // the id names none, or one that has ended
)

// An Exchange is one incoming body or line and the way back. The transport
// fills it; the server adds the message.
type Exchange struct {
	Endpoint  *Endpoint
	Conn      *Conn
	Principal primitive.Principal

	// Headers are nil on stdio; then the two below mean nothing.
	Headers Headers
	State   SessionState
	// NewSession, of HTTP transports, makes the session that an initialize
	// opened known under a new id, with a Conn of its own whose Send it gives
	// to the session, and puts the id into the response. An error means that
	// there are too many sessions. On stdio it is nil, and the session is Conn's.
	NewSession func(*Session) error

	Out Responder

	// What follows is filled by the server.

	Message *jsonrpc.Message
	Params  Params
	Meta    Meta
	Method  Method
	// Caller is who sent the message and what the client can do.
	Caller *primitive.Caller
	// WaitForPerson gives the slot of this request away until the returned
	// function is called; it may be nil.
	WaitForPerson func() (resume func())
}

// A Handler serves exchanges. Handle returns when x has been answered, if it
// is to be answered at all.
type Handler interface {
	Handle(ctx context.Context, x *Exchange)
}

// An Endpoint is a local or web block: what one client sees.
type Endpoint struct {
	Name      string // the label of the block
	Transport string // "stdio" or "http"
	Info      Implementation
	Catalog   Catalog
	Limits    Limits
	Sealer    Sealer
	Log       hclog.Logger

	pages pages
	info  [len(names)]atomic.Pointer[[]byte]

	closeInit, closeOnce sync.Once
	closing              chan struct{}
}

// Closing is closed when the endpoint begins to shut down: what stays open
// for long ends itself in order.
func (ep *Endpoint) Closing() <-chan struct{} {
	ep.closeInit.Do(func() { ep.closing = make(chan struct{}) })
	return ep.closing
}

// Close begins the shutdown; it does not wait. It may be called twice.
func (ep *Endpoint) Close() {
	ep.Closing()
	ep.closeOnce.Do(func() { close(ep.closing) })
}

// An Implementation names a program, ours or a client's.
type Implementation struct {
	Name, Version, Title, Description, WebsiteURL string
}

// A Catalog is what an endpoint offers; every use passes it, and with it
// access, limits and audit. Its methods may be called concurrently.
type Catalog interface {
	// View returns the current snapshot and what of it c may see.
	View(ctx context.Context, c *primitive.Caller) View

	CallTool(ctx context.Context, v View, name string, u *primitive.Use) (*primitive.ToolResult, error)
	ReadResource(ctx context.Context, v View, u *primitive.Use) (*primitive.ReadResult, error)
	GetPrompt(ctx context.Context, v View, name string, u *primitive.Use) (*primitive.PromptResult, error)
	// Complete completes an argument of the prompt or template with the given key.
	Complete(ctx context.Context, v View, k primitive.Kind, key string, c *primitive.Completion) (*primitive.CompletionResult, error)

	// Readable reports whether a resource or a template of v answers for uri.
	Readable(v View, uri string) bool

	// Subscribe returns a subscription to the changes that c may see; the
	// caller closes it. The catalog tells the sources which URIs are watched.
	Subscribe(c *primitive.Caller, want Interest) Subscription
}

// A View is a snapshot as one caller sees it.
type View struct {
	Snapshot *primitive.Snapshot
	// Hidden reports for each list, by index, what the caller must not see;
	// nil hides nothing, and the view is the same for every caller.
	Hidden func(k primitive.Kind, index int) bool
}

// An Interest is what a subscription is about.
type Interest struct {
	Tools, Prompts, Resources bool     // changes of the lists
	URIs                      []string // contents of resources
}

// A Subscription collects changes until they are taken. What is not taken in
// time coalesces: a list that changed twice is reported once, so that its
// memory is bounded by its interest.
type Subscription interface {
	// Ready is signalled when Take has something to give.
	Ready() <-chan struct{}
	// Take returns the changes since the last Take: lists and the URIs of resources.
	Take() Interest
	// Update changes the interest; changes that wait and are still of interest stay.
	Update(want Interest)
	// Close ends the subscription. It may be called twice.
	Close()
}

// A Sealer makes tokens that go through a client and come back unchanged or not at all.
type Sealer interface {
	// Seal returns a token for payload that opens under the same purpose and
	// binding only, until expires; the zero time is for ever.
	Seal(purpose string, binding, payload []byte, expires time.Time) string
	// Open returns the payload, false if the token does not verify.
	Open(purpose string, binding []byte, token string) ([]byte, bool)
	// Spend reports whether token is spent for the first time. It remembers
	// until expires, within a bound, and only in this process.
	Spend(token string, expires time.Time) bool
}

// A Front takes what transports bring. [*server.Server] is it.
type Front interface {
	// Accept takes one line or one body of at most MaxRequestSize bytes: it
	// parses and classifies it and answers what needs no work, in the order of
	// the calls. What is left is the returned Work; nil means that x is
	// settled, and that x.Out.Reply was called unless the rules want silence.
	// The Front may refer to body until the work has run.
	//
	// On HTTP everything is replied to: an accepted notification or response
	// is Reply(nil, 202).
	Accept(x *Exchange, body []byte) *Work
}

// Work is what is left to do for one exchange.
type Work struct {
	// Lineage says what a client that goes away means: on modern HTTP it
	// cancels the context of Run, on legacy it does not.
	Lineage Lineage
	// Run does the work and returns when x has been answered. It must be called once.
	Run func(ctx context.Context)
}
