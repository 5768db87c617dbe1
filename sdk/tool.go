package sdk

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// A Hint is a property of a tool that a client may be told, or not.
type Hint uint8

// The hints. A client assumes the worst of what it is not told.
const (
	NotSaid Hint = iota
	Yes
	No
)

func (h Hint) pointer() *bool {
	if h == NotSaid {
		return nil
	}
	yes := h == Yes
	return &yes
}

// A Tool is what a client is told about a tool. Only Name must be set; a Description is what the model
// chooses by.
type Tool struct {
	Name        string // 1 to 128 characters of [A-Za-z0-9_.-]
	Title       string
	Description string

	ReadOnly    Hint // it changes nothing
	Destructive Hint // it may destroy something
	Idempotent  Hint // doing it twice is doing it once; the host may then try again after a crash
	OpenWorld   Hint // it deals with the world outside

	Timeout time.Duration // 0: the host's default
	Icons   []Icon
	Meta    map[string]any

	// InputSchema and OutputSchema stand in for what the function's types say, and are served verbatim.
	InputSchema, OutputSchema json.RawMessage
	// Definition is the whole MCP object, served verbatim but for the name. Name must be set beside it.
	Definition json.RawMessage
}

// An Icon is a picture for a primitive.
type Icon struct {
	Src      string   `json:"src"`
	MIMEType string   `json:"mimeType,omitempty"`
	Sizes    []string `json:"sizes,omitempty"`
	Theme    string   `json:"theme,omitempty"`
}

// A ToolFunc does the work of a tool. The context ends when the caller gives up or time is over.
//
// In is a struct: its fields are the arguments, named by json tags and described by jsonschema tags. A field with
// omitempty, omitzero or a default tag need not be given; enum, minimum, maximum, format and pattern tags narrow it. In
// may also be map[string]any or json.RawMessage, with Tool.InputSchema to say what is allowed.
//
// Out decides what the caller gets:
//   - a string: one text block;
//   - a [Content], a []Content or a [*Result]: just that;
//   - struct{}: nothing;
//   - any or json.RawMessage: what of these the value is, or else its JSON as text;
//   - every other type: its JSON as text and as structured content, with the schema of the type.
//
// An error is an error result with the error's text, which the model reads; an [*Error] is a JSON-RPC error.
type ToolFunc[In, Out any] func(ctx context.Context, c *Call, in In) (Out, error)

// tool is a tool as it is served.
type tool struct {
	definition *pluginv1.Tool
	subject    string // for messages
	call       func(ctx context.Context, c *Call, arguments []byte) (*pluginv1.ToolResult, error)
}

// AddTool adds a tool, or replaces the one of that name; a host that watches sees it at once. It panics if the types
// cannot be described as JSON Schema or the name is not allowed: such a plugin is broken.
func AddTool[In, Out any](p *Plugin, t Tool, fn ToolFunc[In, Out]) {
	built, err := newTool(t, fn)
	if err != nil {
		panic(fmt.Sprintf("sdk: tool %q: %v", t.Name, err))
	}
	p.catalog.change(func(c *contents) { c.tools[t.Name] = built })
}

// RemoveTool removes a tool. Calls of it that run go on. It does nothing if there is no such tool.
func (p *Plugin) RemoveTool(name string) {
	p.catalog.change(func(c *contents) { delete(c.tools, name) })
}

func newTool[In, Out any](t Tool, fn ToolFunc[In, Out]) (*tool, error) {
	if err := checkName(t.Name); err != nil {
		return nil, err
	}
	decoder, inSchema, err := newDecoder[In]()
	if err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	if t.InputSchema != nil || t.Definition != nil {
		decoder.checked = false // the author's schema decides what must be there
	}
	render, outSchema, err := rendererFor(reflect.TypeFor[Out](), t.OutputSchema != nil)
	if err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	definition, err := t.toProto()
	if err != nil {
		return nil, err
	}
	if definition.InputSchemaJson == nil {
		if definition.InputSchemaJson, err = encodeJSON(inSchema); err != nil {
			return nil, err
		}
	}
	if definition.OutputSchemaJson == nil && outSchema != nil {
		if definition.OutputSchemaJson, err = encodeJSON(outSchema); err != nil {
			return nil, err
		}
	}
	return &tool{definition: definition, subject: "tool " + t.Name, call: func(ctx context.Context, c *Call, arguments []byte) (*pluginv1.ToolResult, error) {
		in, err := decoder.decode(arguments)
		if err != nil {
			return nil, fmt.Errorf("invalid arguments: %w", err)
		}
		out, err := fn(ctx, c, in)
		if err != nil {
			return nil, err
		}
		return render(out)
	}}, nil
}

func (t Tool) toProto() (*pluginv1.Tool, error) {
	for what, raw := range map[string]json.RawMessage{"input schema": t.InputSchema, "output schema": t.OutputSchema, "definition": t.Definition} {
		if raw != nil && !json.Valid(raw) {
			return nil, fmt.Errorf("the %s is not valid JSON", what)
		}
	}
	definition := &pluginv1.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description,
		InputSchemaJson: t.InputSchema, OutputSchemaJson: t.OutputSchema, DefinitionJson: t.Definition,
	}
	if t.ReadOnly != NotSaid || t.Destructive != NotSaid || t.Idempotent != NotSaid || t.OpenWorld != NotSaid {
		definition.Annotations = &pluginv1.ToolAnnotations{
			ReadOnly: t.ReadOnly.pointer(), Destructive: t.Destructive.pointer(),
			Idempotent: t.Idempotent.pointer(), OpenWorld: t.OpenWorld.pointer(),
		}
	}
	if t.Timeout > 0 {
		definition.Timeout = durationpb.New(t.Timeout)
	}
	var err error
	if definition.IconsJson, err = iconsJSON(t.Icons); err != nil {
		return nil, err
	}
	definition.MetaJson, err = optionalJSON(t.Meta)
	return definition, err
}

func iconsJSON(icons []Icon) ([]byte, error) {
	if len(icons) == 0 {
		return nil, nil
	}
	return encodeJSON(icons)
}

// checkName holds server/tools: names are 1 to 128 characters of A-Z a-z 0-9 _ . and -.
func checkName(name string) error {
	if name == "" || len(name) > 128 {
		return fmt.Errorf("a name has 1 to 128 characters")
	}
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '.', r == '-':
		default:
			return fmt.Errorf("a name has no %q in it", r)
		}
	}
	return nil
}
