package mcp

import (
	"slices"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/primitive"
	"github.com/mcphost/mcphost/host/schema"
)

// dropped lists, for each member of a definition that came with some revision,
// the feature that carries it. Members that are not listed are kept in every
// revision, unknown ones included: re-export is lossless.
var dropped = map[primitive.Kind]map[string]Feature{
	primitive.KindTool: {
		"title": Titles, "_meta": Titles, "annotations": ToolAnnotations,
		"outputSchema": OutputSchema, "icons": Icons,
	},
	primitive.KindResource: {"title": Titles, "_meta": Titles, "icons": Icons},
	primitive.KindTemplate: {"title": Titles, "_meta": Titles, "icons": Icons},
	primitive.KindPrompt:   {"title": Titles, "_meta": Titles, "icons": Icons},
}

// Project appends the definition of p in the form of revision r: what r cannot
// carry is left out, all else is byte for byte what the source gave.
func Project(dst []byte, p *primitive.Primitive, r Revision) []byte {
	if r.Has(ModernEnvelope) {
		return append(dst, p.Definition...)
	}
	table := dropped[p.Kind]
	w := objectWriter{b: append(dst, '{')}
	jsonrpc.Members(p.Definition, func(k, v []byte) bool {
		name := string(k)
		f, listed := table[name]
		switch {
		case listed && !r.Has(f):
		case p.Kind == primitive.KindTool && name == "execution":
			// Tasks of 2025-11-25 are not served: without taskSupport a client must not ask for one.
		case p.Kind == primitive.KindTool && name == "inputSchema":
			w.raw(name, schema.Legacy(v))
		case p.Kind == primitive.KindTool && name == "outputSchema":
			w.raw(name, legacyOutputSchema(v))
		case p.Kind == primitive.KindPrompt && name == "arguments" && !r.Has(Titles):
			w.raw(name, withoutTitles(v))
		case name == "annotations" && p.Kind != primitive.KindTool:
			w.raw(name, projectAnnotations(v, r))
		default:
			w.raw(name, v)
		}
		return true
	})
	return append(w.b, '}')
}

// withoutTitles returns the arguments of a prompt without their titles.
func withoutTitles(args []byte) []byte {
	if !jsonrpc.IsArray(args) {
		return args
	}
	out := []byte{'['}
	jsonrpc.Elements(args, func(v []byte) bool {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, without(v, "title")...)
		return true
	})
	return append(out, ']')
}

// projectAnnotations returns the annotations of a resource or a block of content in the form of r.
func projectAnnotations(v []byte, r Revision) []byte {
	if r.Has(LastModified) {
		return v
	}
	return without(v, "lastModified")
}

// without returns the object obj without the named members.
func without(obj []byte, names ...string) []byte {
	if !jsonrpc.IsObject(obj) {
		return obj
	}
	w := objectWriter{b: []byte{'{'}}
	jsonrpc.Members(obj, func(k, v []byte) bool {
		if !slices.Contains(names, string(k)) {
			w.raw(string(k), v)
		}
		return true
	})
	return append(w.b, '}')
}

// legacyOutputSchema wraps a schema whose value is no object: legacy revisions
// demand one, and structuredContent is wrapped in the same way. References
// within the schema then start at the wrapped one: it becomes a resource of
// its own by an $id.
func legacyOutputSchema(root []byte) []byte {
	if schema.IsObjectRoot(root) {
		return schema.Legacy(root)
	}
	inner := root
	if jsonrpc.IsObject(root) && jsonrpc.Lookup(root, "$id") == nil {
		w := objectWriter{b: []byte(`{"$id":"urn:mcphost:result"`), n: 1}
		jsonrpc.Members(root, func(k, v []byte) bool {
			w.raw(string(k), v)
			return true
		})
		inner = append(w.b, '}')
	} else if !jsonrpc.IsObject(root) {
		inner = booleanSchema(root)
	}
	out := []byte(`{"type":"object","properties":{"result":`)
	out = append(out, schema.Legacy(inner)...)
	return append(out, `},"required":["result"]}`...)
}

func booleanSchema(v []byte) []byte {
	switch string(v) {
	case "true":
		return []byte("{}")
	case "false":
		return []byte(`{"not":{}}`)
	}
	return v
}

// An objectWriter appends members to an object that is open.
type objectWriter struct {
	b []byte
	n int // members so far
}

func (w *objectWriter) key(name string) {
	if w.n > 0 {
		w.b = append(w.b, ',')
	}
	w.n++
	w.b = jsonrpc.AppendString(w.b, name)
	w.b = append(w.b, ':')
}

// raw appends a member whose value is JSON.
func (w *objectWriter) raw(name string, v []byte) {
	w.key(name)
	w.b = jsonrpc.AppendLine(w.b, v)
}

// str appends a member whose value is a string.
func (w *objectWriter) str(name, v string) {
	w.key(name)
	w.b = jsonrpc.AppendString(w.b, v)
}

// optional appends a string member unless it is empty.
func (w *objectWriter) optional(name, v string) {
	if v != "" {
		w.str(name, v)
	}
}
