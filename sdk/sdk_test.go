package sdk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
	"github.com/mcphost/mcphost/sdk"
	"github.com/mcphost/mcphost/sdk/sdktest"
)

// TestMain also makes the test binary a plugin, and the parent of one, for the tests that need real processes.
func TestMain(m *testing.M) {
	switch os.Getenv("SDK_TEST_ROLE") {
	case "plugin":
		processPlugin().Main()
	case "parent":
		dyingParent()
		return
	}
	goleak.VerifyTestMain(m)
}

// quiet is a plugin whose log goes to a buffer.
func quiet(options ...sdk.Option) (*sdk.Plugin, *lockedBuffer) {
	log := &lockedBuffer{}
	logger := hclog.New(&hclog.LoggerOptions{Output: log, JSONFormat: true, Level: hclog.Debug})
	return sdk.New("test", "1.2.3", append(options, sdk.WithLogger(logger))...), log
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

type weatherIn struct {
	City string   `json:"city" jsonschema:"name of the city"`
	Days int      `json:"days" default:"3" minimum:"1" maximum:"10" jsonschema:"how many"`
	Unit string   `json:"unit" default:"C" enum:"C,F"`
	Tags []string `json:"tags,omitempty"`
	Near *float64 `json:"near,omitempty"`
	Zone string   `json:"zone,omitempty" header:"Region"`
}

type weatherOut struct {
	Text  string `json:"text"`
	Days  int    `json:"days"`
	Unit  string `json:"unit"`
	Lists []int  `json:"lists"`
}

func weather(_ context.Context, _ *sdk.Call, in weatherIn) (weatherOut, error) {
	return weatherOut{Text: "<sun> & rain in " + in.City, Days: in.Days, Unit: in.Unit}, nil
}

func equalJSON(t *testing.T, what string, got []byte, want string) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatalf("%s is %q: %v", what, got, err)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestSchemasComeFromTypes(t *testing.T) {
	p, _ := quiet()
	sdk.AddTool(p, sdk.Tool{Name: "weather", Title: "Weather", Description: "Tells it.", ReadOnly: sdk.Yes, OpenWorld: sdk.No}, weather)
	tool := sdktest.Start(t, p).Catalog().GetTools()[0]
	equalJSON(t, "input schema", tool.GetInputSchemaJson(), `{
		"type":"object","additionalProperties":false,"required":["city"],
		"properties":{
			"city":{"type":"string","description":"name of the city"},
			"days":{"type":"integer","description":"how many","default":3,"minimum":1,"maximum":10},
			"unit":{"type":"string","default":"C","enum":["C","F"]},
			"tags":{"type":"array","items":{"type":"string"}},
			"near":{"type":["null","number"]},
			"zone":{"type":"string","x-mcp-header":"Region"}}}`)
	equalJSON(t, "output schema", tool.GetOutputSchemaJson(), `{
		"type":"object","additionalProperties":false,"required":["text","days","unit","lists"],
		"properties":{"text":{"type":"string"},"days":{"type":"integer"},"unit":{"type":"string"},
			"lists":{"type":["null","array"],"items":{"type":"integer"}}}}`)
	if a := tool.GetAnnotations(); !a.GetReadOnly() || a.OpenWorld == nil || a.GetOpenWorld() || a.Destructive != nil {
		t.Errorf("annotations = %v, want read only, not open world, the rest unknown", a)
	}
}

func TestOneValueIsTextAndStructuredContentOfTheSameBytes(t *testing.T) {
	p, _ := quiet()
	sdk.AddTool(p, sdk.Tool{Name: "weather"}, weather)
	got := sdktest.Start(t, p).Call("weather", map[string]any{"city": "Oslo"})
	const want = `{"text":"<sun> & rain in Oslo","days":3,"unit":"C","lists":null}`
	if text := got.Text(); text != want {
		t.Errorf("text = %s, want %s", text, want)
	}
	if structured := string(got.GetResult().GetStructuredJson()); structured != want {
		t.Errorf("structured content = %s, want %s", structured, want)
	}
}

func TestWrongArgumentsAreAnErrorResultThatNamesTheField(t *testing.T) {
	tests := map[string]struct{ arguments, want string }{
		"wrong type":     {`{"city":5}`, `invalid arguments: "city" must be string, not number`},
		"fraction":       {`{"city":"a","days":1.5}`, `invalid arguments: "days" must be integer, not number 1.5`},
		"missing":        {`{"days":1}`, `invalid arguments: "city" is missing`},
		"missing twice":  {`{"days":1,"days":2}`, `invalid arguments: "city" is missing`},
		"unknown":        {`{"city":"a","town":"b"}`, `invalid arguments: "town" is unknown`},
		"other case":     {`{"City":"a"}`, `invalid arguments: "City" is unknown`},
		"null":           {`{"city":null}`, `invalid arguments: "city" must be string, not null`},
		"nested":         {`{"city":"a","tags":["x",{}]}`, `invalid arguments: "tags" must be string, not object`},
		"no object":      {`[1]`, `invalid arguments: must be object, not array`},
		"null arguments": {`null`, `invalid arguments: must be an object`},
		"escaped name":   {`{"ci\u0074y":"a","\u0074own":1}`, `invalid arguments: "town" is unknown`},
	}
	p, _ := quiet()
	sdk.AddTool(p, sdk.Tool{Name: "weather"}, weather)
	c := sdktest.Start(t, p)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := c.Call("weather", json.RawMessage(test.arguments))
			if !got.IsError() || got.Text() != test.want {
				t.Errorf("result = %v %q, want error %q", got.IsError(), got.Text(), test.want)
			}
		})
	}
}

func TestNullIsFineWhereTheSchemaAllowsIt(t *testing.T) {
	p, _ := quiet()
	sdk.AddTool(p, sdk.Tool{Name: "weather"}, weather)
	got := sdktest.Start(t, p).Call("weather", json.RawMessage(`{"city":"{\"}","near":null,"tags":["a\\",":"]}`))
	if got.IsError() {
		t.Errorf("error result %q", got.Text())
	}
}

type when struct {
	Day sdkDay `json:"day"`
}

type sdkDay string

func (d *sdkDay) UnmarshalText(text []byte) error {
	if string(text) != "monday" {
		return errors.New("no such day")
	}
	*d = sdkDay(text)
	return nil
}

func TestErrorOfATypesOwnDecoderNamesTheField(t *testing.T) {
	p, _ := quiet()
	sdk.AddTool(p, sdk.Tool{Name: "f"}, func(context.Context, *sdk.Call, when) (string, error) { return "", nil })
	got := sdktest.Start(t, p).Call("f", map[string]any{"day": "x"})
	if want := `invalid arguments: "day" no such day`; got.Text() != want || !got.IsError() {
		t.Errorf("result = %q, want %q", got.Text(), want)
	}
}

func TestKindsOfResults(t *testing.T) {
	type in = struct{}
	p, _ := quiet()
	sdk.AddTool(p, sdk.Tool{Name: "text"}, func(context.Context, *sdk.Call, in) (string, error) { return "hi", nil })
	sdk.AddTool(p, sdk.Tool{Name: "image"}, func(context.Context, *sdk.Call, in) (sdk.Image, error) {
		return sdk.Image{Data: []byte{0, 255}, MIMEType: "image/png"}, nil
	})
	sdk.AddTool(p, sdk.Tool{Name: "blocks"}, func(context.Context, *sdk.Call, in) ([]sdk.Content, error) {
		half := 0.5
		return []sdk.Content{
			sdk.Annotated{Content: sdk.Text("a"), Audience: []string{"user"}, Priority: &half},
			sdk.Audio{Data: []byte("x"), MIMEType: "audio/wav"},
			sdk.EmbeddedResource{URI: "a:b", Text: "t"},
			sdk.EmbeddedResource{URI: "a:c", Blob: []byte{}},
			sdk.ResourceLink{URI: "a:d", Name: "d"},
			sdk.RawContent(`{"type":"new","n":9007199254740993}`),
		}, nil
	})
	sdk.AddTool(p, sdk.Tool{Name: "nothing"}, func(context.Context, *sdk.Call, in) (struct{}, error) { return struct{}{}, nil })
	sdk.AddTool(p, sdk.Tool{Name: "any"}, func(context.Context, *sdk.Call, in) (any, error) { return map[string]int{"a": 1}, nil })
	sdk.AddTool(p, sdk.Tool{Name: "list"}, func(context.Context, *sdk.Call, in) ([]int, error) { return []int{1, 2}, nil })
	sdk.AddTool(p, sdk.Tool{Name: "pointer"}, func(context.Context, *sdk.Call, in) (*weatherOut, error) { return nil, nil })
	sdk.AddTool(p, sdk.Tool{Name: "whole"}, func(context.Context, *sdk.Call, in) (*sdk.Result, error) {
		return &sdk.Result{Structured: map[string]int{"n": 1}, IsError: true, Meta: map[string]any{"k": "v"}}, nil
	})
	sdk.AddTool(p, sdk.Tool{Name: "own", OutputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *sdk.Call, in) (any, error) {
		return map[string]int{"n": 1}, nil
	})
	sdk.AddTool(p, sdk.Tool{Name: "broken"}, func(context.Context, *sdk.Call, in) (any, error) { return make(chan int), nil })
	c := sdktest.Start(t, p)
	tests := map[string]struct{ want, structured string }{
		"text":    {want: `[{"text":"hi"}]`},
		"image":   {want: `[{"image":{"data":"AP8=","mimeType":"image/png"}}]`},
		"nothing": {want: `[]`},
		"any":     {want: `[{"text":"{\"a\":1}"}]`},
		"list":    {want: `[{"text":"[1,2]"}]`, structured: `[1,2]`},
		"pointer": {want: `[{"text":"the tool returned no value"}]`},
		"whole":   {want: `[{"text":"{\"n\":1}"}]`, structured: `{"n":1}`},
		"own":     {want: `[{"text":"{\"n\":1}"}]`, structured: `{"n":1}`},
		"broken":  {want: `[{"text":"encoding the result: json: unsupported type: chan int"}]`},
		"blocks": {want: `[{"text":"a","annotationsJson":{"audience":["user"],"priority":0.5}},{"audio":{"data":"eA==","mimeType":"audio/wav"}},
			{"resource":{"uri":"a:b","text":"t"}},{"resource":{"uri":"a:c","blob":""}},{"resourceLink":{"uri":"a:d","name":"d"}},
			{"contentJson":{"type":"new","n":9007199254740993}}]`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := c.Call(name, struct{}{})
			equalJSON(t, "content", sdktest.ReadableJSON(t, got.GetResult().GetContent()), test.want)
			if s := string(got.GetResult().GetStructuredJson()); s != test.structured {
				t.Errorf("structured content = %s, want %s", s, test.structured)
			}
		})
	}
	for _, tool := range c.Catalog().GetTools() {
		_, structured := tests[tool.GetName()]
		structured = structured && tests[tool.GetName()].structured != "" && tool.GetName() != "whole"
		if has := len(tool.GetOutputSchemaJson()) > 0; has != (structured || tool.GetName() == "pointer") {
			t.Errorf("tool %s has an output schema: %v", tool.GetName(), has)
		}
	}
}

func TestErrorsOfTools(t *testing.T) {
	p, log := quiet()
	add := func(name string, err error) {
		sdk.AddTool(p, sdk.Tool{Name: name}, func(context.Context, *sdk.Call, struct{}) (weatherOut, error) { return weatherOut{}, err })
	}
	add("plain", errors.New("no such city"))
	add("own", &sdk.Error{Code: -32021, Message: "missing", Data: map[string]int{"n": 1}})
	sdk.AddTool(p, sdk.Tool{Name: "panics"}, func(context.Context, *sdk.Call, struct{}) (string, error) { panic("secret detail") })
	c := sdktest.Start(t, p)

	if got := c.Call("plain", struct{}{}); !got.IsError() || got.Text() != "no such city" || got.GetResult().GetStructuredJson() != nil {
		t.Errorf("plain error = %v", got)
	}
	if e := c.Call("own", struct{}{}).GetError(); e.GetCode() != -32021 || e.GetMessage() != "missing" || string(e.GetDataJson()) != `{"n":1}` {
		t.Errorf("own error = %v", e)
	}
	if e := c.Call("unknown", struct{}{}).GetError(); e.GetCode() != sdk.CodeInvalidParams {
		t.Errorf("unknown tool = %v, want invalid params", e)
	}
	got := c.Call("panics", struct{}{})
	if !got.IsError() || !strings.HasPrefix(got.Text(), "internal error in tool panics (incident ") || strings.Contains(got.Text(), "secret") {
		t.Errorf("panic = %q", got.Text())
	}
	if text := log.String(); !strings.Contains(text, "secret detail") || !strings.Contains(text, `"stack"`) || !strings.Contains(text, "sdk_test.go") {
		t.Errorf("log = %s, want the panic and its stack", text)
	}
	if got := c.Call("plain", struct{}{}); got.Text() != "no such city" {
		t.Errorf("after a panic: %v", got)
	}
}

func TestTextThatIsNotUTF8DoesNotBreakTheCall(t *testing.T) {
	p, _ := quiet()
	sdk.AddTool(p, sdk.Tool{Name: "text"}, func(_ context.Context, c *sdk.Call, _ struct{}) (string, error) {
		c.Progress(1, 0, "\xff")
		return "a\xffb", nil
	})
	sdk.AddTool(p, sdk.Tool{Name: "error"}, func(context.Context, *sdk.Call, struct{}) (string, error) { return "", errors.New("a\xffb") })
	c := sdktest.Start(t, p)
	for _, name := range []string{"text", "error"} {
		if got := c.Call(name, struct{}{}).Text(); got != "a\uFFFDb" {
			t.Errorf("%s = %q", name, got)
		}
	}
}

func TestUnaryAndStreamAgree(t *testing.T) {
	p, _ := quiet()
	sdk.AddTool(p, sdk.Tool{Name: "steps"}, func(_ context.Context, c *sdk.Call, _ struct{}) (string, error) {
		c.Progress(0, 100, "begin")
		c.Progress(50, 100, "")
		c.Progress(50, 100, "did not grow")
		c.Log(sdk.LevelDebug, "too fine")
		c.Logf(sdk.LevelInfo, "half of %d", 2)
		c.LogAs(sdk.LevelError, "net", map[string]int{"code": 7})
		return "done", nil
	})
	c := sdktest.Start(t, p)
	stream, err := c.CallToolStream(t.Context(), &pluginv1.CallToolStreamRequest{Call: &pluginv1.CallToolRequest{
		Name: "steps", Context: &pluginv1.CallContext{WantProgress: true, LogLevel: "info"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		event, err := stream.Recv()
		if err != nil {
			break
		}
		switch {
		case event.GetProgress() != nil:
			got = append(got, "progress "+event.GetProgress().GetMessage())
		case event.GetLog() != nil:
			got = append(got, event.GetLog().GetLevel()+" "+event.GetLog().GetLogger()+" "+string(event.GetLog().GetDataJson()))
		default:
			got = append(got, "outcome "+event.GetOutcome().GetResult().GetContent()[0].GetText())
		}
	}
	want := []string{"progress begin", "progress ", `info  "half of 2"`, `error net {"code":7}`, "outcome done"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	unary, err := c.CallTool(t.Context(), &pluginv1.CallToolRequest{Name: "steps"})
	if err != nil || unary.GetResult().GetContent()[0].GetText() != "done" {
		t.Errorf("unary = %v, %v", unary, err)
	}
}

func TestCancelReachesTheTool(t *testing.T) {
	p, _ := quiet()
	started, ended := make(chan struct{}), make(chan struct{})
	sdk.AddTool(p, sdk.Tool{Name: "wait"}, func(ctx context.Context, _ *sdk.Call, _ struct{}) (string, error) {
		defer close(ended)
		close(started)
		<-ctx.Done()
		return "", ctx.Err()
	})
	c := sdktest.Start(t, p)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	_, err := c.CallTool(ctx, &pluginv1.CallToolRequest{Name: "wait"})
	if status.Code(err) != codes.Canceled {
		t.Errorf("error = %v, want canceled", err)
	}
	<-ended
}

func TestTheCallKnowsItsCaller(t *testing.T) {
	p, _ := quiet(sdk.WithSecret("token", "of the service", true))
	sdk.AddTool(p, sdk.Tool{Name: "who"}, func(_ context.Context, c *sdk.Call, _ struct{}) (map[string]any, error) {
		token, _ := c.Secret("token")
		_, other := c.Secret("other")
		return map[string]any{
			"id": c.ID(), "subject": c.Principal().Subject, "editor": c.Principal().HasScope("editor"), "client": c.Client().Name,
			"version": c.ProtocolVersion(), "session": c.Session(), "round": c.Round(), "attempt": c.Attempt(), "trace": c.Traceparent(),
			"state": c.Tracestate(), "meta": c.Meta(), "endpoint": c.Endpoint(), "transport": c.Transport(), "token": token, "other": other,
			"handle": c.Handle(), "sampling": c.Supports("sampling"), "elicitation": c.Supports("elicitation"), "dir": c.DataDir() != "",
		}, nil
	})
	c := sdktest.Start(t, p, sdktest.WithSecret("token", "s3cret"))
	response, err := c.CallTool(t.Context(), &pluginv1.CallToolRequest{Name: "who", Context: &pluginv1.CallContext{
		CallId: "7", Principal: &pluginv1.Principal{Subject: "ann", Scopes: []string{"editor"}}, ProtocolVersion: "2026-07-28",
		ClientInfoJson: []byte(`{"name":"cli","version":"1"}`), Session: "s", Round: 1, Attempt: 2, Traceparent: "00-ab", Tracestate: "x=y",
		MetaJson: []byte(`{"k":1}`), Endpoint: "demo", Transport: "stdio", ClientCapabilitiesJson: []byte(`{"sampling":{}}`),
	}})
	if err != nil {
		t.Fatal(err)
	}
	equalJSON(t, "the caller", response.GetResult().GetStructuredJson(), `{"id":"7","subject":"ann","editor":true,"client":"cli","version":"2026-07-28",
		"session":"s","round":1,"attempt":2,"trace":"00-ab","state":"x=y","meta":{"k":1},"endpoint":"demo","transport":"stdio","token":"s3cret","other":false,
		"handle":"test","sampling":true,"elicitation":false,"dir":true}`)
}

func TestFiftyCallsAtOnceWhileToolsChange(t *testing.T) {
	p, _ := quiet(sdk.WithResourceUpdates())
	sdk.AddTool(p, sdk.Tool{Name: "echo"}, func(_ context.Context, c *sdk.Call, in struct {
		N    int64  `json:"n"`
		Text string `json:"text"`
	},
	) (map[string]any, error) {
		c.Progress(1, 2, "half")
		p.ResourceUpdated("a:b")
		sdk.AddTool(p, sdk.Tool{Name: "other", Description: in.Text}, weather)
		return map[string]any{"n": in.N, "text": in.Text}, nil
	})
	c := sdktest.Start(t, p)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			want := fmt.Sprintf(`{"n":%d,"text":"æ日本\\u0000%d"}`, int64(1)<<53+int64(i), i)
			response, err := c.CallTool(t.Context(), &pluginv1.CallToolRequest{Name: "echo", ArgumentsJson: []byte(want)})
			if got := string(response.GetResult().GetStructuredJson()); err != nil || got != want {
				t.Errorf("got %s, %v; want %s", got, err, want)
			}
		})
	}
	wg.Wait()
	if got := len(c.Catalog().GetTools()); got != 2 {
		t.Errorf("%d tools, want 2", got)
	}
}

func TestTooLargeAResultIsAnErrorResult(t *testing.T) {
	p, _ := quiet()
	sdk.AddTool(p, sdk.Tool{Name: "big"}, func(_ context.Context, _ *sdk.Call, in struct {
		Echo string `json:"echo"`
	},
	) (string, error) {
		return in.Echo, nil
	})
	got := sdktest.Start(t, p).Call("big", map[string]string{"echo": strings.Repeat("x", pluginv1.MaxMessageFromPlugin)})
	if !got.IsError() || !strings.HasPrefix(got.Text(), "the result is too large") {
		t.Errorf("result = %.100q", got.Text())
	}
}

func TestBrokenDefinitionsPanic(t *testing.T) {
	type loop struct {
		Next *loop `json:"next,omitempty"`
	}
	tests := map[string]func(p *sdk.Plugin){
		"name":   func(p *sdk.Plugin) { sdk.AddTool(p, sdk.Tool{Name: "a/b"}, weather) },
		"empty":  func(p *sdk.Plugin) { sdk.AddTool(p, sdk.Tool{}, weather) },
		"schema": func(p *sdk.Plugin) { sdk.AddTool(p, sdk.Tool{Name: "a", InputSchema: json.RawMessage("{")}, weather) },
		"cycle": func(p *sdk.Plugin) {
			sdk.AddTool(p, sdk.Tool{Name: "a"}, func(context.Context, *sdk.Call, loop) (string, error) { return "", nil })
		},
		"no object": func(p *sdk.Plugin) {
			sdk.AddTool(p, sdk.Tool{Name: "a"}, func(context.Context, *sdk.Call, string) (string, error) { return "", nil })
		},
		"default": func(p *sdk.Plugin) {
			sdk.AddTool(p, sdk.Tool{Name: "a"}, func(context.Context, *sdk.Call, struct {
				N int `json:"n" default:"many"`
			},
			) (string, error) {
				return "", nil
			})
		},
		"template": func(p *sdk.Plugin) { p.AddTemplate(sdk.Template{Name: "a", URITemplate: "a:{"}, nil) },
		"resource": func(p *sdk.Plugin) { p.AddResource(sdk.Resource{Name: "a"}, nil) },
		"prompt": func(p *sdk.Plugin) {
			sdk.AddPrompt(p, sdk.Prompt{Name: "a"}, func(context.Context, *sdk.Call, struct{ N int }) (*sdk.PromptResult, error) { return nil, nil })
		},
	}
	for name, broken := range tests {
		t.Run(name, func(t *testing.T) {
			p, _ := quiet()
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			broken(p)
		})
	}
}
