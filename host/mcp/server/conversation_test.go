package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"
	"golang.org/x/tools/txtar"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/mcp/legacy"
	"github.com/mcphost/mcphost/host/mcp/modern"
	"github.com/mcphost/mcphost/host/mcp/server"
	"github.com/mcphost/mcphost/host/mcp/stdio"
	"github.com/mcphost/mcphost/host/primitive"
	"github.com/mcphost/mcphost/host/registry"
)

var update = flag.Bool("update", false, "write what the server said into the testdata")

// TestConversation replays each archive on one pipe: it sends the lines of
// "client" in order, waiting for the answer of each request, and compares what
// comes back with "server". A line of "client" that starts with "$META " is a
// modern request whose _meta is filled in.
func TestConversation(t *testing.T) {
	files, err := filepath.Glob("testdata/conversation/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(file, ".txtar")[len("testdata/conversation/"):], func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			client, want := section(t, ar, "client"), section(t, ar, "server")
			got := converse(t, string(client.Data))
			if *update {
				want.Data = got
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(decode(t, want.Data), decode(t, got)); diff != "" {
				t.Errorf("server said (-want +got):\n%s", diff)
			}
		})
	}
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// converse sends each line once the one before has had its answer, if it is to have one.
func converse(t *testing.T, script string) []byte {
	t.Helper()
	c := newPipe(t)
	for line := range strings.Lines(script) {
		line = strings.TrimSuffix(line, "\n")
		line = strings.ReplaceAll(line, `"$META"`, modernMeta)
		c.send(line)
		m, fault := jsonrpc.Parse([]byte(line))
		if fault != nil || m.IsRequest() {
			c.await()
		}
	}
	return c.finish()
}

func section(t *testing.T, ar *txtar.Archive, name string) *txtar.File {
	t.Helper()
	for i := range ar.Files {
		if ar.Files[i].Name == name {
			return &ar.Files[i]
		}
	}
	t.Fatalf("no section %q", name)
	return nil
}

// decode reads JSON lines, so that a comparison ignores the order of members.
func decode(t *testing.T, b []byte) (all []any) {
	t.Helper()
	for line := range bytes.Lines(b) {
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, v)
	}
	return all
}

// A pipe is a client of a server with the tools of [newOffer].
type pipe struct {
	t        *testing.T
	plugin   *fake
	in       *os.File
	lines    chan []byte
	said     [][]byte
	done     chan error
	endpoint *mcp.Endpoint
	registry *registry.Registry
}

func newPipe(t *testing.T, change ...func(*mcp.Limits)) *pipe {
	t.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	plugin := &fake{started: make(chan string, 100)}
	reg := registry.New(hclog.NewNullLogger(), nil)
	reg.SetOffer("fake", newOffer(plugin))
	ep := &mcp.Endpoint{
		Name: "test", Transport: "stdio",
		Info:    mcp.Implementation{Name: "mcphost", Version: "0.0.0", Title: "Test", Description: "A test"},
		Catalog: reg.NewEndpoint(registry.Options{Name: "test", Plugins: []registry.Member{{Handle: "fake"}}, Instructions: "Be kind."}),
		Limits:  mcp.DefaultLimits(), Sealer: &plainSealer{spent: map[string]bool{}}, Log: hclog.NewNullLogger(),
	}
	ep.Limits.DefaultPageSize = 3
	for _, f := range change {
		f(&ep.Limits)
	}
	front := server.New(legacy.New(), modern.New(), ep.Limits, hclog.NewNullLogger())
	c := &pipe{t: t, plugin: plugin, in: inW, lines: make(chan []byte, 1000), done: make(chan error, 1), endpoint: ep, registry: reg}
	go func() {
		c.done <- stdio.Serve(t.Context(), inR, outW, front, ep, primitive.Principal{Subject: "local"})
		outW.Close()
	}()
	go func() {
		defer close(c.lines)
		b := make([]byte, 0, 1<<16)
		buf := make([]byte, 1<<16)
		for {
			n, err := outR.Read(buf)
			b = append(b, buf[:n]...)
			for {
				i := bytes.IndexByte(b, '\n')
				if i < 0 {
					break
				}
				c.lines <- bytes.Clone(b[:i+1])
				b = b[i+1:]
			}
			if err != nil {
				return
			}
		}
	}()
	return c
}

func (c *pipe) send(line string) {
	c.t.Helper()
	if _, err := c.in.WriteString(line + "\n"); err != nil {
		c.t.Fatal(err)
	}
}

// await returns the next line.
func (c *pipe) await() []byte {
	c.t.Helper()
	select {
	case line, ok := <-c.lines:
		if !ok {
			c.t.Fatal("the server ended the pipe")
		}
		c.said = append(c.said, line)
		return line
	case <-time.After(10 * time.Second):
		c.t.Fatal("no line in 10 s")
	}
	return nil
}

// finish ends the input and returns all that was said.
func (c *pipe) finish() []byte {
	c.t.Helper()
	c.in.Close()
	for line := range c.lines {
		c.said = append(c.said, line)
	}
	if err := <-c.done; err != nil {
		c.t.Errorf("Serve: %v", err)
	}
	return bytes.Join(c.said, nil)
}

// plainSealer seals with nothing, for tests of what is around it.
type plainSealer struct{ spent map[string]bool }

func (*plainSealer) Seal(purpose string, binding, payload []byte, _ time.Time) string {
	return purpose + "." + string(jsonrpc.AppendString(nil, latin1(payload))) + "." + strings.ToUpper(cmpHex(binding))
}

func (s *plainSealer) Open(purpose string, binding []byte, token string) ([]byte, bool) {
	rest, ok := strings.CutPrefix(token, purpose+".")
	i := strings.LastIndexByte(rest, '.')
	if !ok || i < 0 || rest[i+1:] != strings.ToUpper(cmpHex(binding)) {
		return nil, false
	}
	v, ok := jsonrpc.String([]byte(rest[:i]))
	var payload []byte
	for _, r := range v {
		payload = append(payload, byte(r))
	}
	return payload, ok
}

// latin1 returns a string with one rune for each byte, so that any bytes survive JSON.
func latin1(b []byte) string {
	var s strings.Builder
	for _, c := range b {
		s.WriteRune(rune(c))
	}
	return s.String()
}

func (s *plainSealer) Spend(token string, _ time.Time) bool {
	first := !s.spent[token]
	s.spent[token] = true
	return first
}

func cmpHex(b []byte) string {
	const digits = "0123456789abcdef"
	var s strings.Builder
	for _, c := range b {
		s.WriteByte(digits[c>>4])
		s.WriteByte(digits[c&15])
	}
	return s.String()
}

// fake is a plugin of a few tools, a resource, a template and a prompt.
type fake struct {
	started  chan string
	sessions chan string   // if set, gets the session of each call of echo
	stubborn chan struct{} // if set, what the tool hang waits for, whatever its context says
}

func newOffer(f *fake, extra ...string) *registry.Offer {
	o := &registry.Offer{HasPrompts: true, HasResources: true, Completions: true, Logging: true, ResourceUpdates: true}
	tool := func(name, more string) {
		schema := `{"type":"object","properties":{"text":{"type":"string","x-mcp-header":"Text"}}}`
		def := `{"name":"` + name + `","title":"T","description":"d","inputSchema":` + schema + more + `,"annotations":{"readOnlyHint":true},"icons":[],"_meta":{"a.b/c":1},"zzz":[1.50]}`
		p := &primitive.Primitive{Kind: primitive.KindTool, Key: name, Own: name, Definition: []byte(def), InputSchema: []byte(schema), Source: f}
		if more != "" {
			p.OutputSchema = jsonrpc.Lookup([]byte(def), "outputSchema")
		}
		o.Tools = append(o.Tools, p)
	}
	for _, name := range append([]string{"ask", "echo", "hang", "panic", "talk"}, extra...) {
		tool(name, "")
	}
	tool("list", `,"outputSchema":{"type":"array","items":{"type":"number"}}`)
	o.Resources = []*primitive.Primitive{{Kind: primitive.KindResource, Key: "test://a", Own: "test://a", Definition: []byte(`{"uri":"test://a","name":"a","title":"A"}`), Source: f}}
	o.Templates = []*primitive.Primitive{{Kind: primitive.KindTemplate, Key: "test://t/{id}", Own: "test://t/{id}", Definition: []byte(`{"uriTemplate":"test://t/{id}","name":"t"}`), Source: f}}
	o.Prompts = []*primitive.Primitive{{
		Kind: primitive.KindPrompt, Key: "p", Own: "p", RequiredArguments: []string{"x"},
		Definition: []byte(`{"name":"p","arguments":[{"name":"x","title":"X","required":true}]}`), Source: f,
	}}
	return o
}

func (f *fake) CallTool(ctx context.Context, p *primitive.Primitive, u *primitive.Use) (*primitive.ToolResult, error) {
	switch p.Own {
	case "echo":
		if f.sessions != nil {
			f.sessions <- u.Caller.Session
		}
		return &primitive.ToolResult{Content: []primitive.Content{{Text: string(u.Arguments)}}, Structured: u.Arguments}, nil
	case "list":
		return &primitive.ToolResult{Structured: []byte(`[1,2.50]`), Content: []primitive.Content{
			{Type: primitive.ContentAudio, Data: []byte{1}, MIMEType: "audio/wav"},
			{Type: primitive.ContentLink, Link: []byte(`{"uri":"test://a","name":"a"}`)},
			{Text: "x", Annotations: []byte(`{"priority":1,"lastModified":"2026-01-01T00:00:00Z"}`), Meta: []byte(`{"k":1}`)},
		}}, nil
	case "hang":
		f.started <- string(u.Arguments)
		if f.stubborn != nil {
			<-f.stubborn
			return &primitive.ToolResult{}, nil
		}
		<-ctx.Done()
		return nil, primitive.Wrap(primitive.TimedOut, ctx.Err())
	case "panic":
		panic("a bug")
	case "talk":
		if u.Peer != nil {
			one := 1.0
			u.Peer.Progress(primitive.Progress{Progress: 0.5, Total: &one, Message: "half"})
			u.Peer.Progress(primitive.Progress{Progress: 0.5})
			u.Peer.Progress(primitive.Progress{Progress: 1})
			u.Peer.Log(primitive.Log{Level: "debug", Data: []byte(`"quiet"`)})
			u.Peer.Log(primitive.Log{Level: "error", Logger: "l", Data: []byte(`{"loud":1}`)})
		}
		return &primitive.ToolResult{}, nil
	case "ask":
		if answer, ok := u.Inputs["name"]; ok && u.State != nil {
			return &primitive.ToolResult{Content: []primitive.Content{{Text: string(u.State) + " " + string(answer)}}}, nil
		}
		return &primitive.ToolResult{Input: &primitive.InputRequired{State: []byte("mine"), SingleUse: true, Requests: []primitive.InputRequest{{
			Key: "name", Method: "elicitation/create",
			Params: []byte(`{"mode":"form","message":"Who?","requestedSchema":{"type":"object","properties":{"c":{"type":"string","default":"a","oneOf":[{"const":"a","title":"A"}]}}}}`),
		}}}}, nil
	}
	return nil, primitive.Wrap(primitive.Internal, context.Canceled)
}

func (*fake) ReadResource(_ context.Context, _ *primitive.Primitive, u *primitive.Use) (*primitive.ReadResult, error) {
	return &primitive.ReadResult{Contents: []primitive.ResourceContents{{URI: u.URI, MIMEType: "text/plain", Text: "hi"}}}, nil
}

func (*fake) GetPrompt(_ context.Context, _ *primitive.Primitive, u *primitive.Use) (*primitive.PromptResult, error) {
	return &primitive.PromptResult{Messages: []primitive.PromptMessage{{Role: "user", Content: primitive.Content{Text: string(u.Arguments)}}}}, nil
}

func (*fake) Complete(_ context.Context, _ *primitive.Primitive, c *primitive.Completion) (*primitive.CompletionResult, error) {
	values := []string{c.Value + "1", c.Value + "2"}
	for k, v := range c.Context {
		values = append(values, k+"="+v)
	}
	slices.Sort(values)
	return &primitive.CompletionResult{Values: values}, nil
}
