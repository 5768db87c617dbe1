package primitive

import (
	"context"
	"time"
)

// A Caller says who makes a use and what the client can do. It belongs to one
// message: nothing of it may be kept for the next.
type Caller struct {
	Principal Principal

	// Endpoint is the label of the local or web block that the client sees.
	Endpoint string
	// Transport is "stdio" or "http".
	Transport string
	// Revision is the protocol revision of the message, for example "2026-07-28".
	Revision string
	// Session is an opaque name of the legacy session; empty where there is none.
	Session string

	// ClientInfo is the client's own claim, a JSON object or nil: nothing to trust.
	ClientInfo []byte
	// ClientCapabilities is a JSON object, or nil for none.
	ClientCapabilities []byte
	// Meta is the request's _meta as received, a JSON object or nil.
	Meta []byte
	// Traceparent and Tracestate are those of the request, or empty.
	Traceparent, Tracestate string
}

// A Principal is who calls, as the host authenticated it.
type Principal struct {
	Subject string
	Issuer  string // empty for the local user
	Scopes  []string
	Claims  []byte // JSON object or nil
}

// A Use is one use of one primitive: a call, a read or a get.
type Use struct {
	Caller *Caller

	// CallID is the same through all rounds and attempts.
	CallID string

	// Arguments of a tool (a JSON object, checked to be one) or of a prompt (a
	// JSON object of strings). Nil for a resource and where none were given.
	Arguments []byte

	// URI is that of a resource, also where a template matched it.
	URI string

	// Inputs are the answers to the input requests of the round before, by key, as JSON.
	Inputs map[string][]byte
	// State is the source's own bytes of the round before, verified; nil if there were none.
	State []byte
	// Round counts rounds of input, from 0.
	Round int

	// Peer is where progress and logs go; nil if nobody asked for any.
	Peer Peer
}

// A Peer is the client of one use, as far as a source may speak to it while the
// use runs. Its methods do not block for long, may be called from one goroutine
// at a time, and do nothing after the use has ended.
type Peer interface {
	// WantsProgress reports whether progress is forwarded.
	WantsProgress() bool
	// LogLevel is the least level of logs that are forwarded; empty for none.
	LogLevel() string
	Progress(Progress)
	Log(Log)
}

// A Progress says how far a use has come.
type Progress struct {
	Progress float64
	Total    *float64
	Message  string
}

// A Log is one log message of a use for the client.
type Log struct {
	Level  string // one of the eight of RFC 5424, in lower case
	Logger string
	Data   []byte // JSON
}

// InputRequired says that a use can go on only with answers of the client.
type InputRequired struct {
	Requests []InputRequest // in the order to ask; may be empty if State is set
	State    []byte         // the source's own; nil is none
	// ExpiresAfter bounds how long State is good for; 0 leaves it to the host.
	ExpiresAfter time.Duration
	// SingleUse says that State may come back once.
	SingleUse bool
	// Sticky says that only the very process that answered can go on.
	Sticky bool
}

// An InputRequest is one question to a client.
type InputRequest struct {
	Key    string
	Method string // "elicitation/create", "sampling/createMessage" or "roots/list"
	Params []byte // JSON object
}

// A Content is one block of content. One of Text (with Type "text"), Data,
// Definition and Raw holds what it is.
type Content struct {
	Type ContentType

	Text     string // of ContentText
	Data     []byte // of ContentImage and ContentAudio, not encoded
	MIMEType string

	Link     []byte            // of ContentLink: a Resource object as JSON
	Resource *ResourceContents // of ContentResource

	Raw []byte // of ContentRaw: a whole block as JSON, of whatever type

	Annotations []byte // JSON or nil
	Meta        []byte // JSON or nil
}

// A ContentType is the type of a block of content.
type ContentType uint8

// The types of content.
const (
	ContentText ContentType = iota
	ContentImage
	ContentAudio
	ContentLink
	ContentResource
	ContentRaw
)

// ResourceContents is what a resource, or a part of one, holds.
type ResourceContents struct {
	URI      string
	MIMEType string
	Text     string
	Blob     []byte // not encoded; used when IsBlob is set
	IsBlob   bool
	Meta     []byte
}

// A ToolResult is what a call of a tool gave back.
type ToolResult struct {
	Input *InputRequired // if set, nothing else is

	Content    []Content
	Structured []byte // JSON, or nil
	IsError    bool   // the tool's own account of its failure
	Meta       []byte
	Raw        []byte // if set, a whole CallToolResult verbatim, and the rest is empty
}

// A ReadResult is what reading a resource gave back.
type ReadResult struct {
	Input *InputRequired // if set, nothing else is

	Contents []ResourceContents
	Cache    *CacheHint // nil: the host decides
	Meta     []byte
	Raw      []byte // if set, a whole ReadResourceResult verbatim
}

// A PromptResult is a prompt filled in.
type PromptResult struct {
	Input *InputRequired // if set, nothing else is

	Description string
	Messages    []PromptMessage
	Meta        []byte
	Raw         []byte // if set, a whole GetPromptResult verbatim
}

// A PromptMessage is one message of a prompt.
type PromptMessage struct {
	Role    string
	Content Content
}

// A Completion asks for proposals for an argument.
type Completion struct {
	Caller   *Caller
	Argument string
	Value    string
	Context  map[string]string // arguments that are already chosen
}

// A CompletionResult holds proposals, best first, at most 100.
type CompletionResult struct {
	Values  []string
	Total   *int64
	HasMore bool
}

// A Source serves primitives: a plugin. Its methods may be called concurrently
// and return when the use has ended or ctx is done. An error is an [*Error].
type Source interface {
	CallTool(ctx context.Context, p *Primitive, u *Use) (*ToolResult, error)
	// ReadResource reads u.URI, which p lists or, as a template, matches.
	ReadResource(ctx context.Context, p *Primitive, u *Use) (*ReadResult, error)
	GetPrompt(ctx context.Context, p *Primitive, u *Use) (*PromptResult, error)
	// Complete completes an argument of a prompt or a template.
	Complete(ctx context.Context, p *Primitive, c *Completion) (*CompletionResult, error)
}
