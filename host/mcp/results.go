package mcp

import (
	"strconv"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/primitive"
	"github.com/mcphost/mcphost/host/schema"
)

// An Encoder writes results in the form of one revision: the one table of what
// a client sees. What it returns is the result object, not the response.
type Encoder struct {
	Revision Revision
	// ServerInfo is our Implementation as JSON; modern results carry it in _meta.
	ServerInfo []byte
}

// Empty appends a result that says nothing but that it is complete.
func (e Encoder) Empty(b []byte) []byte {
	return e.close(objectWriter{b: append(b, '{')}, nil)
}

// ToolResult appends what a call of p gave back.
func (e Encoder) ToolResult(b []byte, p *primitive.Primitive, res *primitive.ToolResult) []byte {
	if res.Raw != nil {
		return e.rawToolResult(b, p, res.Raw)
	}
	w := objectWriter{b: append(b, '{')}
	w.key("content")
	w.b = appendContents(w.b, res.Content, e.Revision)
	if res.Structured != nil {
		e.structured(&w, p, res.Structured)
	}
	if res.IsError {
		w.raw("isError", []byte("true"))
	}
	return e.close(w, res.Meta)
}

// structured writes structuredContent, wrapped where the revision demands an object.
func (e Encoder) structured(w *objectWriter, p *primitive.Primitive, v []byte) {
	switch {
	case !e.Revision.Has(OutputSchema):
	case !e.Revision.Has(AnySchemaRoot) && wrapped(p, v):
		w.key("structuredContent")
		w.b = append(w.b, `{"result":`...)
		w.b = jsonrpc.AppendLine(w.b, v)
		w.b = append(w.b, '}')
	default:
		w.raw("structuredContent", v)
	}
}

// wrapped reports whether legacy revisions get v, a structured result of p, as
// the member of an object: as its output schema is (see legacyOutputSchema).
func wrapped(p *primitive.Primitive, v []byte) bool {
	if p != nil && p.OutputSchema != nil {
		return !schema.IsObjectRoot(p.OutputSchema)
	}
	return !jsonrpc.IsObject(v)
}

func (e Encoder) rawToolResult(b []byte, p *primitive.Primitive, raw []byte) []byte {
	return e.raw(b, raw, func(w *objectWriter, name string, v []byte) bool {
		switch name {
		case "structuredContent":
			e.structured(w, p, v)
			return true
		case "content":
			w.key(name)
			w.b = e.rawContents(w.b, v)
			return true
		}
		return false
	})
}

func (e Encoder) rawContents(b, blocks []byte) []byte {
	if e.Revision.Has(ModernEnvelope) || !jsonrpc.IsArray(blocks) {
		return jsonrpc.AppendLine(b, blocks)
	}
	b = append(b, '[')
	n := 0
	jsonrpc.Elements(blocks, func(v []byte) bool {
		if n > 0 {
			b = append(b, ',')
		}
		n++
		b = appendRawContent(b, v, e.Revision)
		return true
	})
	return append(b, ']')
}

// raw appends a whole result that came as JSON, less what belongs to the
// envelope of the source's own revision. special may write a member itself.
func (e Encoder) raw(b, raw []byte, special func(w *objectWriter, name string, v []byte) bool) []byte {
	var meta []byte
	w := objectWriter{b: append(b, '{')}
	jsonrpc.Members(raw, func(k, v []byte) bool {
		switch name := string(k); name {
		case "_meta":
			meta = v
		case "resultType", "ttlMs", "cacheScope":
		default:
			if !special(&w, name, v) {
				w.raw(name, v)
			}
		}
		return true
	})
	return e.close(w, meta)
}

// ReadResult appends what reading a resource gave back.
func (e Encoder) ReadResult(b []byte, res *primitive.ReadResult) []byte {
	hint := primitive.CacheHint{}
	if res.Cache != nil {
		hint = *res.Cache
	}
	if res.Raw != nil {
		return e.withHint(e.raw(b, res.Raw, func(*objectWriter, string, []byte) bool { return false }), hint)
	}
	w := objectWriter{b: append(b, '{')}
	w.key("contents")
	w.b = append(w.b, '[')
	for i := range res.Contents {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b = appendResourceContents(w.b, &res.Contents[i], e.Revision)
	}
	w.b = append(w.b, ']')
	return e.withHint(e.close(w, res.Meta), hint)
}

// PromptResult appends a prompt filled in.
func (e Encoder) PromptResult(b []byte, res *primitive.PromptResult) []byte {
	if res.Raw != nil {
		return e.raw(b, res.Raw, func(w *objectWriter, name string, v []byte) bool {
			if name != "messages" || e.Revision.Has(ModernEnvelope) || !jsonrpc.IsArray(v) {
				return false
			}
			w.key(name)
			w.b = e.rawMessages(w.b, v)
			return true
		})
	}
	w := objectWriter{b: append(b, '{')}
	w.optional("description", res.Description)
	w.key("messages")
	w.b = append(w.b, '[')
	for i := range res.Messages {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		m := objectWriter{b: append(w.b, '{')}
		m.str("role", res.Messages[i].Role)
		m.key("content")
		w.b = append(appendContent(m.b, &res.Messages[i].Content, e.Revision), '}')
	}
	w.b = append(w.b, ']')
	return e.close(w, res.Meta)
}

func (e Encoder) rawMessages(b, messages []byte) []byte {
	b = append(b, '[')
	n := 0
	jsonrpc.Elements(messages, func(v []byte) bool {
		if n > 0 {
			b = append(b, ',')
		}
		n++
		m := objectWriter{b: append(b, '{')}
		jsonrpc.Members(v, func(k, v []byte) bool {
			if string(k) == "content" {
				m.key("content")
				m.b = appendRawContent(m.b, v, e.Revision)
			} else {
				m.raw(string(k), v)
			}
			return true
		})
		b = append(m.b, '}')
		return true
	})
	return append(b, ']')
}

// MaxCompletions is how many proposals one result may carry (utilities/completion).
const MaxCompletions = 100

// Completion appends proposals for an argument.
func (e Encoder) Completion(b []byte, res *primitive.CompletionResult) []byte {
	values := res.Values[:min(len(res.Values), MaxCompletions)]
	w := objectWriter{b: append(b, '{')}
	w.key("completion")
	w.b = append(w.b, `{"values":[`...)
	for i, v := range values {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b = jsonrpc.AppendString(w.b, v)
	}
	w.b = append(w.b, ']')
	if res.Total != nil {
		w.b = append(w.b, `,"total":`...)
		w.b = strconv.AppendInt(w.b, *res.Total, 10)
	}
	w.b = append(w.b, `,"hasMore":`...)
	w.b = strconv.AppendBool(w.b, res.HasMore || len(values) < len(res.Values))
	w.b = append(w.b, '}')
	return e.close(w, nil)
}

// Page appends one page of the list of kind k.
func (e Encoder) Page(b []byte, k primitive.Kind, items [][]byte, next string, hint primitive.CacheHint) []byte {
	w := objectWriter{b: append(b, '{')}
	w.key(listMembers[k])
	w.b = append(w.b, '[')
	for i, item := range items {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b = append(w.b, item...)
	}
	w.b = append(w.b, ']')
	w.optional("nextCursor", next)
	return e.withHint(e.close(w, nil), hint)
}

// close ends a result with what the revision wants on every one of them: on
// modern resultType (basic/index, "Responses") and serverInfo in _meta.
func (e Encoder) close(w objectWriter, meta []byte) []byte {
	if !e.Revision.Has(ModernEnvelope) {
		if meta != nil {
			w.raw("_meta", meta)
		}
		return append(w.b, '}')
	}
	w.raw("resultType", []byte(`"complete"`))
	return append(e.meta(w, meta).b, '}')
}

// meta writes _meta with ours in it; what the source says of itself there is not ours to repeat.
func (e Encoder) meta(w objectWriter, meta []byte) objectWriter {
	w.key("_meta")
	m := objectWriter{b: append(w.b, '{')}
	if meta != nil {
		jsonrpc.Members(meta, func(k, v []byte) bool {
			if string(k) != MetaServerInfo && string(k) != MetaSubscriptionID {
				m.raw(string(k), v)
			}
			return true
		})
	}
	m.raw(MetaServerInfo, e.ServerInfo)
	w.b = append(m.b, '}')
	return w
}

// withHint adds ttlMs and cacheScope to a finished result of a cacheable
// method; legacy revisions have neither (utilities/caching).
func (e Encoder) withHint(result []byte, hint primitive.CacheHint) []byte {
	if !e.Revision.Has(ModernEnvelope) {
		return result
	}
	b := append(result[:len(result)-1], `,"ttlMs":`...)
	b = strconv.AppendInt(b, max(0, hint.TTL.Milliseconds()), 10)
	if hint.Public {
		return append(b, `,"cacheScope":"public"}`...)
	}
	return append(b, `,"cacheScope":"private"}`...)
}

// Discovered appends the members that end a result of server/discover, and its brace.
func (e Encoder) Discovered(b []byte, hint primitive.CacheHint) []byte {
	w := objectWriter{b: b}
	w.raw("resultType", []byte(`"complete"`))
	b = e.withHint(append(e.meta(w, nil).b, '}'), hint)
	return b
}

// JSON returns i as revision r has it.
func (i Implementation) JSON(r Revision) []byte {
	w := objectWriter{b: []byte{'{'}}
	w.str("name", i.Name)
	w.str("version", i.Version)
	if r.Has(Titles) {
		w.optional("title", i.Title)
	}
	if r.Has(Icons) {
		w.optional("description", i.Description)
		w.optional("websiteUrl", i.WebsiteURL)
	}
	return append(w.b, '}')
}

// CapabilitiesJSON returns the capabilities that s has in revision r.
func CapabilitiesJSON(s *primitive.Snapshot, r Revision) []byte {
	w := objectWriter{b: []byte{'{'}}
	if s.Completions && r.Has(CompletionsCap) {
		w.raw("completions", []byte("{}"))
	}
	if s.Logging {
		w.raw("logging", []byte("{}"))
	}
	if s.HasPrompts {
		w.raw("prompts", []byte(`{"listChanged":true}`))
	}
	if s.HasResources {
		if s.ResourceUpdates {
			w.raw("resources", []byte(`{"listChanged":true,"subscribe":true}`))
		} else {
			w.raw("resources", []byte(`{"listChanged":true}`))
		}
	}
	w.raw("tools", []byte(`{"listChanged":true}`))
	return append(w.b, '}')
}
