package main

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
	"github.com/mcphost/mcphost/sdk/sdktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T) *sdktest.Client {
	t.Helper()
	p, _ := newPlugin()
	return sdktest.Start(t, p)
}

func accept(content any) map[string]any {
	return map[string]any{"action": "accept", "content": content}
}

var (
	said  = map[string]any{"role": "assistant", "model": "m", "content": map[string]any{"type": "text", "text": "Paris"}}
	roots = map[string]any{"roots": []any{map[string]any{"uri": "file:///test/root", "name": "r"}}}
)

func TestTheCatalogIsWhatTheSuiteWants(t *testing.T) {
	catalog := start(t).Catalog()
	var tools, prompts, resources []string
	for _, tool := range catalog.GetTools() {
		tools = append(tools, tool.GetName())
		if tool.GetDescription() == "" {
			t.Errorf("tool %s is not described", tool.GetName())
		}
	}
	for _, prompt := range catalog.GetPrompts() {
		prompts = append(prompts, prompt.GetName())
		if prompt.GetDescription() == "" {
			t.Errorf("prompt %s is not described", prompt.GetName())
		}
	}
	for _, resource := range catalog.GetResources() {
		resources = append(resources, resource.GetUri())
	}
	want := strings.Fields(`json_schema_2020_12_tool test_audio_content test_elicitation test_elicitation_sep1034_defaults test_elicitation_sep1330_enums
		test_embedded_resource test_error_handling test_image_content test_input_required_result_capabilities test_input_required_result_elicitation
		test_input_required_result_list_roots test_input_required_result_multi_round test_input_required_result_multiple_inputs
		test_input_required_result_request_state test_input_required_result_sampling test_input_required_result_tampered_state test_logging_tool
		test_missing_capability test_multiple_content_types test_reconnection test_sampling test_simple_text test_streaming_elicitation
		test_tool_with_logging test_tool_with_progress test_trigger_prompt_change test_trigger_tool_change test_x_mcp_header`)
	if diff := cmp.Diff(want, tools); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	want = strings.Fields("test_input_required_result_prompt test_prompt_with_arguments test_prompt_with_embedded_resource test_prompt_with_image test_simple_prompt")
	if diff := cmp.Diff(want, prompts); diff != "" {
		t.Errorf("prompts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"test://static-binary", "test://static-text", watchedURI}, resources); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
	if got := catalog.GetResourceTemplates()[0].GetUriTemplate(); got != "test://template/{id}/data" {
		t.Errorf("template = %s", got)
	}
}

func TestTheSchemaIsServedVerbatim(t *testing.T) {
	tools := start(t).Catalog().GetTools()
	if got := tools[0].GetInputSchemaJson(); string(got) != string(schema2020) {
		t.Errorf("schema = %s", got)
	}
	var schema struct{ Properties map[string]map[string]any }
	header := tools[len(tools)-1]
	if err := json.Unmarshal(header.GetInputSchemaJson(), &schema); err != nil || schema.Properties["region"]["x-mcp-header"] != "Region" || schema.Properties["region"]["type"] != "string" {
		t.Errorf("%s: schema = %s, %v", header.GetName(), header.GetInputSchemaJson(), err)
	}
}

func TestContent(t *testing.T) {
	c := start(t)
	kinds := map[string]string{
		"test_simple_text": "text", "test_image_content": "image", "test_audio_content": "audio", "test_embedded_resource": "resource",
		"test_multiple_content_types": "text image resource", "test_x_mcp_header": "text", "test_streaming_elicitation": "text",
		"test_logging_tool": "text", "json_schema_2020_12_tool": "text", "test_missing_capability": "text",
	}
	for name, want := range kinds {
		result := c.Call(name, none{}).GetResult()
		var got []string
		for _, block := range result.GetContent() {
			switch {
			case block.GetImage() != nil:
				got = append(got, "image")
				if len(block.GetImage().GetData()) == 0 || block.GetImage().GetMimeType() != "image/png" {
					t.Errorf("%s: image = %v", name, block)
				}
			case block.GetAudio() != nil:
				got = append(got, "audio")
			case block.GetResource() != nil:
				got = append(got, "resource")
			default:
				got = append(got, "text")
			}
		}
		if text := strings.Join(got, " "); text != want || result.GetIsError() {
			t.Errorf("%s = %q, want %q", name, text, want)
		}
	}
	if got := c.Call("test_error_handling", none{}); !got.IsError() || got.Text() == "" {
		t.Errorf("error = %v", got)
	}
}

func TestProgressAndLogs(t *testing.T) {
	c := start(t)
	var progress []float64
	for _, event := range c.Call("test_tool_with_progress", none{}).Events {
		progress = append(progress, event.GetProgress().GetProgress())
		if event.GetProgress().GetTotal() != 100 {
			t.Errorf("event = %v", event)
		}
	}
	if !slices.Equal(progress, []float64{0, 50, 100}) {
		t.Errorf("progress = %v", progress)
	}
	if got := c.Call("test_tool_with_logging", none{}); len(got.Events) != 3 || got.Events[0].GetLog().GetLevel() != "info" {
		t.Errorf("events = %v", got.Events)
	}
}

func TestMissingCapability(t *testing.T) {
	response, err := start(t).CallTool(t.Context(), &pluginv1.CallToolRequest{Name: "test_missing_capability"})
	if e := response.GetError(); err != nil || e.GetCode() != -32021 || string(e.GetDataJson()) != `{"requiredCapabilities":{"sampling":{}}}` {
		t.Errorf("got %v, %v", response, err)
	}
}

func TestChangesAreReal(t *testing.T) {
	c := start(t)
	stream, err := c.Watch(t.Context(), &pluginv1.WatchRequest{})
	if err != nil {
		t.Fatal(err)
	}
	last := c.NextCatalog(stream)
	for range 2 {
		c.Call("test_trigger_tool_change", none{})
		next := c.NextCatalog(stream)
		if cmp.Equal(sdktest.ReadableJSON(t, last.GetTools()), sdktest.ReadableJSON(t, next.GetTools())) {
			t.Error("the tools did not change")
		}
		c.Call("test_trigger_prompt_change", none{})
		last = c.NextCatalog(stream)
		if cmp.Equal(sdktest.ReadableJSON(t, last.GetPrompts()), sdktest.ReadableJSON(t, next.GetPrompts())) {
			t.Error("the prompts did not change")
		}
	}
}

func TestQuestions(t *testing.T) {
	tests := map[string]struct {
		arguments any
		answers   []map[string]any
		want      string
	}{
		"test_sampling":                              {map[string]any{"prompt": "?"}, []map[string]any{{"sampling": said}}, "LLM response: Paris"},
		"test_elicitation":                           {map[string]any{"message": "?"}, []map[string]any{{"form": accept(map[string]any{"username": "u"})}}, `Elicitation completed: action=accept, content={"username":"u"}`},
		"test_elicitation_sep1034_defaults":          {none{}, []map[string]any{{"form": map[string]any{"action": "decline"}}}, `Elicitation completed: action=decline, content=null`},
		"test_elicitation_sep1330_enums":             {none{}, []map[string]any{{"form": accept(map[string]any{"a": 1})}}, `Elicitation completed: action=accept, content={"a":1}`},
		"test_input_required_result_elicitation":     {none{}, []map[string]any{{"user_name": accept(map[string]any{"name": "Alice"})}}, "Hello, Alice!"},
		"test_input_required_result_sampling":        {none{}, []map[string]any{{"capital_question": said}}, "Sampling response: Paris"},
		"test_input_required_result_list_roots":      {none{}, []map[string]any{{"client_roots": roots}}, "The client has 1 root(s). file:///test/root"},
		"test_input_required_result_request_state":   {none{}, []map[string]any{{"confirm": accept(map[string]any{"ok": true})}}, "state-ok: the state came back and the confirmation was accepted"},
		"test_input_required_result_tampered_state":  {none{}, []map[string]any{{"confirm": accept(map[string]any{"ok": true})}}, "state-ok: the state came back and the confirmation was accepted"},
		"test_input_required_result_multiple_inputs": {none{}, []map[string]any{{"user_name": accept(map[string]any{"name": "Al"}), "greeting": said, "client_roots": roots}}, "Paris Al, 1 root(s) are visible"},
		"test_input_required_result_multi_round":     {none{}, []map[string]any{{"step1": accept(map[string]any{"name": "Al"})}, {"step2": accept(map[string]any{"color": "blue"})}}, "Multi-round complete: Al likes blue"},
		"test_input_required_result_capabilities":    {none{}, []map[string]any{{"user_name": accept(map[string]any{"name": "Al"}), "greeting": said, "client_roots": roots}}, "All that the client can give was given."},
	}
	c := start(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := c.Call(name, test.arguments)
			state := "none"
			for _, answers := range test.answers {
				if got.GetInputRequired() == nil {
					t.Fatalf("outcome = %v, want questions", got.CallToolResponse)
				}
				if next := string(got.GetInputRequired().State); next == state {
					t.Errorf("the state %q did not change with the round", state)
				} else {
					state = next
				}
				// An answer to nothing is ignored, and what was asked is asked again.
				if again := got.Answer(map[string]any{"wrong_key": accept(none{})}); len(again.GetInputRequired().GetRequests()) != len(got.GetInputRequired().GetRequests()) {
					t.Errorf("after a wrong answer: %v", again.CallToolResponse)
				}
				if again := got.Answer(map[string]any{"user_name": 12345, "confirm": nil}); again.GetInputRequired() == nil {
					t.Errorf("after a bad answer: %v", again.CallToolResponse)
				}
				answers["unknown_extra_key"] = accept(none{})
				got = got.Answer(answers)
			}
			if got.Text() != test.want {
				t.Errorf("result = %v, want %q", got.CallToolResponse, test.want)
			}
		})
	}
}

func TestAnAnswerWithoutStateIsTaken(t *testing.T) {
	response, err := start(t).CallTool(t.Context(), &pluginv1.CallToolRequest{
		Name: "test_input_required_result_elicitation", InputResponsesJson: map[string][]byte{"user_name": []byte(`{"action":"accept","content":{"name":"Alice"}}`)},
	})
	if err != nil || response.GetResult().GetContent()[0].GetText() != "Hello, Alice!" {
		t.Errorf("got %v, %v", response, err)
	}
}

func TestStatesOfOthersAreRefused(t *testing.T) {
	c := start(t)
	for _, name := range []string{"request_state", "tampered_state", "multiple_inputs", "multi_round"} {
		response, err := c.CallTool(t.Context(), &pluginv1.CallToolRequest{
			Name: "test_input_required_result_" + name, State: []byte("confirm-TAMPERED"),
			InputResponsesJson: map[string][]byte{"confirm": []byte(`{"action":"accept","content":{"ok":true}}`)},
		})
		if err != nil || response.GetError().GetCode() != -32602 {
			t.Errorf("%s: %v, %v", name, response, err)
		}
	}
}

func TestOnlyWhatTheClientDeclaredIsAskedFor(t *testing.T) {
	c := start(t)
	for capabilities, want := range map[string]string{`{"sampling":{}}`: "sampling/createMessage", `{"elicitation":{}}`: "elicitation/create", `{"roots":{}}`: "roots/list", `{}`: ""} {
		response, err := c.CallTool(t.Context(), &pluginv1.CallToolRequest{
			Name: "test_input_required_result_capabilities", Context: &pluginv1.CallContext{ClientCapabilitiesJson: []byte(capabilities)},
		})
		if err != nil {
			t.Fatal(err)
		}
		var methods []string
		for _, request := range response.GetInputRequired().GetRequests() {
			methods = append(methods, request.GetMethod())
		}
		if got := strings.Join(methods, " "); got != want {
			t.Errorf("%s: asked for %q, want %q", capabilities, got, want)
		}
	}
}

func TestPrompts(t *testing.T) {
	c := start(t)
	get := func(request *pluginv1.GetPromptRequest) *pluginv1.GetPromptResponse {
		response, err := c.GetPrompt(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		return response
	}
	if got := get(&pluginv1.GetPromptRequest{Name: "test_prompt_with_arguments", Arguments: map[string]string{"arg1": "hello", "arg2": "world"}}); got.GetResult().GetMessages()[0].GetContent().GetText() != "Prompt with arguments: arg1='hello', arg2='world'" {
		t.Errorf("with arguments: %v", got)
	}
	if got := get(&pluginv1.GetPromptRequest{Name: "test_prompt_with_embedded_resource", Arguments: map[string]string{"resourceUri": "test://x"}}); got.GetResult().GetMessages()[0].GetContent().GetResource().GetUri() != "test://x" {
		t.Errorf("with a resource: %v", got)
	}
	if got := get(&pluginv1.GetPromptRequest{Name: "test_prompt_with_image"}); got.GetResult().GetMessages()[0].GetContent().GetImage() == nil {
		t.Errorf("with a picture: %v", got)
	}
	if got := get(&pluginv1.GetPromptRequest{Name: "test_input_required_result_prompt"}); got.GetInputRequired().GetRequests()[0].GetKey() != "user_context" {
		t.Errorf("that asks: %v", got)
	}
	completed, err := c.Complete(t.Context(), &pluginv1.CompleteRequest{
		Reference: &pluginv1.PrimitiveRef{Kind: pluginv1.PrimitiveRef_KIND_PROMPT, Name: "test_prompt_with_arguments"}, ArgumentName: "arg1", ArgumentValue: "par",
	})
	if err != nil || !slices.Equal(completed.GetResult().GetValues(), []string{"paris", "park", "party"}) {
		t.Errorf("completion = %v, %v", completed, err)
	}
}

func TestResources(t *testing.T) {
	c := start(t)
	read := func(uri string) *pluginv1.ReadResourceResponse {
		response, err := c.ReadResource(t.Context(), &pluginv1.ReadResourceRequest{Uri: uri})
		if err != nil {
			t.Fatal(err)
		}
		return response
	}
	if got := read("test://template/123/data").GetResult().GetContents()[0]; got.GetText() != `{"data":"Data for ID: 123","id":"123","templateTest":true}` || got.GetMimeType() != "application/json" {
		t.Errorf("template = %v", got)
	}
	if got := read("test://static-binary").GetResult().GetContents()[0]; len(got.GetBlob()) == 0 {
		t.Errorf("binary = %v", got)
	}
	if got := read("test://nonexistent-resource-for-conformance-testing").GetError(); got.GetCode() != -32602 {
		t.Errorf("missing = %v", got)
	}
}

func TestTheWatchedResourceChanges(t *testing.T) {
	p, tick := newPlugin()
	c := sdktest.Start(t, p)
	stream, err := c.Watch(t.Context(), &pluginv1.WatchRequest{})
	if err != nil {
		t.Fatal(err)
	}
	c.NextCatalog(stream)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		tick(ctx) // the clock of the bubble runs by itself
	})
	event, err := stream.Recv()
	if err != nil || event.GetResourceUpdated().GetUri() != watchedURI {
		t.Errorf("event = %v, %v", event, err)
	}
}

func TestTheBinaryAnswersACall(t *testing.T) {
	service := sdktest.Exec(t, sdktest.Build(t, "."))
	if _, err := service.Configure(t.Context(), &pluginv1.ConfigureRequest{Handle: "everything"}); err != nil {
		t.Fatal(err)
	}
	got, err := service.CallTool(t.Context(), &pluginv1.CallToolRequest{Name: "test_simple_text"})
	if err != nil || got.GetResult().GetContent()[0].GetText() != "This is a simple text response for testing." {
		t.Errorf("call = %v, %v", got, err)
	}
}
