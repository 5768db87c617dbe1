package mcp

import (
	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/primitive"
)

// Question returns the params of an input request in the form of the legacy
// revision r, and false if r or the client's capabilities cannot take it: a
// kind that was not declared MUST NOT be sent.
func Question(q *primitive.InputRequest, r Revision, caps []byte) ([]byte, bool) {
	if _, ok := NeededCapability(caps, q); !ok {
		return nil, false
	}
	params := orEmpty(q.Params)
	switch q.Method {
	case "elicitation/create":
		return elicitation(params, r)
	case "sampling/createMessage":
		return sampling(params, r)
	}
	if q.Params == nil {
		return nil, true
	}
	return params, true
}

// elicitation converts the params of elicitation/create.
func elicitation(params []byte, r Revision) ([]byte, bool) {
	if !r.Has(Elicitation) {
		return nil, false
	}
	if text(jsonrpc.Lookup(params, "mode")) == "url" {
		if !r.Has(ElicitationURL) {
			return nil, false
		}
		// 2025-11-25 alone demands an id for it.
		w := objectWriter{b: []byte{'{'}}
		jsonrpc.Members(params, func(k, v []byte) bool {
			w.raw(string(k), v)
			return true
		})
		if jsonrpc.Lookup(params, "elicitationId") == nil {
			w.str("elicitationId", NewCallID())
		}
		return append(w.b, '}'), true
	}
	if r.Has(ElicitationURL) {
		return params, true
	}
	w := objectWriter{b: []byte{'{'}}
	ok := true
	jsonrpc.Members(params, func(k, v []byte) bool {
		switch name := string(k); name {
		case "mode":
		case "requestedSchema":
			var schema []byte
			if schema, ok = flatSchema(v); ok {
				w.raw(name, schema)
			}
		default:
			w.raw(name, v)
		}
		return ok
	})
	return append(w.b, '}'), ok
}

// flatSchema converts a requested schema to 2025-06-18: titled choices become
// enum and enumNames, defaults stay on booleans only, and a choice of several,
// which that revision does not have, cannot be asked for.
func flatSchema(schema []byte) ([]byte, bool) {
	ok := true
	w := objectWriter{b: []byte{'{'}}
	jsonrpc.Members(schema, func(k, v []byte) bool {
		if string(k) != "properties" || !jsonrpc.IsObject(v) {
			if string(k) != "$schema" {
				w.raw(string(k), v)
			}
			return true
		}
		p := objectWriter{b: []byte{'{'}}
		jsonrpc.Members(v, func(k, v []byte) bool {
			var property []byte
			if property, ok = flatProperty(v); ok {
				p.raw(string(k), property)
			}
			return ok
		})
		w.raw("properties", append(p.b, '}'))
		return ok
	})
	return append(w.b, '}'), ok
}

func flatProperty(property []byte) ([]byte, bool) {
	if !jsonrpc.IsObject(property) {
		return property, true
	}
	kind := text(jsonrpc.Lookup(property, "type"))
	if kind == "array" {
		return nil, false
	}
	w := objectWriter{b: []byte{'{'}}
	jsonrpc.Members(property, func(k, v []byte) bool {
		switch name := string(k); {
		case name == "oneOf" && jsonrpc.IsArray(v):
			w.choices(v)
		case name == "default" && kind != "boolean":
		default:
			w.raw(name, v)
		}
		return true
	})
	return append(w.b, '}'), true
}

// choices writes titled choices as enum and enumNames.
func (w *objectWriter) choices(oneOf []byte) {
	values, names := []byte{'['}, []byte{'['}
	jsonrpc.Elements(oneOf, func(v []byte) bool {
		c := jsonrpc.Lookup(v, "const")
		if c == nil {
			return true
		}
		title := jsonrpc.Lookup(v, "title")
		if title == nil {
			title = c
		}
		if len(values) > 1 {
			values, names = append(values, ','), append(names, ',')
		}
		values, names = append(values, c...), append(names, title...)
		return true
	})
	w.raw("enum", append(values, ']'))
	w.raw("enumNames", append(names, ']'))
}

// sampling converts the params of sampling/createMessage: content as an array
// and tools came with 2025-11-25, audio with 2025-03-26.
func sampling(params []byte, r Revision) ([]byte, bool) {
	if r.Has(SamplingArrays) {
		return params, true
	}
	ok := jsonrpc.Lookup(params, "tools") == nil
	w := objectWriter{b: []byte{'{'}}
	jsonrpc.Members(params, func(k, v []byte) bool {
		if string(k) != "messages" || !jsonrpc.IsArray(v) {
			w.raw(string(k), v)
			return true
		}
		w.key("messages")
		w.b = append(w.b, '[')
		n := 0
		jsonrpc.Elements(v, func(m []byte) bool {
			ok = ok && w.message(m, r, &n)
			return ok
		})
		w.b = append(w.b, ']')
		return ok
	})
	return append(w.b, '}'), ok
}

// message writes one sampling message, split into one for each block of content.
func (w *objectWriter) message(m []byte, r Revision, n *int) bool {
	role, content := jsonrpc.Lookup(m, "role"), jsonrpc.Lookup(m, "content")
	if role == nil || content == nil {
		return false
	}
	ok := true
	one := func(block []byte) bool {
		kind := text(jsonrpc.Lookup(block, "type"))
		if ok = kind == "text" || kind == "image" || kind == "audio" && r.Has(SamplingAudio); !ok {
			return false
		}
		if *n > 0 {
			w.b = append(w.b, ',')
		}
		*n++
		out := objectWriter{b: append(w.b, '{')}
		out.raw("role", role)
		out.key("content")
		w.b = append(appendRawContent(out.b, block, r), '}')
		return true
	}
	if jsonrpc.IsArray(content) {
		jsonrpc.Elements(content, one)
	} else {
		one(content)
	}
	return ok
}
