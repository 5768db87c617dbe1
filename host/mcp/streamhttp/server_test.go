package streamhttp_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/mcp/streamhttp"
)

// start mounts handlers on a server and returns how to reach it.
func start(t *testing.T, mount func(*streamhttp.Server)) (base string, s *streamhttp.Server, served <-chan error) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s = streamhttp.NewServer(hclog.NewNullLogger())
	mount(s)
	c := make(chan error, 1)
	go func() { c <- s.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		s.Shutdown(ctx)
	})
	return "http://" + ln.Addr().String(), s, c
}

func (h *host) on(base string) *host {
	c := *h
	c.url = base
	return &c
}

func TestServerRoutesByExactPath(t *testing.T) {
	a := newHost(t, streamhttp.Options{}, methods{"a": done})
	b := newHost(t, streamhttp.Options{LegacySSE: true}, methods{"b": done})
	base, _, _ := start(t, func(s *streamhttp.Server) {
		s.Mount("/", a.handler)
		s.Mount("/b", b.handler)
		s.MountPlain("/ok", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") }))
	})
	for path, want := range map[string]string{
		"/": "", "/b": "", "/ok": "", "/c": "404", "/b/": "404", "//b": "404", "/sse": "404", "/b/../b": "404",
	} {
		verb, body := "POST", call("b")
		switch path {
		case "/":
			body = call("a")
		case "/ok":
			verb, body = "GET", ""
		}
		got := a.on(base+path).do(t.Context(), verb, body, modern()).StatusCode
		if (got == 404) != (want == "404") || got != 404 && got != 200 {
			t.Errorf("%s: status %d", path, got)
		}
	}
	c := events(t, b.on(base+"/b/sse").do(t.Context(), "GET", "", usual()))
	if e, _ := next(t, c); !strings.HasPrefix(e.data, "/b/message?sessionId=") {
		t.Errorf("got %+v, want the endpoint", e)
	}
	if got := a.on(base+"/b/message").do(t.Context(), "POST", call("b"), usual()).StatusCode; got != 404 {
		t.Errorf("a message to no session: status %d", got)
	}
}

func TestShutdownEndsStreamsAndWaitsForCalls(t *testing.T) {
	release, started := make(chan struct{}), make(chan struct{}, 2)
	h := newHost(t, streamhttp.Options{}, nil)
	h.methods = methods{
		"slow": func(_ context.Context, x *mcp.Exchange, id []byte) {
			started <- struct{}{}
			<-release
			reply(x, id, `"done"`)
		},
		"listen": func(_ context.Context, x *mcp.Exchange, id []byte) {
			x.Out.Notify(note(1))
			<-h.ep.Closing()
			reply(x, id, `"over"`)
		},
	}
	base, s, served := start(t, func(s *streamhttp.Server) { s.Mount("/mcp", h.handler) })
	h = h.on(base + "/mcp")
	live, session := h.open("2025-11-25")
	get := events(t, h.do(t.Context(), "GET", "", live))
	next(t, get)
	listen := events(t, h.post(call("listen"), modern()))
	next(t, listen)
	results := make(chan string, 2)
	for _, header := range []http.Header{live, modern()} {
		go func() {
			resp, err := h.try(t.Context(), "POST", call("slow"), header)
			if err != nil {
				results <- err.Error()
				return
			}
			b, _ := io.ReadAll(resp.Body)
			results <- string(b)
		}()
		within(t, "start of the call", started)
	}
	down := make(chan error, 1)
	go func() { down <- s.Shutdown(context.WithoutCancel(t.Context())) }()
	wantEnd(t, get)
	if e, _ := next(t, listen); !strings.Contains(e.data, "over") {
		t.Errorf("got %+v, want the result of the subscription", e)
	}
	wantEnd(t, listen)
	close(release)
	for range 2 {
		if got, _ := within(t, "result", results); !strings.Contains(got, "done") {
			t.Errorf("a call in work got %q", got)
		}
	}
	if err, _ := within(t, "Shutdown", down); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	if err, _ := within(t, "Serve", served); err != nil {
		t.Errorf("Serve: %v", err)
	}
	if session.Context().Err() == nil {
		t.Error("the session lives")
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Errorf("a second Shutdown: %v", err)
	}
}

func TestShutdownCutsWhatDoesNotEnd(t *testing.T) {
	started := make(chan struct{}, 2)
	h := newHost(t, streamhttp.Options{}, methods{"hang": func(ctx context.Context, _ *mcp.Exchange, _ []byte) {
		started <- struct{}{}
		<-ctx.Done()
	}})
	base, s, _ := start(t, func(s *streamhttp.Server) { s.Mount("/mcp", h.handler) })
	h = h.on(base + "/mcp")
	live, _ := h.open("2025-11-25")
	for _, header := range []http.Header{live, modern()} {
		go h.try(t.Context(), "POST", call("hang"), header)
		within(t, "start of the call", started)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	down := make(chan error, 1)
	go func() { down <- s.Shutdown(ctx) }()
	if err, _ := within(t, "Shutdown", down); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown: %v, want the error of its context", err)
	}
}

func TestClosedHandlerRefuses(t *testing.T) {
	h := newHost(t, streamhttp.Options{LegacySSE: true}, methods{"m": done})
	live, _ := h.open("2025-11-25")
	if err := h.handler.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]*http.Response{
		"POST": h.post(call("m"), modern()),
		"GET":  h.do(t.Context(), "GET", "", live),
		"pair": h.at("/mcp/sse").do(t.Context(), "GET", "", usual()),
	} {
		if got.StatusCode != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" {
			t.Errorf("%s: status %d, Retry-After %q; want 503", name, got.StatusCode, got.Header.Get("Retry-After"))
		}
	}
}

func TestEndOfTheContextCancelsWhatRuns(t *testing.T) {
	started := make(chan struct{})
	f := &front{t: t, sessions: make(chan *mcp.Session, 1), methods: methods{"hang": func(ctx context.Context, _ *mcp.Exchange, _ []byte) {
		started <- struct{}{}
		<-ctx.Done()
	}}}
	ctx, cancel := context.WithCancel(t.Context())
	ep := &mcp.Endpoint{Limits: mcp.DefaultLimits()}
	h := serve(t, f, streamhttp.NewHandler(ctx, f, ep, streamhttp.Options{}), ep)
	live, _ := h.open("2025-06-18")
	status := make(chan int, 2)
	for _, header := range []http.Header{modern(), live} {
		go func() {
			resp, err := h.try(t.Context(), "POST", call("hang"), header)
			if err != nil {
				t.Error(err)
				status <- 0
				return
			}
			status <- resp.StatusCode
		}()
		within(t, "start of the call", started)
	}
	cancel()
	for range 2 {
		if got, _ := within(t, "response", status); got != 503 {
			t.Errorf("status %d, want 503", got)
		}
	}
}

func TestHandlersComeAndGoWhileOthersServe(t *testing.T) {
	a := newHost(t, streamhttp.Options{}, methods{"m": done})
	b := newHost(t, streamhttp.Options{LegacySSE: true}, nil)
	b.methods = methods{"listen": func(_ context.Context, x *mcp.Exchange, id []byte) {
		x.Out.Notify(note(1))
		<-b.ep.Closing()
		reply(x, id, `"over"`)
	}}
	base, s, _ := start(t, func(s *streamhttp.Server) { s.Mount("/a", a.handler) })
	a, b = a.on(base+"/a"), b.on(base+"/b")
	live, _ := a.open("2025-11-25")
	get := events(t, a.do(t.Context(), "GET", "", live))
	next(t, get)

	if got := b.post(call("listen"), modern()).StatusCode; got != 404 {
		t.Errorf("before Mount: status %d", got)
	}
	if !s.Mount("/b", b.handler) {
		t.Error("Mount refused")
	}
	listen := events(t, b.post(call("listen"), modern()))
	next(t, listen)
	if err := s.Unmount("/b").Close(t.Context()); err != nil {
		t.Error(err)
	}
	if e, _ := next(t, listen); !strings.Contains(e.data, "over") {
		t.Errorf("got %+v, want the end of the subscription", e)
	}
	for _, path := range []string{"/b", "/b/sse", "/b/message"} {
		if got := a.on(base+path).post(call("m"), modern()).StatusCode; got != 404 {
			t.Errorf("%s after Unmount: status %d", path, got)
		}
	}
	if got := a.post(call("m"), modern()).StatusCode; got != 200 {
		t.Errorf("the other handler: status %d", got)
	}
	select {
	case e, open := <-get:
		t.Errorf("the other handler's session got %+v, %v", e, open)
	default:
	}
	if s.Unmount("/b") != nil {
		t.Error("a second Unmount has something to take away")
	}
	s.Shutdown(t.Context())
	if s.Mount("/late", b.handler) {
		t.Error("mounted after Shutdown")
	}
}
