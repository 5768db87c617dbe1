package mcp

import "github.com/mcphost/mcphost/host/primitive"

// A Feature group that a method belongs to; it answers only where the endpoint
// advertises the capability of that name.
type capability uint8

const (
	always capability = iota
	capTools
	capPrompts
	capResources
	capCompletions
	capLogging
	capSubscribe // resources.subscribe
)

// A Method is one row of the table of requests that are served.
type Method struct {
	Name string
	// First and Last are the revisions that have it, both included.
	First, Last Revision
	// Inline methods only touch the session; they are answered in the order in
	// which they came, and need no slot.
	Inline bool
	// Long methods stay open; they have a bound of their own.
	Long bool
	// Mirror is the member of params that Mcp-Name repeats; empty for none.
	Mirror string

	needs capability
}

// methods is the table; what is not in it is -32601 everywhere.
var methods = map[string]Method{}

func row(m Method) Method { methods[m.Name] = m; return m }

// The methods, and the revisions that have them (docs/design/protocol.md).
var (
	MethodInitialize    = row(Method{Name: "initialize", First: R20241105, Last: R20251125, Inline: true})
	MethodPing          = row(Method{Name: "ping", First: R20241105, Last: R20251125, Inline: true})
	MethodSetLevel      = row(Method{Name: "logging/setLevel", First: R20241105, Last: R20251125, Inline: true, needs: capLogging})
	MethodSubscribe     = row(Method{Name: "resources/subscribe", First: R20241105, Last: R20251125, needs: capSubscribe})
	MethodUnsubscribe   = row(Method{Name: "resources/unsubscribe", First: R20241105, Last: R20251125, needs: capSubscribe})
	MethodDiscover      = row(Method{Name: "server/discover", First: R20260728, Last: R20260728})
	MethodListen        = row(Method{Name: "subscriptions/listen", First: R20260728, Last: R20260728, Long: true})
	MethodListTools     = row(Method{Name: "tools/list", First: R20241105, Last: R20260728, needs: capTools})
	MethodCallTool      = row(Method{Name: "tools/call", First: R20241105, Last: R20260728, Mirror: "name", needs: capTools})
	MethodListPrompts   = row(Method{Name: "prompts/list", First: R20241105, Last: R20260728, needs: capPrompts})
	MethodGetPrompt     = row(Method{Name: "prompts/get", First: R20241105, Last: R20260728, Mirror: "name", needs: capPrompts})
	MethodListResources = row(Method{Name: "resources/list", First: R20241105, Last: R20260728, needs: capResources})
	MethodListTemplates = row(Method{Name: "resources/templates/list", First: R20241105, Last: R20260728, needs: capResources})
	MethodReadResource  = row(Method{Name: "resources/read", First: R20241105, Last: R20260728, Mirror: "uri", needs: capResources})
	MethodComplete      = row(Method{Name: "completion/complete", First: R20241105, Last: R20260728, needs: capCompletions})
)

// LookupMethod returns the method that a request of revision r names, if r has it.
func LookupMethod(name string, r Revision) (Method, bool) {
	m, ok := methods[name]
	return m, ok && r >= m.First && r <= m.Last
}

// IsLong reports whether name is that of a method whose requests stay open.
func IsLong(name string) bool { return methods[name].Long }

// Advertised reports whether s offers what m needs: a method whose capability
// is not advertised is -32601 (server/discover, "capabilities").
func (m Method) Advertised(s *primitive.Snapshot) bool {
	switch m.needs {
	case always, capTools:
		return true
	case capPrompts:
		return s.HasPrompts
	case capResources:
		return s.HasResources
	case capCompletions:
		return s.Completions
	case capLogging:
		return s.Logging
	case capSubscribe:
		return s.ResourceUpdates
	}
	return false
}

// ListKind returns the kind of primitive that the list method named name lists.
func ListKind(name string) (primitive.Kind, bool) {
	switch name {
	case MethodListTools.Name:
		return primitive.KindTool, true
	case MethodListResources.Name:
		return primitive.KindResource, true
	case MethodListTemplates.Name:
		return primitive.KindTemplate, true
	case MethodListPrompts.Name:
		return primitive.KindPrompt, true
	}
	return 0, false
}

// listMembers is the member of a list result that holds the list.
var listMembers = [...]string{
	primitive.KindTool:     "tools",
	primitive.KindResource: "resources",
	primitive.KindTemplate: "resourceTemplates",
	primitive.KindPrompt:   "prompts",
}
