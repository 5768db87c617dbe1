package registry_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphost/mcphost/host/config"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/primitive"
	"github.com/mcphost/mcphost/host/registry"
)

// source answers every use with its own name.
type source struct {
	name   string
	raw    []byte                // of resources and prompts, if set
	result *primitive.ToolResult // of tools, if set
}

func (s *source) CallTool(_ context.Context, p *primitive.Primitive, u *primitive.Use) (*primitive.ToolResult, error) {
	if s.result != nil {
		return s.result, nil
	}
	return &primitive.ToolResult{Content: []primitive.Content{{Text: s.name + " " + p.Own + " " + string(u.Arguments)}}}, nil
}

func (s *source) ReadResource(_ context.Context, _ *primitive.Primitive, u *primitive.Use) (*primitive.ReadResult, error) {
	if s.raw != nil {
		return &primitive.ReadResult{Raw: s.raw}, nil
	}
	if strings.HasSuffix(u.URI, "empty") {
		return &primitive.ReadResult{}, nil
	}
	return &primitive.ReadResult{Contents: []primitive.ResourceContents{{URI: u.URI, Text: s.name}}}, nil
}

func (s *source) GetPrompt(context.Context, *primitive.Primitive, *primitive.Use) (*primitive.PromptResult, error) {
	return &primitive.PromptResult{Description: s.name, Raw: s.raw}, nil
}

func (s *source) Complete(context.Context, *primitive.Primitive, *primitive.Completion) (*primitive.CompletionResult, error) {
	return nil, errors.New("a cause with a /secret/path")
}

func tool(s *source, name, schema string) *primitive.Primitive {
	if schema == "" {
		schema = `{"type":"object"}`
	}
	def := fmt.Sprintf(`{"z":[1.0],"name":%q,"inputSchema":%s,"é":"\u00e9"}`, name, schema)
	return &primitive.Primitive{Kind: primitive.KindTool, Key: name, Own: name, Definition: []byte(def), InputSchema: []byte(schema), Source: s}
}

func simple(k primitive.Kind, s *source, name string) *primitive.Primitive {
	return &primitive.Primitive{Kind: k, Key: name, Own: name, Definition: fmt.Appendf(nil, `{"name":%q}`, name), Source: s}
}

func tools(s *source, names ...string) *registry.Offer {
	o := &registry.Offer{}
	for _, n := range names {
		o.Tools = append(o.Tools, tool(s, n, ""))
	}
	return o
}

func keys(list []*primitive.Primitive) (names []string) {
	for _, p := range list {
		names = append(names, p.Key)
	}
	return names
}

func view(t *testing.T, e *registry.Endpoint) mcp.View {
	t.Helper()
	return e.View(t.Context(), &primitive.Caller{})
}

func members(handles ...string) (list []registry.Member) {
	for _, h := range handles {
		list = append(list, registry.Member{Handle: h})
	}
	return list
}

func TestConflictsAreSettledByTheOrderOfTheFile(t *testing.T) {
	tests := map[config.OnConflict][]string{
		"":                    {"both", "only_a", "only_b", "b_both"},
		config.ConflictPrefix: {"both", "only_a", "only_b", "b_both"},
		config.ConflictSkip:   {"both", "only_a", "only_b"},
		config.ConflictError:  {"both", "only_a", "only_b"},
	}
	for mode, want := range tests {
		for _, order := range [][]string{{"a", "b"}, {"b", "a"}} { // who came first does not count
			r := registry.New(hclog.NewNullLogger(), nil)
			e := r.NewEndpoint(registry.Options{Name: "e", Plugins: members("a", "b"), OnConflict: mode})
			for _, h := range order {
				r.SetOffer(h, tools(&source{name: h}, "both", "only_"+h))
			}
			got := keys(view(t, e).Snapshot.Tools)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%q, %v first: %v, want %v", mode, order[0], got, want)
			}
			res, err := e.CallTool(t.Context(), view(t, e), "both", &primitive.Use{})
			if err != nil || res.Content[0].Text != "a both {}" {
				t.Errorf("%q: both is answered by %v, %v", mode, res, err)
			}
		}
	}
}

func TestShapesRenameAndKeepTheRest(t *testing.T) {
	r := registry.New(hclog.NewNullLogger(), nil)
	plugin := registry.Shapes{Tools: &config.Shape{Exclude: []string{"delete_*"}, Prefix: "p_", Rename: map[string]string{"read": "look"}}}
	endpoint := registry.Shapes{Tools: &config.Shape{Prefix: "e-", Exclude: []string{"hidden"}}}
	e := r.NewEndpoint(registry.Options{Name: "e", Plugins: []registry.Member{{Handle: "a", Shapes: plugin}}, Shapes: endpoint})
	r.SetOffer("a", tools(&source{name: "a"}, "read", "write", "delete_all", "hidden"))
	v := view(t, e)
	if got, want := keys(v.Snapshot.Tools), []string{"e-look", "e-p_write"}; !slices.Equal(got, want) {
		t.Errorf("served %v, want %v", got, want)
	}
	p, _ := v.Lookup(primitive.KindTool, "e-look")
	if got, want := string(p.Definition), `{"z":[1.0],"name":"e-look","inputSchema":{"type":"object"},"é":"\u00e9"}`; got != want {
		t.Errorf("definition %s, want %s: all but the name is the plugin's", got, want)
	}
	res, err := e.CallTool(t.Context(), v, "e-look", &primitive.Use{Arguments: []byte(`{"n":1.0}`)})
	if err != nil || res.Content[0].Text != `a read {"n":1.0}` {
		t.Errorf("got %v, %v", res, err)
	}
}

func TestPrimitivesThatCannotBeServedAreLeftOutAlone(t *testing.T) {
	r := registry.New(hclog.NewNullLogger(), nil)
	e := r.NewEndpoint(registry.Options{Name: "e", Plugins: members("a")})
	s := &source{name: "a"}
	o := tools(s, "good")
	o.Tools = append(o.Tools,
		tool(s, "bad_schema", `{"type":"object","properties":{"a":{"type":"nope"}}}`),
		tool(s, "bad_dialect", `{"type":"object","$schema":"https://example.com/none"}`),
		tool(s, "remote_ref", `{"type":"object","$ref":"https://example.com/x"}`),
		tool(s, "bad_header", `{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}`),
		tool(s, "header", `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}`),
	)
	o.Templates = append(o.Templates, simple(primitive.KindTemplate, s, "x://{"), simple(primitive.KindTemplate, s, "x://{id}"))
	r.SetOffer("a", o)
	v := view(t, e)
	if got, want := keys(v.Snapshot.Tools), []string{"good", "header"}; !slices.Equal(got, want) {
		t.Errorf("served tools %v, want %v", got, want)
	}
	if got := keys(v.Snapshot.Templates); !slices.Equal(got, []string{"x://{id}"}) {
		t.Errorf("served templates %v", got)
	}
	if p, _ := v.Lookup(primitive.KindTool, "header"); len(p.Headers) != 1 || p.Headers[0].Name != "A" {
		t.Errorf("headers %+v", p.Headers)
	}
}

func TestArgumentsAndResultsAreChecked(t *testing.T) {
	r := registry.New(hclog.NewNullLogger(), nil)
	e := r.NewEndpoint(registry.Options{Name: "e", Plugins: members("a")})
	s := &source{name: "a"}
	p := tool(s, "t", `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	p.OutputSchema = []byte(`{"type":"object","required":["ok"]}`)
	r.SetOffer("a", &registry.Offer{Tools: []*primitive.Primitive{p}})
	call := func(args string) (*primitive.ToolResult, *primitive.Error) {
		res, err := e.CallTool(t.Context(), view(t, e), "t", &primitive.Use{Arguments: []byte(args)})
		var pe *primitive.Error
		if err != nil && !errors.As(err, &pe) {
			t.Fatalf("error %T", err)
		}
		return res, pe
	}
	tests := map[string]struct {
		args   string
		result primitive.ToolResult
		want   primitive.Failure
		detail string
	}{
		"wrong type":      {args: `{"n":"x"}`, want: primitive.InvalidArguments, detail: "/n"},
		"missing":         {args: `{}`, want: primitive.InvalidArguments, detail: "n"},
		"no structure":    {args: `{"n":1}`, want: primitive.InvalidResult, detail: "no structured result"},
		"wrong structure": {args: `{"n":1}`, result: primitive.ToolResult{Structured: []byte(`{}`)}, want: primitive.InvalidResult, detail: "ok"},
		"wrong raw":       {args: `{"n":1}`, result: primitive.ToolResult{Raw: []byte(`{"content":[],"structuredContent":{}}`)}, want: primitive.InvalidResult},
		"raw failure":     {args: `{"n":1}`, result: primitive.ToolResult{Raw: []byte(`{"content":[],"isError":true}`)}},
		"failure":         {args: `{"n":1}`, result: primitive.ToolResult{IsError: true}},
		"right":           {args: `{"n":1}`, result: primitive.ToolResult{Structured: []byte(`{"ok":1}`)}},
		"needs input":     {args: `{"n":1}`, result: primitive.ToolResult{Input: &primitive.InputRequired{}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s.result = &test.result
			_, err := call(test.args)
			switch {
			case test.want == 0 && err != nil:
				t.Errorf("failed: %v", err)
			case test.want != 0 && (err == nil || err.Failure != test.want || !strings.Contains(err.Detail, test.detail)):
				t.Errorf("got %v, want failure %d with %q", err, test.want, test.detail)
			}
		})
	}
}

func TestAResourceBelongsToWhoListsItThenToTheFirstTemplate(t *testing.T) {
	r := registry.New(hclog.NewNullLogger(), nil)
	e := r.NewEndpoint(registry.Options{Name: "e", Plugins: members("z", "a")})
	a, z := &source{name: "a"}, &source{name: "z"}
	r.SetOffer("a", &registry.Offer{
		Resources: []*primitive.Primitive{simple(primitive.KindResource, a, "x://1")},
		Templates: []*primitive.Primitive{simple(primitive.KindTemplate, a, "x://{a}")},
	})
	r.SetOffer("z", &registry.Offer{Templates: []*primitive.Primitive{simple(primitive.KindTemplate, z, "x://{z}")}})
	for uri, want := range map[string]string{"x://1": "a", "x://2": "z", "y://1": "", "x://empty": ""} {
		res, err := e.ReadResource(t.Context(), view(t, e), &primitive.Use{URI: uri})
		switch {
		case want == "" && err == nil:
			t.Errorf("%s: %v, want an error", uri, res)
		case want != "" && (err != nil || res.Contents[0].Text != want):
			t.Errorf("%s: %v, %v, want it from %s", uri, res, err, want)
		}
	}
}

func TestPluginsSpeakForTheirOwnResources(t *testing.T) {
	watched := map[string][]string{}
	r := registry.New(hclog.NewNullLogger(), func(h string, uris []string) { watched[h] = uris })
	e := r.NewEndpoint(registry.Options{Name: "e", Plugins: members("a", "b")})
	a := &source{name: "a"}
	r.SetOffer("a", &registry.Offer{Resources: []*primitive.Primitive{simple(primitive.KindResource, a, "x://1")}})
	r.SetOffer("b", &registry.Offer{})
	sub := e.Subscribe(&primitive.Caller{}, mcp.Interest{URIs: []string{"x://1", "x://none"}})
	if got := watched["a"]; !slices.Equal(got, []string{"x://1"}) {
		t.Errorf("a is told of %v", got)
	}
	r.ResourceUpdated("b", "x://1")
	select {
	case <-sub.Ready():
		t.Error("b spoke for a resource of a")
	default:
	}
	r.ResourceUpdated("a", "x://1")
	<-sub.Ready()
	if got := sub.Take().URIs; !slices.Equal(got, []string{"x://1"}) {
		t.Errorf("took %v", got)
	}
	sub.Close()
	if got := watched["a"]; len(got) != 0 {
		t.Errorf("a is still told of %v", got)
	}
}

func TestListsChangeOnlyWhenTheyDiffer(t *testing.T) {
	r := registry.New(hclog.NewNullLogger(), nil)
	e := r.NewEndpoint(registry.Options{Name: "e", Plugins: members("a")})
	s := &source{name: "a"}
	r.SetOffer("a", tools(s, "x"))
	sub := e.Subscribe(&primitive.Caller{}, mcp.Interest{Tools: true, Prompts: true})
	defer sub.Close()
	r.SetOffer("a", tools(s, "x"))
	r.SetOffer("other", tools(s, "y"))
	select {
	case <-sub.Ready():
		t.Errorf("signalled for nothing: %+v", sub.Take())
	default:
	}
	r.SetOffer("a", tools(s, "x", "y"))
	<-sub.Ready()
	if got := view(t, e).Snapshot.Tools; len(got) != 2 {
		t.Errorf("the new list is not visible when the change is signalled: %v", keys(got))
	}
	r.SetOffer("a", nil)
	if got := view(t, e).Snapshot.Tools; len(got) != 0 {
		t.Errorf("%v is still served", keys(got))
	}
}

func TestPromptArguments(t *testing.T) {
	r := registry.New(hclog.NewNullLogger(), nil)
	e := r.NewEndpoint(registry.Options{Name: "e", Plugins: members("a")})
	p := simple(primitive.KindPrompt, &source{name: "a"}, "p")
	p.RequiredArguments = []string{"x"}
	r.SetOffer("a", &registry.Offer{Completions: true, Prompts: []*primitive.Primitive{p}})
	for args, ok := range map[string]bool{`{"x":"1"}`: true, `{"x":"1","y":"2"}`: true, `{}`: false, ``: false, `{"x":1}`: false, `{"x":null}`: false} {
		u := &primitive.Use{}
		if args != "" {
			u.Arguments = []byte(args)
		}
		if _, err := e.GetPrompt(t.Context(), view(t, e), "p", u); (err == nil) != ok {
			t.Errorf("arguments %s: %v", args, err)
		}
	}
	_, err := e.Complete(t.Context(), view(t, e), primitive.KindPrompt, "p", &primitive.Completion{})
	if text, fault := mcp.Fault(err, primitive.KindPrompt, mcp.Modern); strings.Contains(text+fault.Message, "secret") {
		t.Errorf("a cause reaches the client: %v", fault)
	}
}

func TestResultsThatComeWholeAreWhatClientsDemand(t *testing.T) {
	tests := map[string]struct {
		raw              string
		tool, read, fill primitive.Failure // Internal is none
	}{
		"nothing":        {`{}`, primitive.InvalidResult, primitive.InvalidResult, primitive.InvalidResult},
		"no arrays":      {`{"content":{},"contents":1,"messages":"x"}`, primitive.InvalidResult, primitive.InvalidResult, primitive.InvalidResult},
		"empty arrays":   {`{"content":[],"contents":[ ],"messages":[]}`, 0, primitive.NotFound, 0},
		"something each": {`{"content":[1],"contents":[1],"messages":[1]}`, 0, 0, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := registry.New(hclog.NewNullLogger(), nil)
			e := r.NewEndpoint(registry.Options{Name: "e", Plugins: members("a")})
			s := &source{raw: []byte(test.raw), result: &primitive.ToolResult{Raw: []byte(test.raw)}}
			r.SetOffer("a", &registry.Offer{
				Tools:     []*primitive.Primitive{tool(s, "t", "")},
				Resources: []*primitive.Primitive{simple(primitive.KindResource, s, "test://r")},
				Prompts:   []*primitive.Primitive{simple(primitive.KindPrompt, s, "p")},
			})
			_, called := e.CallTool(t.Context(), view(t, e), "t", &primitive.Use{})
			_, read := e.ReadResource(t.Context(), view(t, e), &primitive.Use{URI: "test://r"})
			_, filled := e.GetPrompt(t.Context(), view(t, e), "p", &primitive.Use{})
			for what, c := range map[string]struct {
				got  error
				want primitive.Failure
			}{"tool": {called, test.tool}, "resource": {read, test.read}, "prompt": {filled, test.fill}} {
				pe, failed := errors.AsType[*primitive.Error](c.got)
				if failed != (c.want != 0) || failed && pe.Failure != c.want {
					t.Errorf("%s: %v, want failure %v", what, c.got, c.want)
				}
			}
		})
	}
}

func TestAPluginThatCompletesNothingIsNotAsked(t *testing.T) {
	r := registry.New(hclog.NewNullLogger(), nil)
	e := r.NewEndpoint(registry.Options{Name: "e", Plugins: members("a", "b")})
	a, b := &source{name: "a"}, &source{name: "b"}
	r.SetOffer("a", &registry.Offer{Completions: true, Prompts: []*primitive.Primitive{simple(primitive.KindPrompt, a, "p")}})
	r.SetOffer("b", &registry.Offer{Prompts: []*primitive.Primitive{simple(primitive.KindPrompt, b, "q")}})
	res, err := e.Complete(t.Context(), view(t, e), primitive.KindPrompt, "q", &primitive.Completion{})
	if err != nil || len(res.Values) != 0 {
		t.Errorf("got %v, %v; want no proposals and no error", res, err)
	}
	if _, err := e.Complete(t.Context(), view(t, e), primitive.KindPrompt, "p", &primitive.Completion{}); err == nil {
		t.Error("the plugin that completes was not asked")
	}
}
