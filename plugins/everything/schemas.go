package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/mcphost/mcphost/sdk"
)

// schema2020 uses the keywords of JSON Schema 2020-12 that a host must not lose.
//
//go:embed schema_2020_12.json
var schema2020 []byte

// codeMissingCapability is JSON-RPC's code for a client that did not declare what a call needs.
const codeMissingCapability = -32021

type headerIn struct {
	Region string `json:"region,omitempty" header:"Region" jsonschema:"mirrored into Mcp-Param-Region"`
	Level  int    `json:"level,omitempty" jsonschema:"an argument that is not mirrored"`
}

func addSchemaTools(p *sdk.Plugin) {
	sdk.AddTool(p, sdk.Tool{Name: "json_schema_2020_12_tool", Description: "Has an input schema with features of JSON Schema 2020-12.", InputSchema: schema2020},
		func(_ context.Context, _ *sdk.Call, in json.RawMessage) (string, error) {
			return fmt.Sprintf("JSON Schema 2020-12 tool called with: %s", in), nil
		})
	sdk.AddTool(p, sdk.Tool{Name: "test_x_mcp_header", Description: "Has an argument that HTTP clients mirror into a header."},
		func(_ context.Context, _ *sdk.Call, in headerIn) (string, error) { return "region=" + in.Region, nil })
	sdk.AddTool(p, sdk.Tool{Name: "test_missing_capability", Description: "Needs the client's sampling capability."},
		func(_ context.Context, c *sdk.Call, _ none) (string, error) {
			if c.Supports("sampling") {
				return "The client declared the sampling capability.", nil
			}
			return "", &sdk.Error{
				Code: codeMissingCapability, Message: "the client did not declare the sampling capability",
				Data: map[string]any{"requiredCapabilities": map[string]any{"sampling": none{}}},
			}
		})
}

// addChangeTools adds the tools that change the lists. A host tells its clients of a list only when it is another, so each
// change makes a definition that was not there before.
func addChangeTools(p *sdk.Plugin) {
	var tools, prompts atomic.Int64
	sdk.AddTool(p, sdk.Tool{Name: "test_trigger_tool_change", Description: "Changes the list of tools."},
		func(context.Context, *sdk.Call, none) (string, error) {
			say(p, "test_transient_tool", fmt.Sprintf("Was added by change %d of the list.", tools.Add(1)), sdk.Text("I am transient."))
			return "The list of tools changed.", nil
		})
	sdk.AddTool(p, sdk.Tool{Name: "test_trigger_prompt_change", Description: "Changes the list of prompts."},
		func(context.Context, *sdk.Call, none) (string, error) {
			definition := sdk.Prompt{Name: "test_transient_prompt", Description: fmt.Sprintf("Was added by change %d of the list.", prompts.Add(1))}
			sdk.AddPrompt(p, definition, func(context.Context, *sdk.Call, none) (*sdk.PromptResult, error) {
				return sdk.UserPrompt("I am transient."), nil
			})
			return "The list of prompts changed.", nil
		})
}
