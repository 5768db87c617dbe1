package main

import (
	"context"
	_ "embed"
	"errors"

	"github.com/mcphost/mcphost/sdk"
)

// The smallest picture, one red pixel, and the smallest sound, silence.
var (
	//go:embed pixel.png
	picture []byte
	//go:embed silence.wav
	sound []byte
)

// say adds a tool that always answers the same.
func say(p *sdk.Plugin, name, description string, content ...sdk.Content) {
	sdk.AddTool(p, sdk.Tool{Name: name, Description: description}, func(context.Context, *sdk.Call, none) ([]sdk.Content, error) {
		return content, nil
	})
}

func addContentTools(p *sdk.Plugin) {
	image := sdk.Image{Data: picture, MIMEType: "image/png"}
	say(p, "test_simple_text", "Answers with text.", sdk.Text("This is a simple text response for testing."))
	say(p, "test_image_content", "Answers with a picture.", image)
	say(p, "test_audio_content", "Answers with a sound.", sdk.Audio{Data: sound, MIMEType: "audio/wav"})
	say(p, "test_embedded_resource", "Answers with an embedded resource.", sdk.EmbeddedResource{
		URI: "test://embedded-resource", MIMEType: "text/plain", Text: "This is an embedded resource content.",
	})
	say(p, "test_multiple_content_types", "Answers with text, a picture and a resource.",
		sdk.Text("Multiple content types test:"), image, sdk.EmbeddedResource{
			URI: "test://mixed-content-resource", MIMEType: "application/json", Text: `{"test":"data","value":123}`,
		})
	sdk.AddTool(p, sdk.Tool{Name: "test_error_handling", Description: "Always fails."}, func(context.Context, *sdk.Call, none) (string, error) {
		return "", errors.New("this tool intentionally returns an error for testing")
	})
}
