package mcp

import (
	"encoding/base64"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/primitive"
)

// appendContents appends an array of blocks in the form of r.
func appendContents(b []byte, blocks []primitive.Content, r Revision) []byte {
	b = append(b, '[')
	for i := range blocks {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendContent(b, &blocks[i], r)
	}
	return append(b, ']')
}

// appendContent appends one block in the form of r: a type that r does not
// know becomes the nearest that it does.
func appendContent(b []byte, c *primitive.Content, r Revision) []byte {
	w := objectWriter{b: append(b, '{')}
	switch c.Type {
	case primitive.ContentText:
		w.raw("type", []byte(`"text"`))
		w.str("text", c.Text)
	case primitive.ContentImage:
		w.raw("type", []byte(`"image"`))
		w.blob("data", c.Data)
		w.str("mimeType", c.MIMEType)
	case primitive.ContentAudio:
		if !r.Has(AudioContent) {
			w.resource(&primitive.ResourceContents{URI: audioURI, MIMEType: c.MIMEType, Blob: c.Data, IsBlob: true}, r)
			break
		}
		w.raw("type", []byte(`"audio"`))
		w.blob("data", c.Data)
		w.str("mimeType", c.MIMEType)
	case primitive.ContentLink:
		w.link(c.Link, r)
	case primitive.ContentResource:
		w.resource(c.Resource, r)
	case primitive.ContentRaw:
		return appendRawContent(b, c.Raw, r)
	}
	if c.Annotations != nil {
		w.raw("annotations", projectAnnotations(c.Annotations, r))
	}
	if c.Meta != nil && r.Has(Titles) {
		w.raw("_meta", c.Meta)
	}
	return append(w.b, '}')
}

// audioURI names audio that a client of 2024-11-05 gets as an embedded resource.
const audioURI = "urn:mcphost:audio"

func (w *objectWriter) blob(name string, data []byte) {
	w.key(name)
	w.b = append(w.b, '"')
	w.b = base64.StdEncoding.AppendEncode(w.b, data)
	w.b = append(w.b, '"')
}

// link writes a resource link, or a text with its URI where r has none.
func (w *objectWriter) link(link []byte, r Revision) {
	if !r.Has(ResourceLink) {
		w.raw("type", []byte(`"text"`))
		w.str("text", text(jsonrpc.Lookup(link, "uri")))
		return
	}
	w.raw("type", []byte(`"resource_link"`))
	jsonrpc.Members(link, func(k, v []byte) bool {
		switch name := string(k); {
		case name == "type", name == "icons" && !r.Has(Icons):
		default:
			w.raw(name, v)
		}
		return true
	})
}

func (w *objectWriter) resource(c *primitive.ResourceContents, r Revision) {
	w.raw("type", []byte(`"resource"`))
	w.key("resource")
	w.b = appendResourceContents(w.b, c, r)
}

func appendResourceContents(b []byte, c *primitive.ResourceContents, r Revision) []byte {
	w := objectWriter{b: append(b, '{')}
	w.str("uri", c.URI)
	w.optional("mimeType", c.MIMEType)
	if c.IsBlob {
		w.blob("blob", c.Blob)
	} else {
		w.str("text", c.Text)
	}
	if c.Meta != nil && r.Has(Titles) {
		w.raw("_meta", c.Meta)
	}
	return append(w.b, '}')
}

// appendRawContent appends a whole block that came as JSON.
func appendRawContent(b, raw []byte, r Revision) []byte {
	if r.Has(ModernEnvelope) || !jsonrpc.IsObject(raw) {
		return jsonrpc.AppendLine(b, raw)
	}
	kind := text(jsonrpc.Lookup(raw, "type"))
	w := objectWriter{b: append(b, '{')}
	switch {
	case kind == "resource_link" && !r.Has(ResourceLink):
		w.raw("type", []byte(`"text"`))
		w.str("text", text(jsonrpc.Lookup(raw, "uri")))
		return append(w.b, '}')
	case kind == "audio" && !r.Has(AudioContent):
		return appendRawAudio(w, raw)
	}
	jsonrpc.Members(raw, func(k, v []byte) bool {
		switch name := string(k); {
		case name == "_meta" && !r.Has(Titles), name == "icons" && !r.Has(Icons):
		case name == "annotations":
			w.raw(name, projectAnnotations(v, r))
		default:
			w.raw(name, v)
		}
		return true
	})
	return append(w.b, '}')
}

// appendRawAudio writes audio as an embedded resource: its data is base64 already.
func appendRawAudio(w objectWriter, raw []byte) []byte {
	w.raw("type", []byte(`"resource"`))
	w.key("resource")
	in := objectWriter{b: append(w.b, '{')}
	in.str("uri", audioURI)
	if m := jsonrpc.Lookup(raw, "mimeType"); m != nil {
		in.raw("mimeType", m)
	}
	if d := jsonrpc.Lookup(raw, "data"); d != nil {
		in.raw("blob", d)
	}
	return append(in.b, "}}"...)
}
