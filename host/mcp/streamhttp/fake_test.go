package streamhttp_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/mcp/streamhttp"
)

// patience is how long a test waits for what must happen.
const patience = 10 * time.Second

// A front is a small [mcp.Front]: a method does what the test says.
type front struct {
	t        *testing.T
	sessions chan *mcp.Session
	methods  map[string]func(ctx context.Context, x *mcp.Exchange, id []byte)
	accepted atomic.Int64
	lastConn atomic.Pointer[mcp.Conn]
}

func (f *front) Accept(x *mcp.Exchange, body []byte) *mcp.Work {
	f.accepted.Add(1)
	f.lastConn.Store(x.Conn)
	m, fault := jsonrpc.Parse(body)
	modern := x.Headers != nil && len(x.Headers.Values("Mcp-Protocol-Version")) > 0 && x.Headers.Values("Mcp-Protocol-Version")[0] == "2026-07-28"
	switch {
	case fault != nil:
		x.Out.Reply(jsonrpc.AppendError(nil, m.ID, fault), 400)
	case m.Method == "initialize":
		f.initialize(x, m.ID, m.Params)
	case x.Headers != nil && !modern && x.State == mcp.SessionUnknown:
		x.Out.Reply([]byte(`{"error":"no such session"}`), 404)
	case m.IsResponse():
		x.Conn.Session().Deliver(&jsonrpc.Message{ID: append([]byte(nil), m.ID...), Result: append([]byte(nil), m.Result...)})
		x.Out.Reply(nil, 202)
	case m.IsNotification():
		x.Out.Reply(nil, 202)
	case f.methods[m.Method] == nil:
		x.Out.Reply(jsonrpc.AppendError(nil, m.ID, jsonrpc.Errorf(jsonrpc.MethodNotFound, "no")), 404)
	default:
		w := &mcp.Work{Run: func(ctx context.Context) { f.methods[m.Method](ctx, x, m.ID) }}
		if modern {
			w.Lineage = mcp.Modern
		}
		return w
	}
	return nil
}

func (f *front) initialize(x *mcp.Exchange, id, params []byte) {
	name, _ := jsonrpc.String(jsonrpc.Lookup(params, "protocolVersion"))
	revision, _ := mcp.ParseRevision(name)
	s := mcp.NewSession(context.WithoutCancel(f.t.Context()), revision)
	s.Principal = x.Principal
	if x.NewSession == nil {
		s.Send = x.Conn.Send
		x.Conn.Open(s)
	} else if err := x.NewSession(s); err != nil {
		s.Close()
		x.Out.Reply([]byte(`{"error":"busy"}`), 503)
		return
	}
	f.sessions <- s
	reply(x, id, `{}`)
}

func reply(x *mcp.Exchange, id []byte, result string) {
	x.Out.Reply(append(append(jsonrpc.AppendResult(nil, id), result...), '}'), 200)
}

func note(n int) []byte {
	return []byte(`{"jsonrpc":"2.0","method":"note","params":` + strconv.Itoa(n) + `}`)
}

// A host is a handler on a socket.
type host struct {
	*front
	t       *testing.T
	handler *streamhttp.Handler
	url     string
	client  *http.Client
	ep      *mcp.Endpoint
}

// newHost starts a handler with the methods, which is closed at the end of the test.
func newHost(t *testing.T, o streamhttp.Options, methods map[string]func(ctx context.Context, x *mcp.Exchange, id []byte)) *host {
	t.Helper()
	limits := mcp.DefaultLimits()
	limits.SubscriptionKeepalive = time.Hour
	return newHostWith(t, o, limits, methods)
}

func newHostWith(t *testing.T, o streamhttp.Options, limits mcp.Limits, methods map[string]func(ctx context.Context, x *mcp.Exchange, id []byte)) *host {
	t.Helper()
	f := &front{t: t, sessions: make(chan *mcp.Session, 10), methods: methods}
	ep := &mcp.Endpoint{Name: "test", Transport: "http", Limits: limits, Log: hclog.NewNullLogger()}
	h := streamhttp.NewHandler(context.WithoutCancel(t.Context()), f, ep, o)
	return serve(t, f, h, ep)
}

func serve(t *testing.T, f *front, h *streamhttp.Handler, ep *mcp.Endpoint) *host {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/mcp", h)
	events, messages := h.Pair("/mcp/message")
	mux.Handle("/mcp/sse", events)
	mux.Handle("/mcp/message", messages)
	s := httptest.NewServer(mux)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 0)
		defer cancel()
		client.CloseIdleConnections()
		h.Close(ctx)
		s.CloseClientConnections()
		s.Close()
	})
	return &host{front: f, t: t, handler: h, url: s.URL + "/mcp", client: client, ep: ep}
}

// usual are the headers that every client sends.
func usual() http.Header {
	return http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
}

func call(method string) string { return `{"jsonrpc":"2.0","id":1,"method":"` + method + `"}` }

// do sends a request; the response is closed at the end of the test.
func (h *host) do(ctx context.Context, verb, body string, header http.Header) *http.Response {
	h.t.Helper()
	resp, err := h.try(ctx, verb, body, header)
	if err != nil {
		h.t.Fatal(err)
	}
	return resp
}

func (h *host) try(ctx context.Context, verb, body string, header http.Header) (*http.Response, error) {
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, verb, h.url, r)
	if err != nil {
		return nil, err
	}
	req.Header = header
	if host := header.Get("Host"); host != "" {
		req.Host = host
	}
	resp, err := h.client.Do(req)
	if err == nil {
		h.t.Cleanup(func() { resp.Body.Close() })
	}
	return resp, err
}

func (h *host) post(body string, header http.Header) *http.Response {
	h.t.Helper()
	return h.do(h.t.Context(), http.MethodPost, body, header)
}

// open initializes a session of a revision and returns the headers of its requests.
func (h *host) open(revision string) (http.Header, *mcp.Session) {
	h.t.Helper()
	resp := h.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+revision+`"}}`, usual())
	id := resp.Header.Get("Mcp-Session-Id")
	if resp.StatusCode != http.StatusOK || id == "" {
		h.t.Fatalf("initialize: status %d, session %q", resp.StatusCode, id)
	}
	header := usual()
	header.Set("Mcp-Session-Id", id)
	header.Set("MCP-Protocol-Version", revision)
	return header, <-h.sessions
}

func with(h http.Header, pairs ...string) http.Header {
	h = h.Clone()
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			h.Del(pairs[i])
		} else {
			h.Set(pairs[i], pairs[i+1])
		}
	}
	return h
}

func text(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatalf("reading a body: %v", err)
	}
	return string(b)
}

// An event is a block of an event stream.
type event struct{ id, name, data, retry, comment string }

// events reads a stream; the channel is closed at its end.
func events(t *testing.T, r *http.Response) <-chan event {
	t.Helper()
	if got := r.Header.Get("Content-Type"); r.StatusCode != http.StatusOK || got != "text/event-stream" {
		t.Fatalf("status %d, Content-Type %q; want an event stream", r.StatusCode, got)
	}
	if r.Header.Get("X-Accel-Buffering") != "no" || r.Header.Get("Cache-Control") != "no-cache" {
		t.Errorf("headers %v; want X-Accel-Buffering: no, Cache-Control: no-cache", r.Header)
	}
	out := make(chan event, 10000)
	go func() {
		defer close(out)
		s := bufio.NewScanner(r.Body)
		s.Buffer(nil, 8<<20)
		var e event
		for s.Scan() {
			field, value, _ := strings.Cut(s.Text(), ":")
			value = strings.TrimPrefix(value, " ")
			switch {
			case s.Text() == "":
				out <- e
				e = event{}
			case field == "":
				e.comment = value
			case field == "id":
				e.id = value
			case field == "event":
				e.name = value
			case field == "data":
				e.data = value
			case field == "retry":
				e.retry = value
			}
		}
	}()
	return out
}

// next returns the next event; it reports false at the end of the stream.
func next(t *testing.T, c <-chan event) (event, bool) {
	t.Helper()
	return within(t, "an event", c)
}

// within waits for something that must come.
func within[T any](t *testing.T, what string, c <-chan T) (T, bool) {
	t.Helper()
	select {
	case v, ok := <-c:
		return v, ok
	case <-time.After(patience):
		t.Fatalf("no %s in %v", what, patience)
	}
	panic("not reached")
}

func wantEnd(t *testing.T, c <-chan event) {
	t.Helper()
	if e, ok := next(t, c); ok {
		t.Fatalf("got %+v, want the end of the stream", e)
	}
}
