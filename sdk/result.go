package sdk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// A Result is the whole answer of a tool, for a function that needs to say more than one value does.
type Result struct {
	Content    []Content
	Structured any // encoded as JSON; nil is none. Without Content it is the text, too
	IsError    bool
	Meta       map[string]any
}

// A renderer turns what a tool returned into a result. What it does depends on the type alone and is
// decided when the tool is added.
type renderer func(out any) (*pluginv1.ToolResult, error)

// rendererFor returns the renderer of t, and the schema of its structured content or nil if it has none.
// With structured set, the author has a schema of his own and a value that could be anything is structured too.
func rendererFor(t reflect.Type, structured bool) (renderer, *jsonschema.Schema, error) {
	switch {
	case t == reflect.TypeFor[string]():
		return renderString, nil, nil
	case t == reflect.TypeFor[*Result](), t == reflect.TypeFor[Result]():
		return renderDynamic, nil, nil
	case t.Implements(reflect.TypeFor[Content]()), t == reflect.TypeFor[[]Content]():
		return renderDynamic, nil, nil
	case t == reflect.TypeFor[struct{}]():
		return renderNothing, nil, nil
	case structured:
		return renderStructured, nil, nil
	case t.Kind() == reflect.Interface, t == reflect.TypeFor[json.RawMessage]():
		return renderDynamic, nil, nil
	}
	schema, err := outputSchema(t)
	return renderStructured, schema, err
}

func renderString(out any) (*pluginv1.ToolResult, error) {
	text, _ := out.(string)
	return textResult(text), nil
}

func renderNothing(any) (*pluginv1.ToolResult, error) { return &pluginv1.ToolResult{}, nil }

// renderStructured puts the same bytes into the text and the structured content.
func renderStructured(out any) (*pluginv1.ToolResult, error) {
	// A nil pointer would be null, which the schema of what it points to does not allow.
	if v := reflect.ValueOf(out); v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, fmt.Errorf("the tool returned no value")
	}
	raw, err := encodeJSON(out)
	if err != nil {
		return nil, fmt.Errorf("encoding the result: %w", err)
	}
	result := textResult(string(raw))
	result.StructuredJson = raw
	return result, nil
}

// renderDynamic looks at the value itself: its type said nothing.
func renderDynamic(out any) (*pluginv1.ToolResult, error) {
	switch out := out.(type) {
	case nil:
		return &pluginv1.ToolResult{}, nil
	case string:
		return textResult(out), nil
	case *Result:
		if out == nil {
			return nil, fmt.Errorf("the tool returned no result")
		}
		return out.toProto()
	case Result:
		return out.toProto()
	case Content:
		return (&Result{Content: []Content{out}}).toProto()
	case []Content:
		return (&Result{Content: out}).toProto()
	default:
		raw, err := encodeJSON(out)
		if err != nil {
			return nil, fmt.Errorf("encoding the result: %w", err)
		}
		return textResult(string(raw)), nil
	}
}

func (r *Result) toProto() (*pluginv1.ToolResult, error) {
	content, err := contentsToProto(r.Content)
	if err != nil {
		return nil, err
	}
	result := &pluginv1.ToolResult{Content: content, IsError: r.IsError}
	if r.Structured != nil {
		if result.StructuredJson, err = encodeJSON(r.Structured); err != nil {
			return nil, fmt.Errorf("encoding the structured content: %w", err)
		}
		if len(content) == 0 {
			result.Content = textResult(string(result.StructuredJson)).GetContent()
		}
	}
	result.MetaJson, err = optionalJSON(r.Meta)
	return result, err
}

func textResult(text string) *pluginv1.ToolResult {
	return &pluginv1.ToolResult{Content: []*pluginv1.Content{{Kind: &pluginv1.Content_Text{Text: valid(text)}}}}
}

func errorResult(text string) *pluginv1.ToolResult {
	result := textResult(text)
	result.IsError = true
	return result
}

// encodeJSON encodes v on one line, and leaves <, > and & as they are: nobody puts this into a page.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// optionalJSON encodes m, or returns nil if it is empty.
func optionalJSON(m map[string]any) ([]byte, error) {
	if len(m) == 0 {
		return nil, nil
	}
	return encodeJSON(m)
}
