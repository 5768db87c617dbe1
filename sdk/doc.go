// Package sdk is what the author of a plugin in Go sees: a tool is one typed function.
//
//	type Greeting struct {
//		Name string `json:"name" jsonschema:"whom to greet"`
//	}
//
//	func main() {
//		p := sdk.New("hello", "1.0.0")
//		sdk.AddTool(p, sdk.Tool{Name: "greet", Description: "Greets somebody."},
//			func(ctx context.Context, c *sdk.Call, in Greeting) (string, error) {
//				return "Hello, " + in.Name + "!", nil
//			})
//		p.Main()
//	}
//
// The JSON Schemas come from the types. What a function returns becomes text and structured content of
// the same bytes, an error becomes an error result that the model can read, a panic becomes an error
// result that tells nothing and a line in the log. A function that needs an answer from the user asks with
// [Elicit] and is entered again when the answer is there.
//
// The package promises compatibility to its users. Everything in it is safe for concurrent use, unless it says otherwise.
package sdk
