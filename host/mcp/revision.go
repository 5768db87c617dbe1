package mcp

// A Revision is one dated version of the protocol that is served. The zero
// Revision is none of them.
type Revision uint8

// The revisions, oldest first.
const (
	R20241105 Revision = iota + 1
	R20250326
	R20250618
	R20251125
	R20260728
)

// names is the table of revisions: a revision string is opaque and never compared as text.
var names = [...]string{
	R20241105: "2024-11-05",
	R20250326: "2025-03-26",
	R20250618: "2025-06-18",
	R20251125: "2025-11-25",
	R20260728: "2026-07-28",
}

// Revisions lists all revisions, newest first, as server/discover and -32022 do.
var Revisions = [...]Revision{R20260728, R20251125, R20250618, R20250326, R20241105}

// LatestLegacy is what initialize answers to a client whose wish is not served.
const LatestLegacy = R20251125

// ParseRevision returns the revision named s.
func ParseRevision(s string) (Revision, bool) {
	for r := R20241105; r <= R20260728; r++ {
		if names[r] == s {
			return r, true
		}
	}
	return 0, false
}

// String returns the name on the wire.
func (r Revision) String() string {
	if r == 0 || int(r) >= len(names) {
		return "unknown"
	}
	return names[r]
}

// A Lineage is a family of revisions with the same rules for a connection.
type Lineage uint8

// The lineages.
const (
	Legacy Lineage = iota // a session opened by initialize
	Modern                // every message stands alone
)

// String returns "legacy" or "modern".
func (l Lineage) String() string {
	if l == Modern {
		return "modern"
	}
	return "legacy"
}

// Lineage returns the family of r.
func (r Revision) Lineage() Lineage {
	if r >= R20260728 {
		return Modern
	}
	return Legacy
}

// A Feature is something that revisions carry from some date on.
type Feature uint8

// The features whose first revision matters to what is sent.
const (
	ToolAnnotations Feature = iota
	AudioContent
	ProgressMessage
	CompletionsCap // capabilities.completions
	Titles         // title, _meta of primitives, Implementation.title
	OutputSchema   // and structuredContent
	ResourceLink   // content of type resource_link
	CompletionContext
	LastModified // annotations.lastModified
	Elicitation  // of mode form
	SamplingAudio
	Icons // and Implementation.description, websiteUrl
	ElicitationURL
	ElicitationDefaults // of strings, numbers and enums
	MultiSelectEnums    // and titled ones
	SamplingArrays      // content as an array, tools, _meta in messages
	StreamPriming       // SSE priming events and retry
	AnySchemaRoot       // output schemas that are no objects, boolean subschemas
	ModernEnvelope      // resultType, cache hints, serverInfo in _meta
)

// since is the first revision of each feature.
var since = [...]Revision{
	ToolAnnotations:     R20250326,
	AudioContent:        R20250326,
	ProgressMessage:     R20250326,
	CompletionsCap:      R20250326,
	SamplingAudio:       R20250326,
	Titles:              R20250618,
	OutputSchema:        R20250618,
	ResourceLink:        R20250618,
	CompletionContext:   R20250618,
	LastModified:        R20250618,
	Elicitation:         R20250618,
	Icons:               R20251125,
	ElicitationURL:      R20251125,
	ElicitationDefaults: R20251125,
	MultiSelectEnums:    R20251125,
	SamplingArrays:      R20251125,
	StreamPriming:       R20251125,
	AnySchemaRoot:       R20260728,
	ModernEnvelope:      R20260728,
}

// Has reports whether r carries f.
func (r Revision) Has(f Feature) bool { return r >= since[f] }

// Batching reports whether r has JSON-RPC batches, as one revision alone does.
func (r Revision) Batching() bool { return r == R20250326 }
