package streamhttp_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/mcp/streamhttp"
	"github.com/mcphost/mcphost/host/primitive"
)

// at is h at another path of its server.
func (h *host) at(path string) *host {
	c := *h
	c.url = strings.TrimSuffix(h.url, "/mcp") + path
	return &c
}

// pair opens a pair and returns its stream and the side to post to.
func (h *host) pair(ctx context.Context, header http.Header) (<-chan event, *host) {
	h.t.Helper()
	c := events(h.t, h.at("/mcp/sse").do(ctx, "GET", "", header))
	e, _ := next(h.t, c)
	if e.name != "endpoint" || !strings.HasPrefix(e.data, "/mcp/message?sessionId=") {
		h.t.Fatalf("first %+v, want the endpoint", e)
	}
	return c, h.at(e.data)
}

func TestPairAnswersOnItsStream(t *testing.T) {
	ended := make(chan struct{})
	h := newHost(t, streamhttp.Options{LegacySSE: true}, methods{
		"m": func(_ context.Context, x *mcp.Exchange, id []byte) {
			x.Out.Notify(note(1))
			reply(x, id, `"done"`)
		},
		"hang": func(ctx context.Context, _ *mcp.Exchange, _ []byte) { <-ctx.Done(); close(ended) },
	})
	ctx, cut := context.WithCancel(t.Context())
	c, out := h.pair(ctx, usual())
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05"}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		call("m"), "{",
	} {
		resp := out.post(body, usual())
		if b := text(t, resp); resp.StatusCode != http.StatusAccepted || b != "" {
			t.Errorf("%s: %d %q, want 202 and no body", body, resp.StatusCode, b)
		}
	}
	for _, want := range []string{`"id":0,"result":{}`, `"note"`, `"done"`} {
		if e, _ := next(t, c); e.name != "message" || e.id != "" || !strings.Contains(e.data, want) && !strings.Contains(e.data, "parse error") {
			t.Errorf("got %+v, want a message with %s", e, want)
		}
	}
	next(t, c)
	session := <-h.sessions
	session.Send(note(7))
	if e, _ := next(t, c); e.data != string(note(7)) {
		t.Errorf("got %+v, want what belongs to no request", e)
	}
	out.post(call("hang"), usual())
	cut() // the end of the connection is that of the session
	within(t, "end of the call", ended)
	within(t, "end of the session", session.Context().Done())
	if session.Send(note(1)) == nil {
		t.Error("Send after the end: no error")
	}
}

func TestPairStatus(t *testing.T) {
	o := streamhttp.Options{
		LegacySSE: true, MaxSessions: 1,
		Authenticate: func(r *http.Request) (primitive.Principal, *streamhttp.AuthError) {
			if who := r.Header.Get("Authorization"); who != "bad" {
				return primitive.Principal{Subject: who}, nil
			}
			return primitive.Principal{}, &streamhttp.AuthError{Status: 401, Message: "no"}
		},
	}
	h := newHost(t, o, methods{"m": done})
	c, out := h.pair(t.Context(), usual())
	tests := map[string]struct {
		at         *host
		verb, body string
		header     http.Header
		status     int
	}{
		"too many":              {h.at("/mcp/sse"), "GET", "", usual(), 503},
		"POST to the stream":    {h.at("/mcp/sse"), "POST", call("m"), usual(), 405},
		"GET of the other":      {out, "GET", "", usual(), 405},
		"origin, stream":        {h.at("/mcp/sse"), "GET", "", with(usual(), "Origin", "http://evil.example"), 403},
		"origin, message":       {out, "POST", call("m"), with(usual(), "Origin", "null"), 403},
		"origin before verb":    {out, "PUT", "", with(usual(), "Origin", "null"), 403},
		"credentials, stream":   {h.at("/mcp/sse"), "GET", "", with(usual(), "Authorization", "bad"), 401},
		"credentials, message":  {out, "POST", call("m"), with(usual(), "Authorization", "bad"), 401},
		"another's":             {out, "POST", call("m"), with(usual(), "Authorization", "b"), 404},
		"unknown":               {h.at("/mcp/message?sessionId=x"), "POST", call("m"), usual(), 404},
		"none":                  {h.at("/mcp/message"), "POST", call("m"), usual(), 404},
		"content type":          {out, "POST", call("m"), with(usual(), "Content-Type", "text/plain"), 415},
		"too large":             {out, "POST", strings.Repeat(" ", 2<<20), usual(), 413},
		"stream that is no SSE": {h.at("/mcp/sse"), "GET", "", with(usual(), "Accept", "application/json"), 406},
		"fine":                  {out, "POST", call("m"), usual(), 202},
	}
	for name, test := range tests {
		if got := test.at.do(t.Context(), test.verb, test.body, test.header).StatusCode; got != test.status {
			t.Errorf("%s: status %d, want %d", name, got, test.status)
		}
	}
	if e, _ := next(t, c); !strings.Contains(e.data, "done") {
		t.Errorf("got %+v, want the response", e)
	}
	without := newHost(t, streamhttp.Options{}, nil)
	if got := without.at("/mcp/sse").do(t.Context(), "GET", "", usual()).StatusCode; got != 404 {
		t.Errorf("without LegacySSE: status %d, want 404", got)
	}
}

func TestClosingLetsCallsOfAPairEnd(t *testing.T) {
	release, started := make(chan struct{}), make(chan struct{})
	h := newHost(t, streamhttp.Options{LegacySSE: true}, methods{"m": func(_ context.Context, x *mcp.Exchange, id []byte) {
		close(started)
		<-release
		reply(x, id, `"done"`)
	}})
	c, out := h.pair(t.Context(), usual())
	out.post(call("m"), usual())
	within(t, "start of the call", started)
	closed := make(chan error, 1)
	go func() { closed <- h.handler.Close(context.WithoutCancel(t.Context())) }()
	within(t, "closing of the endpoint", h.ep.Closing())
	close(release)
	if e, _ := next(t, c); !strings.Contains(e.data, "done") {
		t.Errorf("got %+v, want the response", e)
	}
	wantEnd(t, c)
	if err, _ := within(t, "Close", closed); err != nil {
		t.Errorf("Close: %v", err)
	}
}
