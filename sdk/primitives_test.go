package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
	"github.com/mcphost/mcphost/sdk"
	"github.com/mcphost/mcphost/sdk/sdktest"
)

func TestReadingResources(t *testing.T) {
	p, _ := quiet()
	size := int64(4)
	p.AddResource(sdk.Resource{URI: "t:text", Name: "text", MIMEType: "text/plain", Size: &size}, func(_ context.Context, _ *sdk.Call, r sdk.Read) (*sdk.ReadResult, error) {
		result := r.Text("text")
		result.TTL, result.Public = time.Minute, true
		return result, nil
	})
	p.AddTemplate(sdk.Template{URITemplate: "t:item/{id}/{part}", Name: "item", MIMEType: "a/b"}, func(_ context.Context, _ *sdk.Call, r sdk.Read) (*sdk.ReadResult, error) {
		switch r.Vars["id"] {
		case "gone":
			return nil, fmt.Errorf("opening: %w", fs.ErrNotExist)
		case "empty":
			return nil, nil
		case "bad":
			return nil, errors.New("disk is on fire")
		case "panic":
			panic("secret")
		}
		return r.Blob([]byte(r.Vars["id"] + "+" + r.Vars["part"])), nil
	})
	p.AddTemplate(sdk.Template{URITemplate: "file:///{+path}", Name: "file"}, func(_ context.Context, _ *sdk.Call, r sdk.Read) (*sdk.ReadResult, error) {
		return r.Text(r.Vars["path"]), nil
	})
	c := sdktest.Start(t, p)
	tests := map[string]string{
		"t:text":          `result:{contents:{uri:"t:text" mime_type:"text/plain" text:"text"} cache:{ttl:{seconds:60} scope:SCOPE_PUBLIC}}`,
		"t:item/5%20a/x":  `result:{contents:{uri:"t:item/5%20a/x" mime_type:"a/b" blob:"5 a+x"} cache:{ttl:{} scope:SCOPE_PRIVATE}}`,
		"file:///a/b.txt": `result:{contents:{uri:"file:///a/b.txt" text:"a/b.txt"} cache:{ttl:{} scope:SCOPE_PRIVATE}}`,
		"t:item/gone/x":   `error:{code:-32602 message:"resource not found" data_json:"{\"uri\":\"t:item/gone/x\"}"}`,
		"t:item/empty/x":  `error:{code:-32602 message:"resource not found" data_json:"{\"uri\":\"t:item/empty/x\"}"}`,
		"t:unknown":       `error:{code:-32602 message:"resource not found" data_json:"{\"uri\":\"t:unknown\"}"}`,
		"t:item/bad/x":    `error:{code:-32603 message:"disk is on fire"}`,
	}
	for uri, want := range tests {
		t.Run(uri, func(t *testing.T) {
			got, err := c.ReadResource(t.Context(), &pluginv1.ReadResourceRequest{Uri: uri})
			if err != nil {
				t.Fatal(err)
			}
			if text := compact(got); text != want {
				t.Errorf("got  %s\nwant %s", text, want)
			}
		})
	}
	got, err := c.ReadResource(t.Context(), &pluginv1.ReadResourceRequest{Uri: "t:item/panic/x"})
	if message := got.GetError().GetMessage(); err != nil || !strings.HasPrefix(message, "internal error in resource") {
		t.Errorf("panic = %q, %v", message, err)
	}
}

// compact is the text form with the spaces that protobuf varies on purpose taken out.
func compact(m proto.Message) string {
	text := strings.Join(strings.Fields(fmt.Sprint(m)), " ")
	return strings.ReplaceAll(text, ": ", ":")
}

func TestPromptArgumentsComeFromTheType(t *testing.T) {
	type in struct {
		City string `json:"city" jsonschema:"which one"`
		Tone string `json:"tone" default:"dry"`
	}
	p, _ := quiet()
	sdk.AddPrompt(p, sdk.Prompt{Name: "p", Description: "d"}, func(_ context.Context, _ *sdk.Call, in in) (*sdk.PromptResult, error) {
		return &sdk.PromptResult{Description: "x", Messages: []sdk.Message{sdk.User(sdk.Text(in.City)), sdk.Assistant(sdk.Text(in.Tone))}}, nil
	})
	sdk.AddPrompt(p, sdk.Prompt{Name: "q", Arguments: []sdk.PromptArgument{{Name: "any"}}}, func(_ context.Context, _ *sdk.Call, in map[string]string) (*sdk.PromptResult, error) {
		return sdk.UserPrompt(in["any"]), nil
	})
	c := sdktest.Start(t, p)
	if got, want := compact(c.Catalog().GetPrompts()[0]), `name:"p" description:"d" arguments:{name:"city" description:"which one" required:true} arguments:{name:"tone"}`; got != want {
		t.Errorf("definition = %s, want %s", got, want)
	}
	get := func(name string, arguments map[string]string) string {
		got, err := c.GetPrompt(t.Context(), &pluginv1.GetPromptRequest{Name: name, Arguments: arguments})
		if err != nil {
			t.Fatal(err)
		}
		return compact(got)
	}
	tests := []struct{ got, want string }{
		{get("p", map[string]string{"city": "Oslo"}), `result:{description:"x" messages:{role:"user" content:{text:"Oslo"}} messages:{role:"assistant" content:{text:"dry"}}}`},
		{get("p", nil), `error:{code:-32602 message:"invalid arguments:\"city\" is missing"}`},
		{get("q", map[string]string{"any": "1"}), `result:{messages:{role:"user" content:{text:"1"}}}`},
		{get("r", nil), `error:{code:-32602 message:"unknown prompt \"r\""}`},
	}
	for _, test := range tests {
		if test.got != test.want {
			t.Errorf("got  %s\nwant %s", test.got, test.want)
		}
	}
}

func TestCompletion(t *testing.T) {
	p, _ := quiet()
	sdk.AddPrompt(p, sdk.Prompt{Name: "p"}, func(context.Context, *sdk.Call, map[string]string) (*sdk.PromptResult, error) { return nil, nil })
	p.AddTemplate(sdk.Template{URITemplate: "t:{id}", Name: "t"}, nil)
	p.CompletePrompt("p", "city", func(_ context.Context, _ *sdk.Call, typed sdk.Completing) ([]string, error) {
		return []string{typed.Value + "slo", typed.Others["land"], typed.Argument}, nil
	})
	p.CompleteTemplate("t:{id}", "id", func(context.Context, *sdk.Call, sdk.Completing) ([]string, error) { return make([]string, 150), nil })
	c := sdktest.Start(t, p)
	complete := func(kind pluginv1.PrimitiveRef_Kind, name, argument string) *pluginv1.CompleteResponse {
		got, err := c.Complete(t.Context(), &pluginv1.CompleteRequest{
			Reference: &pluginv1.PrimitiveRef{Kind: kind, Name: name}, ArgumentName: argument, ArgumentValue: "o",
			ContextArguments: map[string]string{"land": "no"},
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := complete(pluginv1.PrimitiveRef_KIND_PROMPT, "p", "city").GetResult().GetValues(); !cmp.Equal(got, []string{"oslo", "no", "city"}) {
		t.Errorf("values = %v", got)
	}
	many := complete(pluginv1.PrimitiveRef_KIND_RESOURCE_TEMPLATE, "t:{id}", "id").GetResult()
	if len(many.GetValues()) != 100 || many.GetTotal() != 150 || !many.GetHasMore() {
		t.Errorf("cut to %d of %d, more %v", len(many.GetValues()), many.GetTotal(), many.GetHasMore())
	}
	if got := complete(pluginv1.PrimitiveRef_KIND_PROMPT, "p", "other"); got.GetResult() == nil || len(got.GetResult().GetValues()) != 0 {
		t.Errorf("argument without completion = %v", got)
	}
	if got := complete(pluginv1.PrimitiveRef_KIND_PROMPT, "unknown", "x"); got.GetError().GetCode() != sdk.CodeInvalidParams {
		t.Errorf("unknown prompt = %v", got)
	}
}

func TestChangesWhileRunningReachTheWatcher(t *testing.T) {
	p, _ := quiet(sdk.WithInstructions("be kind"), sdk.WithResourceUpdates())
	sdk.AddTool(p, sdk.Tool{Name: "b"}, weather)
	c := sdktest.Start(t, p)
	stream, err := c.Watch(t.Context(), &pluginv1.WatchRequest{})
	if err != nil {
		t.Fatal(err)
	}
	names := func(part *pluginv1.CatalogPart) (list []string) {
		for _, tool := range part.GetTools() {
			list = append(list, tool.GetName())
		}
		return list
	}
	first := c.NextCatalog(stream)
	if first.GetInstructions() != "be kind" || !cmp.Equal(names(first), []string{"b"}) {
		t.Fatalf("first catalog = %v", first)
	}
	sdk.AddTool(p, sdk.Tool{Name: "a"}, weather)
	second := c.NextCatalog(stream)
	if second.GetRevision() <= first.GetRevision() || !cmp.Equal(names(second), []string{"a", "b"}) {
		t.Fatalf("second catalog = %v, after revision %d", second, first.GetRevision())
	}
	p.RemoveTool("b")
	if third := c.NextCatalog(stream); !cmp.Equal(names(third), []string{"a"}) {
		t.Fatalf("third catalog = %v", third)
	}
	p.ResourceUpdated("x:y")
	event, err := stream.Recv()
	if err != nil || event.GetResourceUpdated().GetUri() != "x:y" {
		t.Errorf("event = %v, %v", event, err)
	}
}

func TestManyToolsAreAddedInNoTime(t *testing.T) {
	p, _ := quiet()
	const many = 20_000
	for i := range many {
		sdk.AddTool(p, sdk.Tool{Name: fmt.Sprint("t", i), Definition: json.RawMessage(`{"description":"d"}`)},
			func(context.Context, *sdk.Call, json.RawMessage) (*sdk.Result, error) {
				return &sdk.Result{Content: []sdk.Content{sdk.Text(fmt.Sprint(i))}}, nil
			})
	}
	c := sdktest.Start(t, p)
	if got := len(c.Catalog().GetTools()); got != many {
		t.Errorf("%d tools, want %d", got, many)
	}
	if got := c.Call("t12345", struct{}{}).Text(); got != "12345" {
		t.Errorf("result = %q", got)
	}
}

func TestABigCatalogComesInParts(t *testing.T) {
	p, _ := quiet()
	for i := range 5 {
		sdk.AddTool(p, sdk.Tool{Name: fmt.Sprint("t", i), Description: strings.Repeat("d", 700<<10)}, weather)
	}
	c := sdktest.Start(t, p)
	stream, err := c.Watch(t.Context(), &pluginv1.WatchRequest{})
	if err != nil {
		t.Fatal(err)
	}
	parts, tools := 0, 0
	for last := false; !last; parts++ {
		event, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if size := proto.Size(event); size > 2<<20 {
			t.Errorf("a part has %d bytes", size)
		}
		last = event.GetCatalog().GetLast()
		tools += len(event.GetCatalog().GetTools())
	}
	if parts < 4 || tools != 5 {
		t.Errorf("%d parts with %d tools", parts, tools)
	}
}

type settings struct {
	Root  string `json:"root" jsonschema:"the folder"`
	Depth int    `json:"depth" default:"3"`
	Token string `json:"token,omitempty" secret:"true"`
	Odd   struct {
		Deep int `json:"a/b,omitempty"`
	} `json:"odd,omitzero"`
}

func (s settings) Validate() error {
	if s.Root == "bad" {
		return sdk.Diagnostics{
			sdk.Invalid("/root", "No such folder", "There is no folder %q.", s.Root),
			{Severity: sdk.SeverityWarning, Summary: "Odd", Pointer: "/depth"},
		}
	}
	return nil
}

func TestConfigurationIsCheckedAndHandedOver(t *testing.T) {
	p, _ := quiet()
	var config *sdk.Config[settings]
	config = sdk.Configure(p, func(_ context.Context, s sdk.Setup, v settings) error {
		if v.Root == "taken" {
			return errors.New("the folder is taken")
		}
		if v.Root == "panic" {
			panic("x")
		}
		secret, _ := s.Secret("token")
		sdk.AddTool(p, sdk.Tool{Name: "late"}, func(context.Context, *sdk.Call, struct{}) (string, error) {
			return fmt.Sprint(config.Get().Root, config.Get().Depth, s.Handle, secret), nil
		})
		return nil
	})
	c := sdktest.Connect(t, p)
	about, err := c.Describe(t.Context(), &pluginv1.DescribeRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(about.GetConfigSchemaJson(), &schema); err != nil || fmt.Sprint(schema["required"]) != "[root]" {
		t.Errorf("schema = %s, %v", about.GetConfigSchemaJson(), err)
	}
	if token := schema["properties"].(map[string]any)["token"].(map[string]any); token["writeOnly"] != true {
		t.Errorf("a secret is not marked: %v", token)
	}
	tests := map[string]string{
		`{"root":"ok"}`:                  ``,
		`{"root":"bad"}`:                 `/root: No such folder: There is no folder "bad".|/depth: Odd`,
		`{}`:                             `: Invalid configuration: The attribute "root" is missing.`,
		``:                               `: Invalid configuration: The attribute "root" is missing.`,
		`{"root":5}`:                     `/root: Invalid configuration: The attribute "root" must be string, not number.`,
		`{"root":"a","odd":{"a/b":"x"}}`: `/odd/a~1b: Invalid configuration: The attribute "odd.a/b" must be integer, not string.`,
		`{"root":"a","rot":1}`:           `/rot: Invalid configuration: The attribute "rot" is unknown.`,
	}
	for raw, want := range tests {
		t.Run(raw, func(t *testing.T) {
			got, err := c.ValidateConfig(t.Context(), &pluginv1.ValidateConfigRequest{ConfigJson: []byte(raw)})
			if err != nil {
				t.Fatal(err)
			}
			if text := diagnostics(got.GetDiagnostics()); text != want {
				t.Errorf("got  %s\nwant %s", text, want)
			}
		})
	}
	if _, err := c.CallTool(t.Context(), &pluginv1.CallToolRequest{Name: "late"}); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("call before Configure: %v", err)
	}
	configure := func(raw string) string {
		got, err := c.Configure(t.Context(), &pluginv1.ConfigureRequest{Handle: "h", ConfigJson: []byte(raw), Secrets: map[string]string{"token": "s"}})
		if err != nil {
			return status.Code(err).String()
		}
		return diagnostics(got.GetDiagnostics())
	}
	if got := configure(`{"root":"taken"}`); got != ": Invalid configuration: the folder is taken" {
		t.Errorf("configure = %q", got)
	}
	if got := configure(`{"root":"panic"}`); !strings.Contains(got, "internal error in the set-up") {
		t.Errorf("configure = %q", got)
	}
	if got := configure(`{"root":"ok"}`); got != "" {
		t.Errorf("configure = %q", got)
	}
	if got := configure(`{"root":"ok"}`); got != codes.FailedPrecondition.String() {
		t.Errorf("configure again = %q", got)
	}
	if got := c.Call("late", struct{}{}); got.Text() != "ok3hs" {
		t.Errorf("result = %q", got.Text())
	}
}

func TestAPluginWithoutConfigurationTakesNone(t *testing.T) {
	p, _ := quiet()
	c := sdktest.Connect(t, p)
	got, err := c.ValidateConfig(t.Context(), &pluginv1.ValidateConfigRequest{ConfigJson: []byte(`{"x":1}`)})
	if err != nil || diagnostics(got.GetDiagnostics()) != `/x: Invalid configuration: The attribute "x" is unknown.` {
		t.Errorf("got %v, %v", got, err)
	}
}

func diagnostics(list []*pluginv1.Diagnostic) string {
	var lines []string
	for _, d := range list {
		line := d.GetPointer() + ": " + d.GetSummary()
		if d.GetDetail() != "" {
			line += ": " + d.GetDetail()
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "|")
}

func TestHooksAreAnnouncedOnlyIfSetAndFailClosed(t *testing.T) {
	p, _ := quiet()
	sdk.AddTool(p, sdk.Tool{Name: "a"}, weather)
	plain := sdktest.Start(t, p)
	about, err := plain.Describe(t.Context(), &pluginv1.DescribeRequest{})
	if err != nil || about.GetCapabilities().GetShouldRegister() || about.GetCapabilities().GetAuthorize() {
		t.Errorf("capabilities = %v, %v", about.GetCapabilities(), err)
	}
	if _, err := plain.Authorize(t.Context(), &pluginv1.AuthorizeRequest{}); status.Code(err) != codes.Unimplemented {
		t.Errorf("authorize = %v, want unimplemented", err)
	}

	p, _ = quiet()
	p.ShouldRegister(time.Minute, func(_ context.Context, c *sdk.Call, ref sdk.Ref) (bool, error) {
		switch ref.Name {
		case "panic":
			panic("x")
		case "error":
			return true, errors.New("x")
		}
		return ref.Kind == sdk.KindTool && c.Principal().Subject == "ann", nil
	})
	p.Authorize(0, func(_ context.Context, _ *sdk.Call, ref sdk.Ref, arguments json.RawMessage) (sdk.Verdict, error) {
		if ref.Name == "panic" {
			panic("x")
		}
		return sdk.Verdict{Allow: string(arguments) == `{"n":1}`, Reason: "because", RequiredScopes: []string{"s"}}, nil
	})
	c := sdktest.Start(t, p)
	refs := []*pluginv1.PrimitiveRef{
		{Kind: pluginv1.PrimitiveRef_KIND_TOOL, Name: "a"},
		{Kind: pluginv1.PrimitiveRef_KIND_PROMPT, Name: "a"},
		{Kind: pluginv1.PrimitiveRef_KIND_TOOL, Name: "panic"},
		{Kind: pluginv1.PrimitiveRef_KIND_TOOL, Name: "error"},
	}
	about, err = c.Describe(t.Context(), &pluginv1.DescribeRequest{})
	if err != nil || !about.GetCapabilities().GetShouldRegister() || !about.GetCapabilities().GetAuthorize() {
		t.Errorf("capabilities = %v, %v", about.GetCapabilities(), err)
	}
	registered, err := c.ShouldRegister(t.Context(), &pluginv1.ShouldRegisterRequest{
		Context: &pluginv1.CallContext{Principal: &pluginv1.Principal{Subject: "ann"}}, Primitives: refs,
	})
	if err != nil || !cmp.Equal(registered.GetRegister(), []bool{true, false, false, false}) || registered.GetCacheFor() != nil {
		t.Errorf("should register = %v, %v", registered, err)
	}
	verdicts, err := c.Authorize(t.Context(), &pluginv1.AuthorizeRequest{
		Purpose: pluginv1.AuthorizeRequest_PURPOSE_USE, Primitives: refs[1:3], ArgumentsJson: []byte(`{"n":1}`),
	})
	if want := `verdicts:{decision:DECISION_ALLOW reason:"because" required_scopes:"s"} verdicts:{decision:DECISION_DENY reason:"the hook failed"}`; err != nil || compact(verdicts) != want {
		t.Errorf("verdicts = %v, %v", compact(verdicts), err)
	}
}

func TestSubscriptionsReachThePlugin(t *testing.T) {
	p, _ := quiet()
	var got []string
	p.OnSubscriptions(func(_ context.Context, uris []string) { got = uris })
	c := sdktest.Start(t, p)
	if _, err := c.SetSubscriptions(t.Context(), &pluginv1.SetSubscriptionsRequest{Uris: []string{"a:b"}}); err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(got, []string{"a:b"}) {
		t.Errorf("uris = %v", got)
	}
}

func TestDescribeNeverChanges(t *testing.T) {
	p, _ := quiet(sdk.WithDocumentation("# doc"), sdk.WithMaxConcurrentCalls(2), sdk.WithExclusive(), sdk.WithGrants(sdk.Grants{NetworkHosts: []string{"a:443"}}))
	c := sdktest.Start(t, p)
	first, err := c.Describe(t.Context(), &pluginv1.DescribeRequest{})
	if err != nil {
		t.Fatal(err)
	}
	p.AddResource(sdk.Resource{URI: "a:b", Name: "n"}, nil)
	second, err := c.Describe(t.Context(), &pluginv1.DescribeRequest{})
	if err != nil || !proto.Equal(first, second) {
		t.Errorf("second = %v, first = %v, %v", second, first, err)
	}
	if first.GetName() != "test" || first.GetVersion() != "1.2.3" || !first.GetCapabilities().GetExclusive() || first.GetCapabilities().GetMaxConcurrentCalls() != 2 {
		t.Errorf("describe = %v", first)
	}
}
