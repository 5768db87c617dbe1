// Package primitive holds the words that the whole host shares: what a tool,
// a resource, a resource template and a prompt are, what a use of one is, how
// it can end, and what a source of them must do.
//
// It imports nothing of the host, so every other package may import it, and it
// knows no protocol revision: everything is in the form of the newest revision
// and JSON travels as the bytes that were received.
package primitive

import (
	"fmt"
	"time"
)

// A Kind is one of the four kinds of primitive.
type Kind uint8

// The kinds of primitive.
const (
	KindTool Kind = iota
	KindResource
	KindTemplate
	KindPrompt
)

// Kinds lists all kinds, for tables and tests.
var Kinds = [...]Kind{KindTool, KindResource, KindTemplate, KindPrompt}

// String returns the word for k in messages: "tool", "resource", "resource template" or "prompt".
func (k Kind) String() string {
	switch k {
	case KindTool:
		return "tool"
	case KindResource:
		return "resource"
	case KindTemplate:
		return "resource template"
	case KindPrompt:
		return "prompt"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// A Primitive is one entry of a catalog. It is immutable once it is part of a [Snapshot].
type Primitive struct {
	Kind Kind

	// Key is what a client names: the served name of a tool or a prompt, the
	// URI of a resource, the URI template of a template. Unique per kind in a
	// snapshot, whose lists are sorted by it.
	Key string

	// Own is the name that the source gave it. Sources, rules, globs and hooks
	// see this one, never Key.
	Own string

	// Definition is the whole MCP object as a client of the newest revision
	// gets it, with the served name: one JSON object on one line.
	Definition []byte

	// InputSchema and OutputSchema are those of a tool, JSON Schema; they may
	// alias Definition. OutputSchema is nil where the tool declares none.
	InputSchema, OutputSchema []byte

	// Hints of a tool; nil is unknown.
	ReadOnly, Destructive, Idempotent, OpenWorld *bool

	// Arguments are those of a prompt that must be given.
	RequiredArguments []string

	// Timeout bounds one call of a tool; 0 leaves it to the handle.
	Timeout time.Duration

	// Headers are the arguments that modern HTTP clients mirror into Mcp-Param headers.
	Headers []HeaderParam

	// CheckArguments says what is wrong with the arguments of a call, and
	// CheckStructured with a structured result; nil accepts everything. Their
	// errors are for clients.
	CheckArguments, CheckStructured func(json []byte) error

	// Matches reports whether a URI is one of a template; nil matches nothing.
	Matches func(uri string) bool

	// Source serves it.
	Source Source
}

// A HeaderParam is one valid x-mcp-header annotation of an input schema.
type HeaderParam struct {
	Name string   // as annotated; the header is "Mcp-Param-" + Name
	Path []string // of the argument, from the root of the arguments
	Type string   // "string", "integer" or "boolean"
}

// A CacheHint says how long and for whom a client may keep a result.
type CacheHint struct {
	TTL    time.Duration
	Public bool // the same for every caller; false is private
}

// A Snapshot is everything that one endpoint offers at one moment. It never
// changes; the lists are sorted by Key and must not be modified.
type Snapshot struct {
	Tools, Resources, Templates, Prompts []*Primitive

	// What some source of the endpoint announced; tools are always offered.
	HasResources    bool // and templates
	HasPrompts      bool
	Completions     bool
	Logging         bool
	ResourceUpdates bool

	// Instructions for the model, composed of the server's and the plugins'.
	Instructions string

	// Lists is the hint for the four lists.
	Lists CacheHint
}

// List returns the list of kind k.
func (s *Snapshot) List(k Kind) []*Primitive {
	switch k {
	case KindTool:
		return s.Tools
	case KindResource:
		return s.Resources
	case KindTemplate:
		return s.Templates
	case KindPrompt:
		return s.Prompts
	}
	return nil
}

// Lookup returns the primitive of kind k with the given key.
func (s *Snapshot) Lookup(k Kind, key string) (*Primitive, bool) {
	list := s.List(k)
	lo, hi := 0, len(list)
	for lo < hi {
		if mid := (lo + hi) / 2; list[mid].Key < key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(list) && list[lo].Key == key {
		return list[lo], true
	}
	return nil, false
}
