package sdk

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// A Prompt is what a client is told about a prompt. Name must be set.
type Prompt struct {
	Name        string
	Title       string
	Description string
	Arguments   []PromptArgument // nil: those of the function's type
	Icons       []Icon
	Meta        map[string]any
}

// A PromptArgument is one argument of a prompt; its value is a string.
type PromptArgument struct {
	Name        string
	Title       string
	Description string
	Required    bool
}

// A PromptResult is a prompt filled in.
type PromptResult struct {
	Description string
	Messages    []Message
	Meta        map[string]any
}

// User returns a message of the user.
func User(content Content) Message { return Message{Role: "user", Content: content} }

// Assistant returns a message of the assistant.
func Assistant(content Content) Message { return Message{Role: "assistant", Content: content} }

// UserPrompt returns a prompt that is one text of the user.
func UserPrompt(text string) *PromptResult {
	return &PromptResult{Messages: []Message{User(Text(text))}}
}

// A PromptFunc fills in a prompt. In is a struct of strings, as for a [ToolFunc], or map[string]string.
type PromptFunc[In any] func(ctx context.Context, c *Call, in In) (*PromptResult, error)

// prompt is a prompt as it is served.
type prompt struct {
	definition *pluginv1.Prompt
	get        func(ctx context.Context, c *Call, arguments map[string]string) (*PromptResult, error)
}

// AddPrompt adds a prompt, or replaces the one of that name. It panics if the type has fields that are no strings or the
// name is not allowed.
func AddPrompt[In any](p *Plugin, pr Prompt, fn PromptFunc[In]) {
	built, err := newPrompt(pr, fn)
	if err != nil {
		panic(fmt.Sprintf("sdk: prompt %q: %v", pr.Name, err))
	}
	p.catalog.change(func(c *contents) { c.prompts[pr.Name] = built })
}

// RemovePrompt removes a prompt. It does nothing if there is no such prompt.
func (p *Plugin) RemovePrompt(name string) {
	p.catalog.change(func(c *contents) { delete(c.prompts, name) })
}

func newPrompt[In any](pr Prompt, fn PromptFunc[In]) (*prompt, error) {
	if err := checkName(pr.Name); err != nil {
		return nil, err
	}
	decoder, schema, err := newDecoder[In]()
	if err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	if pr.Arguments == nil {
		if pr.Arguments, err = promptArguments(reflect.TypeFor[In](), schema); err != nil {
			return nil, err
		}
	}
	definition := &pluginv1.Prompt{Name: pr.Name, Title: pr.Title, Description: pr.Description}
	for _, a := range pr.Arguments {
		definition.Arguments = append(definition.Arguments, &pluginv1.PromptArgument{
			Name: a.Name, Title: a.Title, Description: a.Description, Required: a.Required,
		})
	}
	if definition.IconsJson, err = iconsJSON(pr.Icons); err != nil {
		return nil, err
	}
	if definition.MetaJson, err = optionalJSON(pr.Meta); err != nil {
		return nil, err
	}
	return &prompt{definition: definition, get: func(ctx context.Context, c *Call, arguments map[string]string) (*PromptResult, error) {
		in, err := promptInput(decoder, arguments)
		if err != nil {
			return nil, &Error{Code: CodeInvalidParams, Message: "invalid arguments: " + err.Error()}
		}
		return fn(ctx, c, in)
	}}, nil
}

func promptInput[In any](d *decoder[In], arguments map[string]string) (In, error) {
	if arguments == nil {
		arguments = map[string]string{}
	}
	raw, err := json.Marshal(arguments)
	if err != nil {
		var zero In
		return zero, err
	}
	return d.decode(raw)
}

// promptArguments returns the arguments that the fields of t are.
func promptArguments(t reflect.Type, schema *jsonschema.Schema) ([]PromptArgument, error) {
	var arguments []PromptArgument
	required := map[string]bool{}
	for _, name := range schema.Required {
		required[name] = true
	}
	for _, name := range schema.PropertyOrder {
		property := schema.Properties[name]
		if property.Type != "string" {
			return nil, fmt.Errorf("argument %q of %s is no string", name, t)
		}
		arguments = append(arguments, PromptArgument{Name: name, Description: property.Description, Required: required[name]})
	}
	return arguments, nil
}

func (r *PromptResult) toProto() (*pluginv1.GetPromptResult, error) {
	if r == nil {
		return nil, fmt.Errorf("the prompt returned no result")
	}
	result := &pluginv1.GetPromptResult{Description: valid(r.Description)}
	for i, message := range r.Messages {
		if message.Content == nil {
			return nil, fmt.Errorf("message %d has no content", i)
		}
		content, err := message.Content.toProto()
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		result.Messages = append(result.Messages, &pluginv1.PromptMessage{Role: message.Role, Content: content})
	}
	var err error
	result.MetaJson, err = optionalJSON(r.Meta)
	return result, err
}
