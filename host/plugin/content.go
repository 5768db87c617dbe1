package plugin

import (
	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/primitive"
	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// values reads the JSON in an answer and keeps the first error.
type values struct{ err error }

// any returns value on one line, nil if it is absent or was found wrong.
func (v *values) any(name string, value []byte) []byte {
	if len(value) == 0 || v.err != nil {
		return nil
	}
	if err := jsonrpc.Check(value); err != nil {
		v.err = brokenContract("its %s is not JSON: %w", name, err)
		return nil
	}
	return line(value)
}

// object is any for what must be an object.
func (v *values) object(name string, value []byte) []byte {
	out := v.any(name, value)
	if out != nil && !jsonrpc.IsObject(out) {
		v.err = brokenContract("its %s is no JSON object", name)
		return nil
	}
	return out
}

// content fills out with c, whose bytes it keeps.
func (v *values) content(out *primitive.Content, c *pluginv1.Content) {
	out.Annotations = v.object("annotations", c.GetAnnotationsJson())
	out.Meta = v.object("_meta", c.GetMetaJson())
	switch k := c.GetKind().(type) {
	case *pluginv1.Content_Text:
		out.Type, out.Text = primitive.ContentText, k.Text
	case *pluginv1.Content_Image:
		out.Type, out.Data = primitive.ContentImage, k.Image.GetData()
		out.MIMEType = v.mimeType(k.Image.GetMimeType())
	case *pluginv1.Content_Audio:
		out.Type, out.Data = primitive.ContentAudio, k.Audio.GetData()
		out.MIMEType = v.mimeType(k.Audio.GetMimeType())
	case *pluginv1.Content_ResourceLink:
		out.Type, out.Link = primitive.ContentLink, v.link(k.ResourceLink)
	case *pluginv1.Content_Resource:
		out.Type, out.Resource = primitive.ContentResource, &primitive.ResourceContents{}
		v.contents(out.Resource, k.Resource)
	case *pluginv1.Content_ContentJson:
		out.Type, out.Raw = primitive.ContentRaw, v.object("content", k.ContentJson)
		if out.Raw == nil {
			v.fail("a block of content is empty")
		}
	default:
		v.fail("a block of content is of no kind")
	}
}

func (v *values) fail(format string, args ...any) {
	if v.err == nil {
		v.err = brokenContract(format, args...)
	}
}

// mimeType checks a type that must be there.
func (v *values) mimeType(s string) string {
	if s == "" || clean(s, maxShort, false) != s {
		v.fail("a block of content has no MIME type")
	}
	return s
}

func (v *values) link(r *pluginv1.Resource) []byte {
	w := &writer{}
	w.resource(r)
	def, err := w.end()
	if err == nil {
		_, err = located(primitive.KindResource, def, "uri")
	}
	if err != nil {
		v.fail("a link to a resource: %w", err)
		return nil
	}
	return def
}

func (v *values) contents(out *primitive.ResourceContents, c *pluginv1.ResourceContents) {
	if !validURI(c.GetUri(), false) {
		v.fail("the contents of a resource have no absolute URI")
	}
	if m := c.GetMimeType(); clean(m, maxShort, false) != m {
		v.fail("the contents of a resource have an ill-formed MIME type")
	}
	out.URI, out.MIMEType = c.GetUri(), c.GetMimeType()
	out.Meta = v.object("_meta", c.GetMetaJson())
	if b, ok := c.GetBody().(*pluginv1.ResourceContents_Blob); ok {
		out.Blob, out.IsBlob = b.Blob, true
		return
	}
	out.Text = c.GetText()
}
