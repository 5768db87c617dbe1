package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/mcphost/mcphost/sdk"
)

type twoArguments struct {
	Arg1 string `json:"arg1" jsonschema:"First test argument"`
	Arg2 string `json:"arg2" jsonschema:"Second test argument"`
}

type oneURI struct {
	URI string `json:"resourceUri" jsonschema:"URI of the resource to embed"`
}

type situation struct {
	Context string `json:"context"`
}

func addPrompts(p *sdk.Plugin) {
	sdk.AddPrompt(p, sdk.Prompt{Name: "test_simple_prompt", Title: "Simple prompt", Description: "Has no arguments."},
		func(context.Context, *sdk.Call, none) (*sdk.PromptResult, error) {
			return sdk.UserPrompt("This is a simple prompt for testing."), nil
		})
	sdk.AddPrompt(p, sdk.Prompt{Name: "test_prompt_with_arguments", Title: "Prompt with arguments", Description: "Has two arguments."},
		func(_ context.Context, _ *sdk.Call, in twoArguments) (*sdk.PromptResult, error) {
			return sdk.UserPrompt(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", in.Arg1, in.Arg2)), nil
		})
	sdk.AddPrompt(p, sdk.Prompt{Name: "test_prompt_with_embedded_resource", Title: "Prompt with a resource", Description: "Embeds a resource."},
		func(_ context.Context, _ *sdk.Call, in oneURI) (*sdk.PromptResult, error) {
			return &sdk.PromptResult{Messages: []sdk.Message{
				sdk.User(sdk.EmbeddedResource{URI: in.URI, MIMEType: "text/plain", Text: "Embedded resource content for testing."}),
				sdk.User(sdk.Text("Please process the embedded resource above.")),
			}}, nil
		})
	sdk.AddPrompt(p, sdk.Prompt{Name: "test_prompt_with_image", Title: "Prompt with a picture", Description: "Holds a picture."},
		func(context.Context, *sdk.Call, none) (*sdk.PromptResult, error) {
			return &sdk.PromptResult{Messages: []sdk.Message{
				sdk.User(sdk.Image{Data: picture, MIMEType: "image/png"}), sdk.User(sdk.Text("Please analyze the image above.")),
			}}, nil
		})
	sdk.AddPrompt(p, sdk.Prompt{Name: "test_input_required_result_prompt", Title: "Prompt that asks", Description: "Needs context of the user."},
		func(_ context.Context, c *sdk.Call, _ none) (*sdk.PromptResult, error) {
			answer, err := sdk.Elicit[situation](c, "user_context", "What context should the prompt use?")
			if err != nil {
				return nil, err
			}
			return sdk.UserPrompt("Context: " + answer.Value.Context), nil
		})
	p.CompletePrompt("test_prompt_with_arguments", "arg1", startsWith("paris", "park", "party", "test", "testing"))
}

// startsWith proposes those of the words that begin with what was typed.
func startsWith(words ...string) sdk.CompleteFunc {
	return func(_ context.Context, _ *sdk.Call, typed sdk.Completing) ([]string, error) {
		var values []string
		for _, word := range words {
			if strings.HasPrefix(word, typed.Value) {
				values = append(values, word)
			}
		}
		return values, nil
	}
}
