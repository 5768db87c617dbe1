package peers

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tappedHost returns a command that runs mcphost with these arguments under a tap,
// and validates what was said once it has ended.
func tappedHost(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := tapDir(t)
	cmd := exec.Command(self, append([]string{filepath.Join(house, "bin", "mcphost")}, args...)...)
	cmd.Env = append(environment(t), tapEnv+"="+dir)
	cmd.Stderr = t.Output()
	return cmd
}

// tapDir returns a folder for the records of taps, which are validated at the end.
func tapDir(t *testing.T) string {
	t.Helper()
	r := newRecord(t) // first, so that its report comes last
	dir := t.TempDir()
	t.Cleanup(func() {
		files, err := filepath.Glob(filepath.Join(dir, "tap-*"))
		if err != nil || len(files) == 0 {
			t.Errorf("no records of what was said: %v", err)
		}
		for _, file := range files {
			replay(t, r.wire(), file)
		}
	})
	return dir
}

func replay(t *testing.T, w *wire, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		if line := lines.Bytes(); line[0] == fromClient {
			w.client(line[1:])
		} else {
			w.host(line[1:])
		}
	}
}

// A peer is a client of go-sdk and what reached it.
type peer struct {
	*mcp.ClientSession
	progress chan float64
	changes  chan string
	logs     chan string
}

func connect(t *testing.T, transport mcp.Transport, revision string) *peer {
	t.Helper()
	p := &peer{progress: make(chan float64, 100), changes: make(chan string, 100), logs: make(chan string, 100)}
	options := &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { p.progress <- r.Params.Progress },
		LoggingMessageHandler:       func(_ context.Context, r *mcp.LoggingMessageRequest) { p.logs <- fmt.Sprint(r.Params.Data) },
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { p.changes <- "tools" },
		PromptListChangedHandler:    func(context.Context, *mcp.PromptListChangedRequest) { p.changes <- "prompts" },
		ResourceUpdatedHandler:      func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { p.changes <- r.Params.URI },
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) { //nolint:staticcheck // deprecated by the protocol, and still to be served
			return &mcp.CreateMessageResult{Role: "assistant", Model: "m", Content: &mcp.TextContent{Text: "said the model"}}, nil //nolint:staticcheck // deprecated by the protocol, and still to be served
		},
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada", "username": "ada", "ok": true, "color": "red"}}, nil
		},
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, options)
	c.AddRoots(&mcp.Root{URI: "file:///tmp", Name: "tmp"}) //nolint:staticcheck // deprecated by the protocol, and still to be served
	s, err := c.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal("connecting: ", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error("closing: ", err)
		}
	})
	if got := s.InitializeResult().ProtocolVersion; got != revision {
		t.Errorf("negotiated %s", got)
	}
	p.ClientSession = s
	return p
}

// text calls a tool and returns the texts of the result.
func (p *peer) text(t *testing.T, tool string, arguments any) string {
	t.Helper()
	params := &mcp.CallToolParams{Name: tool, Arguments: arguments}
	params.SetProgressToken(tool)
	res, err := p.CallTool(t.Context(), params)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	var texts []string
	for _, c := range res.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			texts = append(texts, text.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// arrives waits for a value.
func arrives[T comparable](t *testing.T, c <-chan T, wanted T) {
	t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case got := <-c:
			if got == wanted {
				return
			}
		case <-timeout:
			t.Fatalf("%v did not come", wanted)
		}
	}
}

func TestGoSDK(t *testing.T) {
	w := serve(t, "examples/everything.hcl")
	transports := map[string]func(t *testing.T, revision string) mcp.Transport{
		"stdio": func(t *testing.T, _ string) mcp.Transport {
			t.Helper()
			return &mcp.CommandTransport{Command: tappedHost(t, "start", "everything", "-c", filepath.Join(house, "examples/everything.hcl")), TerminateDuration: patience}
		},
		"http": func(_ *testing.T, revision string) mcp.Transport {
			if revision == r2024 {
				return &mcp.SSEClientTransport{Endpoint: w.url + "/sse", HTTPClient: w.client}
			}
			return &mcp.StreamableClientTransport{Endpoint: w.url, HTTPClient: w.client}
		},
	}
	for name, transport := range transports {
		for _, revision := range append(slices.Clone(legacyRevisions), r2026) {
			t.Run(name+"/"+revision, func(t *testing.T) {
				t.Parallel() // the watched resource changes by itself, every three seconds
				p := connect(t, transport(t, revision), revision)
				goSDKLists(t, p)
				goSDKUses(t, p, revision)
				goSDKTalks(t, p, revision)
				goSDKChanges(t, p)
			})
		}
	}
}

func goSDKLists(t *testing.T, p *peer) {
	t.Helper()
	tools := map[string]bool{}
	for tool, err := range p.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		tools[tool.Name] = true
	}
	for _, name := range []string{"test_simple_text", "json_schema_2020_12_tool", "test_x_mcp_header"} {
		if !tools[name] {
			t.Errorf("no tool %s in %v", name, tools)
		}
	}
	resources, err := p.ListResources(t.Context(), nil)
	if err != nil || len(resources.Resources) != 3 {
		t.Errorf("resources: %+v, %v", resources, err)
	}
	templates, err := p.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) != 1 {
		t.Errorf("templates: %+v, %v", templates, err)
	}
	prompts, err := p.ListPrompts(t.Context(), nil)
	if err != nil || len(prompts.Prompts) < 5 {
		t.Errorf("prompts: %+v, %v", prompts, err)
	}
}

func goSDKUses(t *testing.T, p *peer, revision string) {
	t.Helper()
	if got := p.text(t, "test_simple_text", map[string]any{}); !strings.Contains(got, "simple text") {
		t.Errorf("test_simple_text: %s", got)
	}
	if got := p.text(t, "test_x_mcp_header", map[string]any{"region": "nørd", "level": 3}); !strings.Contains(got, "region=nørd") {
		t.Errorf("test_x_mcp_header: %s", got)
	}
	for _, tool := range []string{"test_image_content", "test_audio_content", "test_multiple_content_types"} {
		res, err := p.CallTool(t.Context(), &mcp.CallToolParams{Name: tool})
		if err != nil || res.IsError || len(res.Content) == 0 {
			t.Errorf("%s: %+v, %v", tool, res, err)
		}
	}
	if res, err := p.CallTool(t.Context(), &mcp.CallToolParams{Name: "test_error_handling"}); err != nil || !res.IsError {
		t.Errorf("test_error_handling: %+v, %v", res, err)
	}
	read, err := p.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "test://template/7/data"})
	if err != nil || !strings.Contains(read.Contents[0].Text, "Data for ID: 7") {
		t.Errorf("reading: %+v, %v", read, err)
	}
	if _, err := p.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "test://none"}); err == nil {
		t.Error("a resource that is none was read")
	}
	prompt, err := p.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "test_prompt_with_arguments", Arguments: map[string]string{"arg1": "x", "arg2": "y"}})
	if err != nil || !strings.Contains(prompt.Messages[0].Content.(*mcp.TextContent).Text, "arg1='x', arg2='y'") {
		t.Errorf("prompt: %+v, %v", prompt, err)
	}
	done, err := p.Complete(t.Context(), &mcp.CompleteParams{
		Ref: &mcp.CompleteReference{Type: "ref/resource", URI: "test://template/{id}/data"}, Argument: mcp.CompleteParamsArgument{Name: "id", Value: "12"},
	})
	if err != nil || !slices.Equal(done.Completion.Values, []string{"123", "124"}) {
		t.Errorf("%s: completion: %+v, %v", revision, done, err)
	}
}

func goSDKTalks(t *testing.T, p *peer, revision string) {
	t.Helper()
	p.text(t, "test_tool_with_progress", map[string]any{})
	arrives(t, p.progress, 50)
	arrives(t, p.progress, 100)
	if got := p.text(t, "test_sampling", map[string]any{"prompt": "hi"}); got != "LLM response: said the model" {
		t.Errorf("sampling: %s", got)
	}
	if got := p.text(t, "test_input_required_result_list_roots", map[string]any{}); !strings.Contains(got, "1 root(s)") {
		t.Errorf("roots: %s", got)
	}
	if revision >= r2506 {
		if got := p.text(t, "test_elicitation", map[string]any{"message": "who?"}); !strings.Contains(got, "ada") {
			t.Errorf("elicitation: %s", got)
		}
		if got := p.text(t, "test_input_required_result_multi_round", map[string]any{}); !strings.Contains(got, "Ada likes red") {
			t.Errorf("rounds: %s", got)
		}
		if got := p.text(t, "test_input_required_result_multiple_inputs", map[string]any{}); !strings.Contains(got, "said the model Ada, 1 root(s)") {
			t.Errorf("several inputs: %s", got)
		}
	}
	if revision < r2026 {
		if err := p.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "info"}); err != nil { //nolint:staticcheck // deprecated by the protocol, and still to be served
			t.Error(err)
		}
		p.text(t, "test_tool_with_logging", map[string]any{})
		arrives(t, p.logs, "Tool execution completed")
	}
}

func goSDKChanges(t *testing.T, p *peer) {
	t.Helper()
	p.text(t, "test_trigger_tool_change", map[string]any{})
	arrives(t, p.changes, "tools")
	p.text(t, "test_trigger_prompt_change", map[string]any{})
	arrives(t, p.changes, "prompts")
	if err := p.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "test://watched-resource"}); err != nil {
		t.Fatal("subscribing: ", err)
	}
	arrives(t, p.changes, "test://watched-resource")
	if err := p.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: "test://watched-resource"}); err != nil {
		t.Error("unsubscribing: ", err)
	}
}

// TestGoSDKOnDemo is what a person does first: the demo handle of config.hcl.
func TestGoSDKOnDemo(t *testing.T) {
	for _, revision := range []string{r2511, r2026} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			p := connect(t, &mcp.CommandTransport{Command: tappedHost(t, "start", "demo", "-c", filepath.Join(house, "config.hcl")), TerminateDuration: patience}, revision)
			var names []string
			for tool, err := range p.Tools(t.Context(), nil) {
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, tool.Name)
			}
			if !slices.Contains(names, "now") || !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "files_") }) {
				t.Errorf("tools: %v", names)
			}
			if got := p.text(t, "now", map[string]any{"zone": "Europe/Oslo"}); !strings.Contains(got, "Europe/Oslo") {
				t.Errorf("now: %s", got)
			}
			if got := p.text(t, "files_read", map[string]any{"path": "config.hcl"}); !strings.Contains(got, `plugin "clock"`) {
				t.Errorf("files_read: %s", got)
			}
		})
	}
}
