//go:build linux

package plugin_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphost/mcphost/host/plugin"
	"github.com/mcphost/mcphost/host/primitive"
)

func TestCatalogHoldsWhatThePluginLists(t *testing.T) {
	t.Parallel()
	o, _ := options(t, "good")
	c := start(t, o).Catalog()
	if c.Revision != 7 || c.Instructions != "Use echo." || !c.Capabilities.Streaming || len(c.Problems) != 0 {
		t.Errorf("got catalog %+v", c)
	}
	want := map[primitive.Kind]string{
		primitive.KindTool: `{"name":"echo","title":"Echo","description":"Says it�[2J again.","inputSchema":{"type": "object", "properties": {}}}` + "\n" +
			`{"name":"safe","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`,
		primitive.KindResource: `{"uri":"test://a","name":"a","mimeType":"text/plain"}`,
		primitive.KindTemplate: `{"uriTemplate":"test://{name}","name":"any"}`,
		primitive.KindPrompt:   `{"name":"greet","arguments":[{"name":"who","required":true}]}`,
	}
	for _, k := range primitive.Kinds {
		var lines []string
		for _, p := range c.List(k) {
			lines = append(lines, string(p.Definition))
		}
		if diff := cmp.Diff(want[k], strings.Join(lines, "\n")); diff != "" {
			t.Errorf("%s definitions (-want +got):\n%s", k, diff)
		}
	}
	if safe := pick(t, c.Tools, "safe"); safe.ReadOnly == nil || !*safe.ReadOnly || string(safe.InputSchema) != `{"type":"object"}` {
		t.Errorf("got %+v, want a read-only tool with the empty schema", safe)
	}
	if got := pick(t, c.Prompts, "greet").RequiredArguments; !cmp.Equal(got, []string{"who"}) {
		t.Errorf("got required arguments %q, want who", got)
	}
}

func TestCatalogLeavesOutWhatBreaksARule(t *testing.T) {
	t.Parallel()
	o, log := options(t, "bad-catalog")
	c := start(t, o).Catalog()
	var names []string
	for _, p := range c.Tools {
		names = append(names, p.Own)
	}
	if diff := cmp.Diff([]string{"echo", "safe", "verbatim"}, names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if len(c.Problems) != 14 {
		t.Errorf("got %d problems, want 14: %+v", len(c.Problems), c.Problems)
	}
	v := pick(t, c.Tools, "verbatim")
	want := `{"name":"verbatim","custom":1.0,"inputSchema":{"type":"object"},"annotations":{"idempotentHint":true},"description":"a�b"}`
	if diff := cmp.Diff(want, string(v.Definition)); diff != "" {
		t.Errorf("verbatim definition (-want +got):\n%s", diff)
	}
	if v.Idempotent == nil || !*v.Idempotent || v.ReadOnly != nil {
		t.Errorf("got hints %v %v, want idempotent alone", v.Idempotent, v.ReadOnly)
	}
	wantContains(t, "log", log.String(), `left out of the catalog: handle=test`, "tool=bad_json", "its inputSchema is not JSON")
}

func TestChangedCatalogIsPublishedOnce(t *testing.T) {
	t.Parallel()
	o, _ := options(t, "good")
	var mu sync.Mutex
	var revisions []uint64
	o.OnCatalog = func(c *plugin.Catalog) {
		mu.Lock()
		defer mu.Unlock()
		revisions = append(revisions, c.Revision)
	}
	p := start(t, o)
	mustText(t, p, `{"do":"change"}`)
	eventually(t, "the change", func() bool { return p.Catalog().Revision == 8 })
	if len(p.Catalog().Tools) != 0 {
		t.Errorf("got %d tools, want none", len(p.Catalog().Tools))
	}
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff([]uint64{7, 8}, revisions); diff != "" {
		t.Errorf("published (-want +got):\n%s", diff)
	}
}

func TestEnvironmentIsBuiltFromNothing(t *testing.T) {
	t.Setenv("SECRET_OF_THE_HOST", "x")
	o, _ := options(t, "good")
	o.Env["DECLARED"] = "yes"
	env := mustText(t, start(t, o), `{"do":"env"}`)
	for v := range strings.SplitSeq(env, "\n") {
		name, value, _ := strings.Cut(v, "=")
		switch name {
		case "PATH", "LANG", "TZ", "DECLARED", "GORACE", behaviourVar, "MCPHOST_PLUGIN", "PLUGIN_MIN_PORT", "PLUGIN_MAX_PORT", "PLUGIN_PROTOCOL_VERSIONS":
		case "HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "PLUGIN_UNIX_SOCKET_DIR":
			if !strings.HasPrefix(value, o.RunDir+"/") {
				t.Errorf("%s is %q, want a folder in %q", name, value, o.RunDir)
			}
		case "PWD":
		default:
			t.Errorf("the plugin has %s in its environment", name)
		}
	}
	wantContains(t, "environment", env, "DECLARED=yes")
}

func TestStdinIsNotInherited(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteString(`{"jsonrpc":"2.0"}` + "\n"); err != nil {
		t.Fatal(err)
	}
	old := os.Stdin
	os.Stdin = r
	t.Cleanup(func() { os.Stdin = old; w.Close(); r.Close() })
	o, _ := options(t, "good")
	if got := mustText(t, start(t, o), `{"do":"stdin"}`); got != `"" <nil>` {
		t.Errorf("the plugin read %s from stdin, want nothing", got)
	}
}

func TestConfigurationIsHandedOverByRPC(t *testing.T) {
	t.Parallel()
	o, _ := options(t, "good")
	o.DataDir = filepath.Join(shortDir(t), "data")
	o.Configure = configure(t)
	want := "test {\"root\":\"/x\"} s3cret " + o.DataDir
	if got := mustText(t, start(t, o), `{"do":"config"}`); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCallContextSaysWhoCalls(t *testing.T) {
	t.Parallel()
	o, _ := options(t, "good")
	p := start(t, o)
	c := caller()
	c.Meta = []byte(`{"io.modelcontextprotocol/clientInfo":{},"progressToken":1,"com.example.mcp/x":2,"own":{"a":1}}`)
	r, err := p.CallTool(t.Context(), tool(t, p, "echo"), &primitive.Use{Caller: c, CallID: "c9", Round: 2, Arguments: []byte(`{"do":"context"}`)})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		CallID    string `json:"call_id"`
		Endpoint  string `json:"endpoint"`
		Round     int    `json:"round"`
		Meta      []byte `json:"meta_json"`
		Principal struct {
			Subject string `json:"subject"`
		} `json:"principal"`
	}
	if err := json.Unmarshal([]byte(r.Content[0].Text), &got); err != nil {
		t.Fatal(err)
	}
	if got.CallID != "c9" || got.Endpoint != "demo" || got.Round != 2 || got.Principal.Subject != "local" {
		t.Errorf("got %+v", got)
	}
	if want := `{"com.example.mcp/x":2,"own":{"a":1}}`; string(got.Meta) != want {
		t.Errorf("got _meta %s, want %s", got.Meta, want)
	}
}

func TestResourcesPromptsAndCompletions(t *testing.T) {
	t.Parallel()
	o, _ := options(t, "good")
	p := start(t, o)
	c := p.Catalog()
	use := &primitive.Use{Caller: caller(), URI: "test://a"}
	read, err := p.ReadResource(t.Context(), c.Resources[0], use)
	if err != nil || len(read.Contents) != 1 || !read.Contents[0].IsBlob || string(read.Contents[0].Blob) != "\x01\x02" {
		t.Errorf("ReadResource: got %+v %v", read, err)
	}
	use.URI = "test://missing"
	_, err = p.ReadResource(t.Context(), c.Templates[0], use)
	wantFailure(t, err, primitive.NotFound)
	prompt, err := p.GetPrompt(t.Context(), c.Prompts[0], &primitive.Use{Caller: caller(), Arguments: []byte(`{"who":"you"}`)})
	if err != nil || len(prompt.Messages) != 1 || prompt.Messages[0].Content.Text != "hello you" {
		t.Errorf("GetPrompt: got %+v %v", prompt, err)
	}
	_, err = p.GetPrompt(t.Context(), c.Prompts[0], &primitive.Use{Caller: caller(), Arguments: []byte(`{"who":1}`)})
	wantFailure(t, err, primitive.InvalidArguments)
	done, err := p.Complete(t.Context(), c.Prompts[0], &primitive.Completion{Caller: caller(), Argument: "who"})
	if err != nil || len(done.Values) != 100 || !done.HasMore {
		t.Errorf("Complete: got %d values, more %v, %v; want 100 and more", len(done.Values), done.HasMore, err)
	}
	page, next, err := p.ListResources(t.Context(), caller(), "")
	if err != nil || next != "2" || len(page) != 1 || page[0].Own != "test://b" {
		t.Errorf("ListResources: got %v %q %v, want test://b alone", page, next, err)
	}
}

// A listener is a peer that keeps what it is told.
type listener struct {
	progress []primitive.Progress
	logs     []primitive.Log
}

func (*listener) WantsProgress() bool             { return true }
func (*listener) LogLevel() string                { return "info" }
func (l *listener) Progress(p primitive.Progress) { l.progress = append(l.progress, p) }
func (l *listener) Log(x primitive.Log)           { l.logs = append(l.logs, x) }

func TestStreamForwardsProgressAndLogs(t *testing.T) {
	t.Parallel()
	o, _ := options(t, "good")
	p := start(t, o)
	peer := &listener{}
	use := &primitive.Use{Caller: caller(), Arguments: []byte(`{}`), Peer: peer}
	r, err := p.CallTool(t.Context(), tool(t, p, "echo"), use)
	if err != nil || r.Content[0].Text != "ok" {
		t.Fatalf("got %+v %v, want ok", r, err)
	}
	if len(peer.progress) != 2 || peer.progress[1].Progress != 2 || *peer.progress[1].Total != 2 {
		t.Errorf("got progress %+v, want the two finite ones", peer.progress)
	}
	if len(peer.logs) != 1 || string(peer.logs[0].Data) != `"said"` {
		t.Errorf("got logs %+v, want the one that is JSON", peer.logs)
	}
	use.Arguments = []byte(`{"do":"no-outcome"}`)
	_, err = p.CallTool(t.Context(), tool(t, p, "echo"), use)
	wantFailure(t, err, primitive.InvalidResult)
}

func TestHooksFailClosed(t *testing.T) {
	t.Parallel()
	o, _ := options(t, "hooks")
	p := start(t, o)
	tools := p.Catalog().Tools
	register, _, err := p.ShouldRegister(t.Context(), caller(), tools)
	if err != nil || !cmp.Equal(register, []bool{true, false}) {
		t.Errorf("ShouldRegister: got %v %v, want a missing answer to be no", register, err)
	}
	verdicts, _, err := p.Authorize(t.Context(), caller(), tools, false, nil)
	if err != nil || len(verdicts) != 2 || !verdicts[0].Allow || verdicts[1].Allow {
		t.Errorf("Authorize: got %+v %v, want a missing verdict to be no", verdicts, err)
	}
	within(t, 4*time.Second, "a hook that hangs", func() {
		_, _, err = p.Authorize(t.Context(), caller(), tools[:1], true, []byte(`{"do":"hang-hook"}`))
	})
	wantFailure(t, err, primitive.TimedOut)
}

func TestHooksAreAskedAtEachUse(t *testing.T) {
	t.Parallel()
	o, _ := options(t, "hooks")
	p := start(t, o)
	call := func(name, args string) error {
		_, err := p.CallTool(t.Context(), tool(t, p, name), &primitive.Use{Caller: caller(), Arguments: []byte(args)})
		return err
	}
	if err := call("echo", `{"do":"say","json":"x"}`); err != nil {
		t.Errorf("an allowed call: %v", err)
	}
	wantFailure(t, call("echo", `{"do":"forbidden"}`), primitive.Denied)
	wantFailure(t, call("safe", `{"do":"say","json":"x"}`), primitive.NotFound)
	within(t, 4*time.Second, "a hook that hangs", func() {
		wantFailure(t, call("echo", `{"do":"hang-hook"}`), primitive.Denied)
	})
}

func TestProbeDescribesWithoutConfiguring(t *testing.T) {
	t.Parallel()
	o, _ := options(t, "refuse-config")
	probe, err := plugin.StartProbe(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer probe.Close(t.Context())
	if d := probe.Description; d.Name != "test�[31m" || d.Version != "1.2.3" || len(d.Secrets) != 1 || string(d.ConfigSchema) != `{"type":"object"}` {
		t.Errorf("got %+v", d)
	}
	got, err := probe.ValidateConfig(t.Context(), []byte(`{"root":1}`))
	want := []plugin.Diagnostic{{Summary: "Bad root", Detail: `{"root":1}`, Pointer: "/root"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("diagnostics, %v (-want +got):\n%s", err, diff)
	}
}

func TestMTLS(t *testing.T) {
	t.Parallel()
	o, _ := options(t, "good")
	o.MTLS = true
	if got := mustText(t, start(t, o), `{}`); got != "ok" {
		t.Errorf("got %q, want ok", got)
	}
}

func TestSubscriptionsReachThePluginAndItsNextProcess(t *testing.T) {
	t.Parallel()
	o, _ := options(t, "good")
	updates := make(chan string, 10)
	o.OnResourceUpdated = func(uri string) { updates <- uri }
	p := start(t, o)
	if err := p.SetSubscriptions(t.Context(), []string{"test://a"}); err != nil {
		t.Fatal(err)
	}
	for _, after := range []string{"the subscription", "the restart"} {
		select {
		case uri := <-updates:
			if uri != "test://a" {
				t.Errorf("after %s: got %q", after, uri)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("no update after %s", after)
		}
		p.Restart()
	}
}

func TestWatchIsOpenedAgain(t *testing.T) {
	t.Parallel()
	o, log := options(t, "good")
	p := start(t, o)
	mustText(t, p, `{"do":"break-watch"}`)
	eventually(t, "the end of the watch", func() bool { return strings.Contains(log.String(), "asking again") })
	mustText(t, p, `{"do":"change"}`)
	eventually(t, "a catalog of the new watch", func() bool { return p.Catalog().Revision == 8 })
}
