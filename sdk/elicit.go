package sdk

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// An Action is what a user did with a question.
type Action string

// The actions.
const (
	Accepted  Action = "accept"
	Declined  Action = "decline"
	Cancelled Action = "cancel"
)

// An Answer is what a user said to a question.
type Answer[T any] struct {
	Action Action
	Value  T // what was filled in; the zero value unless Accepted
}

// Accepted reports whether the user answered, rather than declined or closed the question.
func (a Answer[T]) Accepted() bool { return a.Action == Accepted }

// Elicit asks the user to fill in T, a struct of strings, numbers, booleans and enums, and reads like a call that
// waits. Underneath, the first time it returns an error that the handler must return; the host then asks the user and
// enters the handler again from its start, and this time Elicit returns the answer. So:
//
//   - key names the question, once per handler, and is the same each time;
//   - what the handler did before the question is done again, unless it is wrapped in [Once];
//   - several questions whose errors are returned together are asked together.
//
// An answer that does not fit T is asked for again.
func Elicit[T any](c *Call, key, message string) (Answer[T], error) {
	d, schema, err := newDecoder[T]()
	if err != nil {
		return Answer[T]{}, fmt.Errorf("question %q: %w", key, err)
	}
	formOnly(schema)
	d.open = true // clients may add to what the user filled in
	return elicit(c, key, form{Mode: "form", Message: message, Schema: schema}, d.decode)
}

// ElicitForm is Elicit with a schema of the author's own: requestedSchema of elicitation/create, as JSON.
func ElicitForm(c *Call, key, message string, schema json.RawMessage) (Answer[map[string]any], error) {
	return elicit(c, key, form{Mode: "form", Message: message, Schema: schema}, func(raw []byte) (map[string]any, error) {
		var value map[string]any
		return value, json.Unmarshal(raw, &value)
	})
}

// ElicitURL asks the user to visit a page, for what must not pass through the client: secrets and payments. Accepted
// means that the user agreed to, not that they are done.
func ElicitURL(c *Call, key, message, url string) (Action, error) {
	answer, err := elicit(c, key, form{Mode: "url", Message: message, URL: url}, func([]byte) (struct{}, error) {
		return struct{}{}, nil
	})
	return answer.Action, err
}

// form is the parameters of elicitation/create.
type form struct {
	Mode    string `json:"mode"`
	Message string `json:"message"`
	Schema  any    `json:"requestedSchema,omitempty"`
	URL     string `json:"url,omitempty"`
}

func elicit[T any](c *Call, key string, question form, decode func([]byte) (T, error)) (Answer[T], error) {
	var answer Answer[T]
	err := c.ask(InputRequest{Key: key, Method: MethodElicit, Params: question}, func(raw json.RawMessage) error {
		var wire struct {
			Action  Action          `json:"action"`
			Content json.RawMessage `json:"content"`
		}
		if err := json.Unmarshal(raw, &wire); err != nil {
			return err
		}
		switch wire.Action {
		case Accepted:
			value, err := decode(wire.Content)
			if err != nil {
				return err
			}
			answer = Answer[T]{Action: Accepted, Value: value}
		case Declined, Cancelled:
			answer = Answer[T]{Action: wire.Action}
		default:
			return fmt.Errorf("unknown action %q", wire.Action)
		}
		return nil
	})
	return answer, err
}

// formOnly takes out what the schema of a form may not have: it is flat and every value is one primitive.
func formOnly(s *jsonschema.Schema) {
	s.AdditionalProperties = nil
	for _, property := range s.Properties {
		if len(property.Types) == 2 && property.Types[0] == "null" {
			property.Type, property.Types = property.Types[1], nil
		}
	}
}

// A Message is one message of a conversation with a model.
type Message struct {
	Role    string // "user" or "assistant"
	Content Content
}

// A SampleRequest asks the client's model. Sampling is deprecated since 2026-07-28.
type SampleRequest struct {
	Messages     []SampleMessage `json:"messages"`
	SystemPrompt string          `json:"systemPrompt,omitempty"`
	MaxTokens    int             `json:"maxTokens"`
	Temperature  *float64        `json:"temperature,omitempty"`
}

// A SampleMessage is a message of text to or from the client's model.
type SampleMessage struct {
	Role    string      `json:"role"`
	Content TextContent `json:"content"`
}

// TextContent is text as MCP writes it.
type TextContent struct {
	Type string `json:"type"` // "text"
	Text string `json:"text"`
}

// UserText returns a message of the user for [Call.Sample].
func UserText(text string) SampleMessage {
	return SampleMessage{Role: "user", Content: TextContent{Type: "text", Text: text}}
}

// A SampleResult is what the client's model said.
type SampleResult struct {
	Role       string          `json:"role"`
	Model      string          `json:"model"`
	StopReason string          `json:"stopReason"`
	Content    json.RawMessage `json:"content"` // a block, or a list of them
}

// Text returns the text that the model said, or "" if it said something else.
func (r SampleResult) Text() string {
	var block TextContent
	if json.Unmarshal(r.Content, &block) == nil {
		return block.Text
	}
	var blocks []TextContent
	if json.Unmarshal(r.Content, &blocks) != nil {
		return ""
	}
	var text strings.Builder
	for _, block := range blocks {
		text.WriteString(block.Text)
	}
	return text.String()
}

// Sample asks the client's model. It behaves like [Elicit].
func (c *Call) Sample(key string, request SampleRequest) (SampleResult, error) {
	var result SampleResult
	err := c.ask(InputRequest{Key: key, Method: MethodSample, Params: request}, func(raw json.RawMessage) error {
		if err := json.Unmarshal(raw, &result); err != nil {
			return err
		}
		if len(result.Content) == 0 {
			return fmt.Errorf("the answer has no content")
		}
		return nil
	})
	return result, err
}

// A Root is a folder that the client works in.
type Root struct {
	URI  string `json:"uri"`
	Name string `json:"name,omitempty"`
}

// Roots asks the client for its folders. It behaves like [Elicit]. Roots are deprecated since 2026-07-28.
func (c *Call) Roots(key string) ([]Root, error) {
	var result struct {
		Roots *[]Root `json:"roots"`
	}
	err := c.ask(InputRequest{Key: key, Method: MethodRoots, Params: struct{}{}}, func(raw json.RawMessage) error {
		if err := json.Unmarshal(raw, &result); err != nil {
			return err
		}
		if result.Roots == nil {
			return fmt.Errorf("the answer has no roots")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return *result.Roots, nil
}
