package streamhttp_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/mcp/legacy"
	modernserver "github.com/mcphost/mcphost/host/mcp/modern"
	"github.com/mcphost/mcphost/host/mcp/server"
	"github.com/mcphost/mcphost/host/mcp/streamhttp"
	"github.com/mcphost/mcphost/host/primitive"
	"github.com/mcphost/mcphost/host/registry"
)

// A plugin offers tools that do what the test of the same name needs.
type plugin struct {
	registry *registry.Registry
	started  chan struct{}
	ended    chan error
}

func (p *plugin) offer(names ...string) *registry.Offer {
	o := &registry.Offer{ResourceUpdates: true, Logging: true}
	for _, name := range names {
		o.Tools = append(o.Tools, &primitive.Primitive{
			Kind: primitive.KindTool, Key: name, Own: name, Source: p,
			Definition: []byte(`{"name":"` + name + `","inputSchema":{"type":"object"}}`), InputSchema: []byte(`{"type":"object"}`),
		})
	}
	return o
}

func (p *plugin) CallTool(ctx context.Context, t *primitive.Primitive, u *primitive.Use) (*primitive.ToolResult, error) {
	switch t.Own {
	case "talk":
		if u.Peer != nil {
			u.Peer.Progress(primitive.Progress{Progress: 1})
		}
	case "slow": // no test is faster for waiting; the client polls meanwhile
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
		}
	case "hang":
		p.started <- struct{}{}
		<-ctx.Done()
		p.ended <- ctx.Err()
		return nil, ctx.Err()
	case "ask":
		if u.Inputs == nil {
			return &primitive.ToolResult{Input: &primitive.InputRequired{Requests: []primitive.InputRequest{{
				Key: "k", Method: "elicitation/create", Params: []byte(`{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{}}}`),
			}}}}, nil
		}
		return &primitive.ToolResult{Content: []primitive.Content{{Text: string(u.Inputs["k"])}}}, nil
	}
	return &primitive.ToolResult{Content: []primitive.Content{{Text: "from " + t.Own}}}, nil
}

func (*plugin) ReadResource(context.Context, *primitive.Primitive, *primitive.Use) (*primitive.ReadResult, error) {
	return &primitive.ReadResult{}, nil
}

func (*plugin) GetPrompt(context.Context, *primitive.Primitive, *primitive.Use) (*primitive.PromptResult, error) {
	return &primitive.PromptResult{}, nil
}

func (*plugin) Complete(context.Context, *primitive.Primitive, *primitive.Completion) (*primitive.CompletionResult, error) {
	return &primitive.CompletionResult{}, nil
}

// newReal starts a handler with the real front.
func newReal(t *testing.T, o streamhttp.Options) (*host, *plugin) {
	t.Helper()
	p := &plugin{registry: registry.New(hclog.NewNullLogger(), nil), started: make(chan struct{}, 10), ended: make(chan error, 10)}
	p.registry.SetOffer("p", p.offer("ask", "echo", "hang", "talk"))
	ep := &mcp.Endpoint{
		Name: "test", Transport: "http", Info: mcp.Implementation{Name: "mcphost", Version: "0"},
		Catalog: p.registry.NewEndpoint(registry.Options{Name: "test", Plugins: []registry.Member{{Handle: "p"}}}),
		Limits:  mcp.DefaultLimits(), Log: hclog.NewNullLogger(),
	}
	front := server.New(legacy.New(), modernserver.New(), ep.Limits, hclog.NewNullLogger())
	h := streamhttp.NewHandler(context.WithoutCancel(t.Context()), front, ep, o)
	return serve(t, nil, h, ep), p
}

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{},"progressToken":"p"}`

// modernly returns a modern request and its headers.
func modernly(method, params string) (string, http.Header) {
	header := modern()
	header.Set("Mcp-Method", method)
	if name, ok := jsonrpc.String(jsonrpc.Lookup([]byte("{"+params+"}"), "name")); ok {
		header.Set("Mcp-Name", name)
	}
	if params != "" {
		params += ","
	}
	return `{"jsonrpc":"2.0","id":"a","method":"` + method + `","params":{` + params + meta + `}}`, header
}

func modern() http.Header {
	h := usual()
	h.Set("MCP-Protocol-Version", "2026-07-28")
	return h
}

// initialize opens a session with the real front.
func (h *host) initialize(revision string) http.Header {
	h.t.Helper()
	resp := h.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+revision+`","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}`, usual())
	if b := text(h.t, resp); resp.StatusCode != http.StatusOK || !strings.Contains(b, `"`+revision+`"`) {
		h.t.Fatalf("initialize: %d %s", resp.StatusCode, b)
	}
	live := with(usual(), "Mcp-Session-Id", resp.Header.Get("Mcp-Session-Id"), "MCP-Protocol-Version", revision)
	if got := h.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, live).StatusCode; got != 202 {
		h.t.Fatalf("initialized: %d", got)
	}
	return live
}

func tool(name string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":{},"_meta":{"progressToken":"p"}}}`
}

func TestBothLineagesOnOneURL(t *testing.T) {
	h, _ := newReal(t, streamhttp.Options{})
	for _, revision := range []string{"2025-03-26", "2025-06-18", "2025-11-25", "2024-11-05"} {
		live := h.initialize(revision)
		if got := text(t, h.post(tool("echo"), live)); !strings.Contains(got, "from echo") {
			t.Errorf("%s: %s", revision, got)
		}
		var all []string
		for e := range events(t, h.post(tool("talk"), live)) {
			if e.data != "" {
				all = append(all, e.data)
			}
		}
		if len(all) != 2 || !strings.Contains(all[0], "notifications/progress") || !strings.Contains(all[1], "from talk") {
			t.Errorf("%s: %q, want progress and the result", revision, all)
		}
		// A modern request with the id of the session is modern all the same.
		body, header := modernly("tools/call", `"name":"echo","arguments":{}`)
		if got := text(t, h.post(body, with(header, "Mcp-Session-Id", live.Get("Mcp-Session-Id")))); !strings.Contains(got, `"resultType":"complete"`) {
			t.Errorf("modern: %s", got)
		}
	}
}

func TestStatusOfTheWholePath(t *testing.T) {
	h, _ := newReal(t, streamhttp.Options{})
	live := h.initialize("2025-11-25")
	batching := h.initialize("2025-03-26")
	list, listHeader := modernly("tools/list", "")
	nothing, nothingHeader := modernly("no/thing", "")
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	init := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	tests := map[string]struct {
		body   string
		header http.Header
		status int
		want   string
	}{
		"modern":                         {list, listHeader, 200, `"resultType"`},
		"modern, unknown method":         {nothing, nothingHeader, 404, "-32601"},
		"no version header":              {list, with(listHeader, "MCP-Protocol-Version", ""), 400, "-32020"},
		"other version header":           {list, with(listHeader, "MCP-Protocol-Version", "2025-11-25"), 400, "-32020"},
		"no claim":                       {ping, modern(), 400, "-32602"},
		"unknown claim":                  {strings.Replace(list, "2026-07-28", "v999.0.0", 1), with(listHeader, "MCP-Protocol-Version", "v999.0.0"), 400, "-32022"},
		"unknown version, no claim":      {ping, with(live, "MCP-Protocol-Version", "v999.0.0"), 400, "-32022"},
		"bare initialize, modern header": {init, modern(), 400, "-32020"},
		"initialize in a session":        {init, live, 400, "-32600"},
		"no session":                     {ping, usual(), 400, "-32600"},
		"legacy, unknown method":         {strings.Replace(ping, "ping", "no/thing", 1), live, 200, "-32601"},
		"legacy ping":                    {ping, live, 200, `"result":{}`},
		"response without a session":     {`{"jsonrpc":"2.0","id":1,"result":{}}`, usual(), 400, "-32600"},
		"response in a session":          {`{"jsonrpc":"2.0","id":1,"result":{}}`, live, 202, ""},
		"response, modern header":        {`{"jsonrpc":"2.0","id":1,"result":{}}`, with(live, "MCP-Protocol-Version", "2026-07-28"), 400, "-32600"},
		"batch":                          {"[" + ping + "," + strings.Replace(ping, "1", "2", 1) + "]", batching, 200, `[{"jsonrpc"`},
		"batch of notifications":         {`[{"jsonrpc":"2.0","method":"notifications/x"}]`, batching, 202, ""},
		"empty batch":                    {"[]", batching, 400, "-32600"},
		"batch elsewhere":                {"[" + ping + "]", live, 400, "-32600"},
		"modern batch":                   {"[" + list + "]", batching, 400, "-32600"},
	}
	for name, test := range tests {
		resp := h.post(test.body, test.header)
		if got := text(t, resp); resp.StatusCode != test.status || !strings.Contains(got, test.want) || test.want == "" && got != "" {
			t.Errorf("%s: %d %s; want %d %s", name, resp.StatusCode, got, test.status, test.want)
		}
	}
}

func TestDisconnectMeansCancellationOnModernOnly(t *testing.T) {
	h, p := newReal(t, streamhttp.Options{})
	live := h.initialize("2025-11-25")
	modernBody, modernHeader := modernly("tools/call", `"name":"hang","arguments":{}`)
	cut := func(body string, header http.Header) {
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-p.started; cancel() }()
		if _, err := h.try(ctx, "POST", body, header); err == nil {
			t.Error("the client got a response")
		}
	}
	cut(tool("hang"), live)
	cut(modernBody, modernHeader)
	within(t, "cancellation of the modern call", p.ended)
	select {
	case <-p.ended:
		t.Error("the legacy call was cancelled as well")
	default:
	}
	h.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, live)
	within(t, "cancellation of the legacy call", p.ended)
}

func TestTheSameIDFromTwoClients(t *testing.T) {
	h, p := newReal(t, streamhttp.Options{})
	a, b := h.initialize("2025-11-25"), h.initialize("2025-11-25")
	body, header := modernly("tools/call", `"name":"hang","arguments":{}`)
	body = strings.Replace(body, `"id":"a"`, `"id":1`, 1)
	for _, x := range []struct {
		body   string
		header http.Header
	}{{tool("hang"), a}, {tool("hang"), b}, {body, header}, {body, header}} {
		go h.try(t.Context(), "POST", x.body, x.header)
		within(t, "start of a call", p.started)
	}
	if resp := h.post(tool("hang"), a); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("the same id twice in one session: %d, want 400", resp.StatusCode)
	}
	h.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, a)
	within(t, "cancellation", p.ended)
	select {
	case <-p.ended:
		t.Error("a cancellation has reached another client's call")
	case <-time.After(10 * time.Millisecond):
	}
}

func TestChangesReachBothLineages(t *testing.T) {
	h, p := newReal(t, streamhttp.Options{})
	live := h.initialize("2025-11-25")
	legacyEvents := events(t, h.do(t.Context(), "GET", "", live))
	next(t, legacyEvents) // priming
	body, header := modernly("subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
	listen := events(t, h.post(body, header))
	if e, _ := next(t, listen); !strings.Contains(e.data, "acknowledged") {
		t.Fatalf("first %+v, want the acknowledgement", e)
	}
	p.registry.SetOffer("p", p.offer("echo", "new"))
	if e, _ := next(t, legacyEvents); e.data != `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` {
		t.Errorf("legacy: %+v", e)
	}
	if e, _ := next(t, listen); !strings.Contains(e.data, "list_changed") || !strings.Contains(e.data, `subscriptionId":"a"`) || e.id != "" {
		t.Errorf("modern: %+v", e)
	}
	go h.handler.Close(context.WithoutCancel(t.Context()))
	if e, _ := next(t, listen); !strings.Contains(e.data, `"resultType":"complete"`) {
		t.Errorf("at the end: %+v, want the result", e)
	}
	wantEnd(t, listen)
	wantEnd(t, legacyEvents)
}

func TestElicitationOnTheStreamOfTheCall(t *testing.T) {
	h, _ := newReal(t, streamhttp.Options{})
	live := h.initialize("2025-11-25")
	c := events(t, h.post(tool("ask"), live))
	next(t, c) // priming
	ask, _ := next(t, c)
	id := jsonrpc.Lookup([]byte(ask.data), "id")
	if !strings.Contains(ask.data, "elicitation/create") || id == nil {
		t.Fatalf("got %+v, want a request", ask)
	}
	if got := h.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"decline"}}`, id), live).StatusCode; got != 202 {
		t.Errorf("the answer: %d", got)
	}
	if e, _ := next(t, c); !strings.Contains(e.data, "decline") {
		t.Errorf("got %+v, want the result", e)
	}
}

func TestPairWithTheRealFront(t *testing.T) {
	h, _ := newReal(t, streamhttp.Options{LegacySSE: true})
	c, out := h.pair(t.Context(), usual())
	for _, step := range [][2]string{
		{tool("echo"), "-32600"}, // before initialize
		{`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, `"2024-11-05"`},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, ""},
		{tool("echo"), "from echo"},
	} {
		if got := out.post(step[0], usual()).StatusCode; got != 202 {
			t.Errorf("%s: status %d", step[0], got)
		}
		if step[1] == "" {
			continue
		}
		if e, _ := next(t, c); !strings.Contains(e.data, step[1]) {
			t.Errorf("%s: got %+v, want %s", step[0], e, step[1])
		}
	}
}

func TestARefusedResponseIsNotAnsweredUnderItsID(t *testing.T) {
	h, _ := newReal(t, streamhttp.Options{})
	gone := usual()
	gone.Set("Mcp-Session-Id", "gone")
	for name, header := range map[string]http.Header{"no session": usual(), "modern": modern(), "dead session": gone} {
		resp := h.post(`{"jsonrpc":"2.0","id":1,"result":{}}`, header)
		if b := text(t, resp); resp.StatusCode < 400 || strings.Contains(b, `"id"`) {
			t.Errorf("%s: %d %s", name, resp.StatusCode, b)
		}
	}
}

func TestABatchWithAnUnknownVersionHeaderIsRefusedWhole(t *testing.T) {
	h, _ := newReal(t, streamhttp.Options{})
	header := h.initialize("2025-03-26")
	header.Set("MCP-Protocol-Version", "1999-01-01")
	resp := h.post(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, header)
	if b := text(t, resp); resp.StatusCode != http.StatusBadRequest || !strings.Contains(b, `-32022`) {
		t.Errorf("got %d %s", resp.StatusCode, b)
	}
}
