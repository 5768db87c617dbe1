package streamhttp_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/mcp/streamhttp"
)

type methods = map[string]func(ctx context.Context, x *mcp.Exchange, id []byte)

func TestResponseAloneIsJSON(t *testing.T) {
	big := `"` + strings.Repeat("x", 100<<10) + `"`
	h := newHost(t, streamhttp.Options{}, methods{
		"small": done,
		"big":   func(_ context.Context, x *mcp.Exchange, id []byte) { reply(x, id, big) },
		"late":  func(_ context.Context, x *mcp.Exchange, _ []byte) { x.Out.Reply([]byte(`{"late":400}`), 400) },
	})
	for method, want := range map[string]struct {
		status int
		body   string
	}{
		"small": {200, `{"jsonrpc":"2.0","id":1,"result":"done"}`},
		"big":   {200, `{"jsonrpc":"2.0","id":1,"result":` + big + `}`},
		"late":  {400, `{"late":400}`},
	} {
		resp := h.post(call(method), modern())
		if got := text(t, resp); got != want.body || resp.StatusCode != want.status {
			t.Errorf("%s: status %d, %.100s; want %d, %.100s", method, resp.StatusCode, got, want.status, want.body)
		}
		if resp.Header.Get("Content-Type") != "application/json" || resp.ContentLength != int64(len(want.body)) {
			t.Errorf("%s: Content-Type %q, length %d; want JSON of %d bytes", method, resp.Header.Get("Content-Type"), resp.ContentLength, len(want.body))
		}
	}
}

func TestFirstNotificationCommitsAStream(t *testing.T) {
	release := make(chan struct{})
	h := newHost(t, streamhttp.Options{}, methods{"m": func(_ context.Context, x *mcp.Exchange, _ []byte) {
		x.Out.Notify(note(1))
		<-release
		x.Out.Notify(note(2))
		x.Out.Reply([]byte(`{"r":1}`), 404)
	}})
	c := events(t, h.post(call("m"), modern()))
	if e, _ := next(t, c); e != (event{data: string(note(1))}) {
		t.Fatalf("got %+v; want the first notification while the call goes on, without an id", e)
	}
	close(release)
	for _, want := range []string{string(note(2)), `{"r":1}`} {
		if e, _ := next(t, c); e != (event{data: want}) {
			t.Errorf("got %+v, want %s without an id", e, want)
		}
	}
	wantEnd(t, c)
}

func TestClientOfJSONAloneGetsTheResponseAlone(t *testing.T) {
	errs := make(chan error, 2)
	work := func(_ context.Context, x *mcp.Exchange, id []byte) {
		errs <- x.Out.Notify(note(1))
		errs <- x.Out.Notify([]byte(`{"jsonrpc":"2.0","id":7,"method":"ask"}`))
		reply(x, id, `"done"`)
	}
	h := newHost(t, streamhttp.Options{PrimeAfter: time.Nanosecond}, methods{"m": work})
	live, _ := h.open("2025-11-25")
	for name, header := range map[string]http.Header{"modern": modern(), "legacy": live} {
		resp := h.post(call("m"), with(header, "Accept", "application/json"))
		if got := text(t, resp); resp.Header.Get("Content-Type") != "application/json" || !strings.Contains(got, "done") {
			t.Errorf("%s: %s %s; want the response as JSON", name, resp.Header.Get("Content-Type"), got)
		}
		if err := <-errs; err != nil {
			t.Errorf("%s: a notification: %v; want it dropped", name, err)
		}
		if err := <-errs; err == nil {
			t.Errorf("%s: a request to the client: no error, though it cannot be sent", name)
		}
	}
}

func TestDisconnectCancelsAModernCall(t *testing.T) {
	started, ended := make(chan struct{}), make(chan error, 1)
	h := newHost(t, streamhttp.Options{}, methods{"m": func(ctx context.Context, x *mcp.Exchange, _ []byte) {
		close(started)
		<-ctx.Done()
		for range 100 { // the connection is torn down meanwhile
			if x.Out.Notify(note(1)) != nil {
				break
			}
		}
		ended <- ctx.Err()
	}})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	if _, err := h.try(ctx, "POST", call("m"), modern()); !errors.Is(err, context.Canceled) {
		t.Fatalf("the client: %v", err)
	}
	if err, _ := within(t, "end of the call", ended); !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v", err)
	}
}

func TestQuietResponseBecomesAStreamAndIsKeptAlive(t *testing.T) {
	limits := mcp.DefaultLimits()
	limits.SubscriptionKeepalive = time.Millisecond
	release := make(chan struct{})
	h := newHostWith(t, streamhttp.Options{}, limits, methods{"m": func(_ context.Context, x *mcp.Exchange, id []byte) {
		<-release
		reply(x, id, `"done"`)
	}})
	live, _ := h.open("2025-06-18")
	for name, header := range map[string]http.Header{"modern": modern(), "legacy": live} {
		c := events(t, h.post(call("m"), header))
		for range 3 {
			if e, _ := next(t, c); e != (event{comment: "keep-alive"}) {
				t.Errorf("%s: got %+v, want a comment", name, e)
			}
		}
		release <- struct{}{}
		for e := range c {
			if e.comment == "" && !strings.Contains(e.data, "done") {
				t.Errorf("%s: got %+v, want the response", name, e)
			}
		}
	}
}

func TestNothingIsWrittenAfterTheResponse(t *testing.T) {
	out := make(chan mcp.Responder, 1)
	h := newHost(t, streamhttp.Options{}, methods{"m": func(_ context.Context, x *mcp.Exchange, id []byte) {
		reply(x, id, `1`)
		reply(x, id, `2`)
		out <- x.Out
	}})
	if got := text(t, h.post(call("m"), modern())); got != `{"jsonrpc":"2.0","id":1,"result":1}` {
		t.Errorf("got %s", got)
	}
	late := <-out
	late.Reply([]byte("3"), 200)
	if late.Notify(note(1)) == nil {
		t.Error("a notification after the response: no error")
	}
}

func TestCallWithoutAnAnswerEnds(t *testing.T) {
	h := newHost(t, streamhttp.Options{}, methods{
		"silent": func(context.Context, *mcp.Exchange, []byte) {},
		"talked": func(_ context.Context, x *mcp.Exchange, _ []byte) { x.Out.Notify(note(1)) },
	})
	live, _ := h.open("2025-11-25")
	for name, header := range map[string]http.Header{"modern": modern(), "legacy": live} {
		wantEnd(t, events(t, h.post(call("silent"), header)))
		if got := h.post(call("silent"), with(header, "Accept", "application/json")).StatusCode; got != 202 {
			t.Errorf("%s: status %d for a client of JSON alone, want 202", name, got)
		}
		var last event
		for e := range events(t, h.post(call("talked"), header)) {
			last = e
		}
		if last.data != string(note(1)) {
			t.Errorf("%s: the last event is %+v", name, last)
		}
	}
}

func TestClientThatDoesNotReadEndsItsCall(t *testing.T) {
	ended := make(chan error, 1)
	big := []byte(`{"method":"` + strings.Repeat("x", 1<<20) + `"}`)
	h := newHost(t, streamhttp.Options{WriteTimeout: 300 * time.Millisecond}, methods{
		"m": func(_ context.Context, x *mcp.Exchange, _ []byte) {
			for {
				if err := x.Out.Notify(big); err != nil {
					ended <- err
					return
				}
			}
		},
		"quick": done,
	})
	h.post(call("m"), modern()) // and never reads
	if got := h.post(call("quick"), modern()).StatusCode; got != 200 {
		t.Errorf("another call: status %d", got)
	}
	if err, _ := within(t, "end of the call", ended); err == nil {
		t.Error("no error")
	}
}

// TestHTTP2StreamOutlivesTheWriteTimeout waits longer than a write may take:
// on HTTP/2 a deadline left behind resets the stream.
func TestHTTP2StreamOutlivesTheWriteTimeout(t *testing.T) {
	const timeout = 200 * time.Millisecond
	limits := mcp.DefaultLimits()
	f := &front{t: t, sessions: make(chan *mcp.Session, 1)}
	f.methods = methods{
		"stream": func(_ context.Context, x *mcp.Exchange, id []byte) {
			x.Out.Notify(note(1))
			<-time.After(timeout + timeout/2)
			x.Out.Notify(note(2))
			<-time.After(timeout + timeout/2)
			reply(x, id, `"done"`)
		},
		"alone": func(_ context.Context, x *mcp.Exchange, id []byte) {
			<-time.After(timeout + timeout/2)
			reply(x, id, `"done"`)
		},
	}
	h := streamhttp.NewHandler(context.WithoutCancel(t.Context()), f, &mcp.Endpoint{Limits: limits}, streamhttp.Options{WriteTimeout: timeout})
	defer h.Close(t.Context())
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// As http.Server.WriteTimeout does, which would bound the handshake as well.
		if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(timeout)); err != nil {
			t.Error(err)
		}
		h.ServeHTTP(w, r)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	c := &host{front: f, t: t, url: s.URL, client: s.Client()}
	resp := c.post(call("stream"), modern())
	if resp.ProtoMajor != 2 {
		t.Fatalf("the protocol is %s", resp.Proto)
	}
	if got := text(t, resp); strings.Count(got, "data: ") != 3 {
		t.Errorf("got %q, want three messages", got)
	}
	live, session := c.open("2025-06-18")
	defer session.Close()
	for name, header := range map[string]http.Header{"modern": modern(), "legacy": live} {
		if got := text(t, c.post(call("alone"), header)); !strings.Contains(got, "done") {
			t.Errorf("%s: got %q, want the response", name, got)
		}
	}
}

func TestStandingStreamsAreKeptAlive(t *testing.T) {
	limits := mcp.DefaultLimits()
	limits.SubscriptionKeepalive = time.Millisecond
	h := newHostWith(t, streamhttp.Options{LegacySSE: true}, limits, nil)
	live, _ := h.open("2025-11-25")
	get := events(t, h.do(t.Context(), "GET", "", live))
	next(t, get) // priming
	pair, _ := h.pair(t.Context(), usual())
	for name, c := range map[string]<-chan event{"GET": get, "pair": pair} {
		for range 3 {
			if e, _ := next(t, c); e != (event{comment: "keep-alive"}) {
				t.Errorf("%s: got %+v, want a comment", name, e)
			}
		}
	}
}
