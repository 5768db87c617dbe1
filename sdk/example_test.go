package sdk_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mcphost/mcphost/sdk"
)

func Example() {
	type greeting struct {
		Name string `json:"name" jsonschema:"whom to greet"`
		Tone string `json:"tone" default:"warm" enum:"warm,dry"`
	}
	p := sdk.New("hello", "1.0.0")
	sdk.AddTool(p, sdk.Tool{Name: "greet", Description: "Greets somebody.", ReadOnly: sdk.Yes},
		func(_ context.Context, _ *sdk.Call, in greeting) (string, error) {
			if in.Tone == "dry" {
				return in.Name + ".", nil
			}
			return "Hello, " + in.Name + "!", nil
		})
	// In main: p.Main()
}

func ExampleAddTool_structured() {
	type sum struct {
		Total float64 `json:"total"`
	}
	p := sdk.New("math", "1.0.0")
	sdk.AddTool(p, sdk.Tool{Name: "add", Description: "Adds numbers."},
		func(_ context.Context, c *sdk.Call, in struct {
			Numbers []float64 `json:"numbers"`
		},
		) (sum, error) {
			var s sum
			for i, n := range in.Numbers {
				c.Progress(float64(i), float64(len(in.Numbers)), "adding")
				s.Total += n
			}
			return s, nil // text and structured content: {"total":6}
		})
}

func ExampleElicit() {
	type confirmation struct {
		Yes bool `json:"yes" jsonschema:"really?"`
	}
	p := sdk.New("tidy", "1.0.0")
	sdk.AddTool(p, sdk.Tool{Name: "clean", Destructive: sdk.Yes},
		func(_ context.Context, c *sdk.Call, _ struct{}) (string, error) {
			found, err := sdk.Once(c, "scan", func() ([]string, error) { return filepath.Glob("*.tmp") })
			if err != nil {
				return "", err
			}
			answer, err := sdk.Elicit[confirmation](c, "confirm", fmt.Sprintf("Delete %d files?", len(found)))
			if err != nil {
				return "", err // the question is on its way; we are entered again with the answer
			}
			if !answer.Accepted() || !answer.Value.Yes {
				return "Nothing was deleted.", nil
			}
			return fmt.Sprintf("Deleted %d files.", len(found)), nil
		})
}

func ExampleConfigure() {
	type settings struct {
		Root string `json:"root" jsonschema:"the folder to serve"`
	}
	p := sdk.New("folder", "1.0.0")
	config := sdk.Configure(p, func(_ context.Context, s sdk.Setup, c settings) error {
		if _, err := os.Stat(c.Root); err != nil {
			return sdk.Invalid("/root", "No such folder", "%v.", err)
		}
		return nil
	})
	p.AddTemplate(sdk.Template{URITemplate: "folder:///{name}", Name: "file"},
		func(_ context.Context, _ *sdk.Call, r sdk.Read) (*sdk.ReadResult, error) {
			root, err := os.OpenRoot(config.Get().Root)
			if err != nil {
				return nil, err
			}
			defer root.Close()
			data, err := root.ReadFile(r.Vars["name"])
			if err != nil {
				return nil, err // fs.ErrNotExist becomes "resource not found"
			}
			return r.Blob(data), nil
		})
}

func ExampleAddPrompt() {
	p := sdk.New("review", "1.0.0")
	sdk.AddPrompt(p, sdk.Prompt{Name: "review", Description: "Asks for a review."},
		func(_ context.Context, _ *sdk.Call, in struct {
			Language string `json:"language" jsonschema:"of the code"`
		},
		) (*sdk.PromptResult, error) {
			return sdk.UserPrompt("Review this " + in.Language + " code."), nil
		})
	p.CompletePrompt("review", "language", func(_ context.Context, _ *sdk.Call, typed sdk.Completing) ([]string, error) {
		return []string{"Go", "Python", "Rust", "TypeScript"}, nil
	})
}
