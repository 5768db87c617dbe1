package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcphost/mcphost/sdk"
)

// Schemas of forms, as the suite wants them.
const (
	usernameForm = `{"type":"object","properties":{"username":{"type":"string","description":"Your preferred username"}},"required":["username"]}`

	defaultsForm = `{"type":"object","properties":{
		"name":{"type":"string","description":"User name","default":"John Doe"},
		"age":{"type":"integer","description":"User age","default":30},
		"score":{"type":"number","description":"User score","default":95.5},
		"status":{"type":"string","description":"User status","enum":["active","inactive","pending"],"default":"active"},
		"verified":{"type":"boolean","description":"Verification status","default":true}}}`

	enumsForm = `{"type":"object","properties":{
		"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
		"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
		"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
		"untitledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"string","enum":["option1","option2","option3"]}},
		"titledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}}`
)

type samplingIn struct {
	Prompt string `json:"prompt" jsonschema:"what to send to the model"`
}

type elicitationIn struct {
	Message string `json:"message" jsonschema:"what to show to the user"`
}

type person struct {
	Name string `json:"name"`
}

// addQuestionTools adds the tools that ask with calls that seem to wait. On a legacy revision the host turns them into requests.
func addQuestionTools(p *sdk.Plugin) {
	sdk.AddTool(p, sdk.Tool{Name: "test_sampling", Description: "Asks the client's model."},
		func(_ context.Context, c *sdk.Call, in samplingIn) (string, error) {
			said, err := c.Sample("sampling", sdk.SampleRequest{Messages: []sdk.SampleMessage{sdk.UserText(in.Prompt)}, MaxTokens: 100})
			return "LLM response: " + said.Text(), err
		})
	sdk.AddTool(p, sdk.Tool{Name: "test_elicitation", Description: "Asks the user for a name."},
		func(_ context.Context, c *sdk.Call, in elicitationIn) (string, error) {
			return fill(c, in.Message, usernameForm)
		})
	sdk.AddTool(p, sdk.Tool{Name: "test_elicitation_sep1034_defaults", Description: "Asks with a form that has default values."},
		func(_ context.Context, c *sdk.Call, _ none) (string, error) {
			return fill(c, "Please review the defaults", defaultsForm)
		})
	sdk.AddTool(p, sdk.Tool{Name: "test_elicitation_sep1330_enums", Description: "Asks with a form that has every kind of enumeration."},
		func(_ context.Context, c *sdk.Call, _ none) (string, error) {
			return fill(c, "Please choose", enumsForm)
		})
	sdk.AddTool(p, sdk.Tool{Name: "test_input_required_result_elicitation", Description: "Needs the user's name."},
		func(_ context.Context, c *sdk.Call, _ none) (string, error) {
			answer, err := sdk.Elicit[person](c, "user_name", "What is your name?")
			if err != nil || answer.Accepted() {
				return fmt.Sprintf("Hello, %s!", answer.Value.Name), err
			}
			return "Hello, stranger!", nil
		})
	sdk.AddTool(p, sdk.Tool{Name: "test_input_required_result_sampling", Description: "Needs the client's model."},
		func(_ context.Context, c *sdk.Call, _ none) (string, error) {
			said, err := c.Sample("capital_question", sdk.SampleRequest{Messages: []sdk.SampleMessage{sdk.UserText("What is the capital of France?")}, MaxTokens: 100})
			return "Sampling response: " + said.Text(), err
		})
	sdk.AddTool(p, sdk.Tool{Name: "test_input_required_result_list_roots", Description: "Needs the client's roots."},
		func(_ context.Context, c *sdk.Call, _ none) (string, error) {
			roots, err := c.Roots("client_roots")
			uris := make([]string, len(roots))
			for i, root := range roots {
				uris[i] = root.URI
			}
			return fmt.Sprintf("The client has %d root(s). %s", len(roots), strings.Join(uris, " ")), err
		})
}

// fill asks with a form and tells what came of it.
func fill(c *sdk.Call, message, form string) (string, error) {
	answer, err := sdk.ElicitForm(c, "form", message, json.RawMessage(form))
	if err != nil {
		return "", err
	}
	content, err := json.Marshal(answer.Value)
	return fmt.Sprintf("Elicitation completed: action=%s, content=%s", answer.Action, content), err
}
