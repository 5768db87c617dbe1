package plugin

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/yosida95/uritemplate/v3"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/primitive"
	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

const (
	maxTitle       = 1 << 10
	maxDescription = 256 << 10
	maxURI         = 8 << 10
	emptySchema    = `{"type":"object"}`
)

// tool makes a primitive of t.
//
// server/tools: a name is 1 to 128 characters of [A-Za-z0-9_.-], and
// inputSchema is an object whose type is "object".
func tool(t *pluginv1.Tool) (*primitive.Primitive, error) {
	w := &writer{}
	if raw := t.GetDefinitionJson(); len(raw) > 0 {
		w.verbatim(raw, "name", t.GetName())
	} else {
		w.base(t.GetName(), t.GetTitle(), t.GetDescription())
		schema := t.GetInputSchemaJson()
		if len(schema) == 0 {
			schema = []byte(emptySchema)
		}
		w.json("inputSchema", schema, '{')
		w.json("outputSchema", t.GetOutputSchemaJson(), '{')
		w.toolAnnotations(t.GetAnnotations())
		w.json("icons", t.GetIconsJson(), '[')
		w.json("_meta", t.GetMetaJson(), '{')
	}
	def, err := w.end()
	if err != nil {
		return nil, err
	}
	p := &primitive.Primitive{Kind: primitive.KindTool, Definition: def}
	if err := named(p); err != nil {
		return nil, err
	}
	if d := t.GetTimeout(); d.IsValid() && d.AsDuration() > 0 {
		p.Timeout = d.AsDuration()
	}
	return p, finishTool(p)
}

// finishTool reads what the host must know from the finished definition, so
// that both ways to write one obey the same rules.
func finishTool(p *primitive.Primitive) error {
	p.InputSchema = jsonrpc.Lookup(p.Definition, "inputSchema")
	switch {
	case p.InputSchema == nil:
		return errors.New("it has no inputSchema")
	case !jsonrpc.IsObject(p.InputSchema):
		return errors.New("its inputSchema is no object")
	}
	if t, ok := jsonrpc.String(orNull(jsonrpc.Lookup(p.InputSchema, "type"))); !ok || t != "object" {
		return errors.New(`its inputSchema must have "type": "object" at its root`)
	}
	if out := jsonrpc.Lookup(p.Definition, "outputSchema"); out != nil {
		if !jsonrpc.IsObject(out) {
			return errors.New("its outputSchema is no object")
		}
		p.OutputSchema = out
	}
	if a := jsonrpc.Lookup(p.Definition, "annotations"); a != nil {
		if !jsonrpc.IsObject(a) {
			return errors.New("its annotations are no object")
		}
		p.ReadOnly, p.Destructive = hint(a, "readOnlyHint"), hint(a, "destructiveHint")
		p.Idempotent, p.OpenWorld = hint(a, "idempotentHint"), hint(a, "openWorldHint")
	}
	headers, err := headerParams(p.InputSchema)
	p.Headers = headers
	return err
}

func orNull(v []byte) []byte {
	if v == nil {
		return []byte("null")
	}
	return v
}

func hint(annotations []byte, name string) *bool {
	switch string(jsonrpc.Lookup(annotations, name)) {
	case "true":
		return new(true)
	case "false":
		return new(false)
	}
	return nil
}

func resource(r *pluginv1.Resource) (*primitive.Primitive, error) {
	w := &writer{}
	w.resource(r)
	def, err := w.end()
	if err != nil {
		return nil, err
	}
	return located(primitive.KindResource, def, "uri")
}

func template(t *pluginv1.ResourceTemplate) (*primitive.Primitive, error) {
	w := &writer{}
	if raw := t.GetDefinitionJson(); len(raw) > 0 {
		w.verbatim(raw, "uriTemplate", t.GetUriTemplate())
	} else {
		w.open()
		w.str("uriTemplate", t.GetUriTemplate())
		w.base(t.GetName(), t.GetTitle(), t.GetDescription())
		w.optional("mimeType", clean(t.GetMimeType(), maxShort, false))
		w.json("annotations", t.GetAnnotationsJson(), '{')
		w.json("icons", t.GetIconsJson(), '[')
		w.json("_meta", t.GetMetaJson(), '{')
	}
	def, err := w.end()
	if err != nil {
		return nil, err
	}
	p, err := located(primitive.KindTemplate, def, "uriTemplate")
	if err != nil {
		return nil, err
	}
	if _, err := uritemplate.New(p.Own); err != nil {
		return nil, fmt.Errorf("its URI template is not of RFC 6570: %s", clean(err.Error(), maxShort, false))
	}
	return p, nil
}

func prompt(pr *pluginv1.Prompt) (*primitive.Primitive, error) {
	w := &writer{}
	if raw := pr.GetDefinitionJson(); len(raw) > 0 {
		w.verbatim(raw, "name", pr.GetName())
	} else {
		w.base(pr.GetName(), pr.GetTitle(), pr.GetDescription())
		w.promptArguments(pr.GetArguments())
		w.json("icons", pr.GetIconsJson(), '[')
		w.json("_meta", pr.GetMetaJson(), '{')
	}
	def, err := w.end()
	if err != nil {
		return nil, err
	}
	p := &primitive.Primitive{Kind: primitive.KindPrompt, Definition: def}
	if err := named(p); err != nil {
		return nil, err
	}
	return p, finishPrompt(p)
}

// finishPrompt reads which arguments must be given.
func finishPrompt(p *primitive.Primitive) error {
	list := jsonrpc.Lookup(p.Definition, "arguments")
	if list == nil {
		return nil
	}
	if !jsonrpc.IsArray(list) {
		return errors.New("its arguments are no array")
	}
	var err error
	jsonrpc.Elements(list, func(v []byte) bool {
		if !jsonrpc.IsObject(v) {
			err = errors.New("one of its arguments is no object")
			return false
		}
		s, ok := jsonrpc.String(orNull(jsonrpc.Lookup(v, "name")))
		if !ok || s == "" {
			err = errors.New("one of its arguments has no name")
			return false
		}
		if string(jsonrpc.Lookup(v, "required")) == "true" {
			p.RequiredArguments = append(p.RequiredArguments, s)
		}
		return true
	})
	return err
}

// named takes the name of a tool or a prompt from its definition.
func named(p *primitive.Primitive) error {
	s, ok := jsonrpc.String(orNull(jsonrpc.Lookup(p.Definition, "name")))
	switch {
	case !ok || s == "":
		return errors.New("it has no name")
	case !validName(s):
		return errors.New("its name is not 1 to 128 characters of [A-Za-z0-9_.-]")
	}
	p.Key, p.Own = s, s
	return nil
}

func validName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '.' && c != '-' {
			return false
		}
	}
	return s != "" && len(s) <= 128
}

// located makes a primitive that is known by the URI or template in member.
func located(k primitive.Kind, def []byte, member string) (*primitive.Primitive, error) {
	s, ok := jsonrpc.String(orNull(jsonrpc.Lookup(def, member)))
	if !ok || !validURI(s, k == primitive.KindTemplate) {
		return nil, fmt.Errorf("its %s is no absolute URI of at most %d bytes", member, maxURI)
	}
	if n, ok := jsonrpc.String(orNull(jsonrpc.Lookup(def, "name"))); !ok || n == "" {
		return nil, errors.New("it has no name")
	}
	return &primitive.Primitive{Kind: k, Key: s, Own: s, Definition: def}, nil
}

func validURI(s string, isTemplate bool) bool {
	if s == "" || len(s) > maxURI || clean(s, maxURI, false) != s || strings.ContainsAny(s, " \"<>\\^`") {
		return false
	}
	if isTemplate { // its scheme may be an expression
		return strings.ContainsAny(s, ":{")
	}
	u, err := url.Parse(s)
	return err == nil && u.Scheme != ""
}

// resource writes r, as an entry of a catalog or as a link in content.
func (w *writer) resource(r *pluginv1.Resource) {
	if raw := r.GetDefinitionJson(); len(raw) > 0 {
		w.verbatim(raw, "uri", r.GetUri())
		return
	}
	w.open()
	w.str("uri", r.GetUri())
	w.base(r.GetName(), r.GetTitle(), r.GetDescription())
	w.optional("mimeType", clean(r.GetMimeType(), maxShort, false))
	if r.Size != nil && r.GetSize() >= 0 {
		w.raw("size", strconv.AppendInt(nil, r.GetSize(), 10))
	}
	w.json("annotations", r.GetAnnotationsJson(), '{')
	w.json("icons", r.GetIconsJson(), '[')
	w.json("_meta", r.GetMetaJson(), '{')
}

func (w *writer) toolAnnotations(a *pluginv1.ToolAnnotations) {
	if a == nil {
		return
	}
	in := &writer{}
	in.open()
	in.optional("title", clean(a.GetTitle(), maxTitle, false))
	in.boolean("readOnlyHint", a.ReadOnly)
	in.boolean("destructiveHint", a.Destructive)
	in.boolean("idempotentHint", a.Idempotent)
	in.boolean("openWorldHint", a.OpenWorld)
	w.raw("annotations", append(in.buf, '}'))
}

func (w *writer) promptArguments(args []*pluginv1.PromptArgument) {
	if len(args) == 0 {
		return
	}
	list := []byte{'['}
	for i, a := range args {
		if i > 0 {
			list = append(list, ',')
		}
		in := &writer{}
		in.base(clean(a.GetName(), maxTitle, false), a.GetTitle(), a.GetDescription())
		if a.GetRequired() {
			in.boolean("required", new(true))
		}
		list = append(append(list, in.buf...), '}')
	}
	w.raw("arguments", append(list, ']'))
}
