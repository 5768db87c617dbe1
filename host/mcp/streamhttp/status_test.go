package streamhttp_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/mcp/streamhttp"
	"github.com/mcphost/mcphost/host/primitive"
)

func done(_ context.Context, x *mcp.Exchange, id []byte) { reply(x, id, `"done"`) }

type statusTest struct {
	verb, body string
	header     http.Header
	status     int
	more       string // a header of the response, "Name: value"
}

// statusTests are requests to a handler with a session that lives and one that has ended.
func statusTests(live, gone http.Header) map[string]statusTest {
	m := modern()
	unknown := with(live, "Mcp-Session-Id", "nobody")
	big := strings.Repeat(" ", 1<<20)
	return map[string]statusTest{
		// Origin and Host come first, on every verb.
		"bad origin, POST":              {"POST", call("m"), with(m, "Origin", "http://evil.example"), 403, ""},
		"bad origin, GET":               {"GET", "", with(live, "Origin", "http://evil.example"), 403, ""},
		"bad origin, DELETE":            {"DELETE", "", with(live, "Origin", "null"), 403, ""},
		"bad origin, OPTIONS":           {"OPTIONS", "", with(m, "Origin", "http://evil.example"), 403, ""},
		"bad origin before credentials": {"POST", call("m"), with(m, "Origin", "x", "Authorization", "bad"), 403, ""},
		"bad host":                      {"POST", call("m"), with(m, "Host", "evil.example"), 403, ""},
		"bad host, PUT":                 {"PUT", "", with(m, "Host", "evil.example"), 403, ""},
		"good origin":                   {"POST", call("m"), with(m, "Origin", "http://ok.example"), 200, ""},
		// Then the verb.
		"OPTIONS":                {"OPTIONS", "", m, 405, "Allow: GET, POST, DELETE"},
		"HEAD":                   {"HEAD", "", live, 405, "Allow: GET, POST, DELETE"},
		"PUT":                    {"PUT", call("m"), m, 405, "Allow: GET, POST, DELETE"},
		"PATCH with credentials": {"PATCH", "", with(m, "Authorization", "bad"), 405, ""},
		// Then who asks.
		"bad credentials, POST":       {"POST", call("m"), with(m, "Authorization", "bad"), 401, "Www-Authenticate: Bearer"},
		"bad credentials, GET":        {"GET", "", with(live, "Authorization", "bad"), 401, ""},
		"bad credentials before type": {"POST", call("m"), with(m, "Authorization", "bad", "Content-Type", "x"), 401, ""},
		// Then the body and what may come back.
		"no content type":      {"POST", call("m"), with(m, "Content-Type", ""), 415, ""},
		"text":                 {"POST", call("m"), with(m, "Content-Type", "text/plain"), 415, ""},
		"gzip":                 {"POST", call("m"), with(m, "Content-Encoding", "gzip"), 415, "Accept-Encoding: identity"},
		"identity":             {"POST", call("m"), with(m, "Content-Encoding", "identity"), 200, ""},
		"accepts HTML":         {"POST", call("m"), with(m, "Accept", "text/html"), 406, ""},
		"accepts events alone": {"POST", call("m"), with(m, "Accept", "text/event-stream"), 406, ""},
		"accepts JSON alone":   {"POST", call("m"), with(m, "Accept", "application/json"), 200, ""},
		"accepts anything":     {"POST", call("m"), with(m, "Accept", "*/*"), 200, ""},
		"listen, JSON alone":   {"POST", call("m"), with(m, "Accept", "application/json", "Mcp-Method", "subscriptions/listen"), 406, ""},
		"type before accept":   {"POST", call("m"), with(m, "Accept", "text/html", "Content-Type", "text/html"), 415, ""},
		"too large":            {"POST", call("m") + big, m, 413, "Connection: close"},
		"just fits":            {"POST", call("m") + big[len(call("m")):], m, 200, ""},
		"garbage":              {"POST", "{", m, 400, ""},
		"empty":                {"POST", " ", m, 400, ""},
		// Sessions.
		"in a session":                   {"POST", call("m"), live, 200, ""},
		"unknown session":                {"POST", call("m"), unknown, 404, ""},
		"unknown session, modern":        {"POST", call("m"), with(m, "Mcp-Session-Id", "nobody"), 200, ""},
		"ended session, POST":            {"POST", call("m"), gone, 404, ""},
		"ended session, GET":             {"GET", "", gone, 404, ""},
		"ended session, DELETE":          {"DELETE", "", gone, 404, ""},
		"another's session, POST":        {"POST", call("m"), with(live, "Authorization", "b"), 404, ""},
		"another's session, GET":         {"GET", "", with(live, "Authorization", "b"), 404, ""},
		"another's session, DELETE":      {"DELETE", "", with(live, "Authorization", "b"), 404, ""},
		"unknown session, GET":           {"GET", "", unknown, 404, ""},
		"unknown session, DELETE":        {"DELETE", "", unknown, 404, ""},
		"no session, GET":                {"GET", "", usual(), 400, ""},
		"no session, legacy version":     {"GET", "", with(usual(), "MCP-Protocol-Version", "2025-06-18"), 400, ""},
		"no session, DELETE":             {"DELETE", "", usual(), 400, ""},
		"modern GET":                     {"GET", "", m, 405, "Allow: POST"},
		"modern DELETE":                  {"DELETE", "", m, 405, "Allow: POST"},
		"unknown version, GET":           {"GET", "", with(live, "MCP-Protocol-Version", "v999.0.0"), 400, ""},
		"unknown version, DELETE":        {"DELETE", "", with(live, "MCP-Protocol-Version", "2099-01-01"), 400, ""},
		"unknown version, no session":    {"GET", "", with(usual(), "MCP-Protocol-Version", "v999.0.0"), 400, ""},
		"GET that takes JSON alone":      {"GET", "", with(live, "Accept", "application/json"), 406, ""},
		"notification":                   {"POST", `{"jsonrpc":"2.0","method":"notifications/x"}`, live, 202, "Content-Length: 0"},
		"modern notification":            {"POST", `{"jsonrpc":"2.0","method":"notifications/x"}`, m, 202, "Content-Length: 0"},
		"status of the front":            {"POST", call("nothing"), m, 404, ""},
		"Last-Event-ID is ignored there": {"POST", call("m"), with(m, "Last-Event-ID", "1-1"), 200, ""},
	}
}

func TestStatus(t *testing.T) {
	h := newHost(t, streamhttp.Options{
		Loopback: true, AllowedOrigins: []string{"http://ok.example"},
		Authenticate: func(r *http.Request) (primitive.Principal, *streamhttp.AuthError) {
			if who := r.Header.Get("Authorization"); who != "bad" {
				return primitive.Principal{Subject: who}, nil
			}
			return primitive.Principal{}, &streamhttp.AuthError{Status: 401, Challenge: "Bearer", Message: "no"}
		},
	}, map[string]func(context.Context, *mcp.Exchange, []byte){"m": done})
	live, _ := h.open("2025-11-25")
	gone, _ := h.open("2025-11-25")
	if got := h.do(t.Context(), "DELETE", "", gone).StatusCode; got != 204 {
		t.Fatalf("DELETE: %d, want 204", got)
	}
	for name, test := range statusTests(live, gone) {
		t.Run(name, func(t *testing.T) {
			resp := h.do(t.Context(), test.verb, test.body, test.header)
			if resp.StatusCode != test.status {
				t.Fatalf("status %d, want %d: %s", resp.StatusCode, test.status, text(t, resp))
			}
			if name, value, _ := strings.Cut(test.more, ": "); name == "Connection" {
				if !resp.Close {
					t.Error("the connection is kept")
				}
			} else if got := resp.Header.Get(name); name != "" && got != value {
				t.Errorf("header %s is %q, want %q", name, got, value)
			}
			if resp.Header.Get("Mcp-Session-Id") != "" {
				t.Error("a session id in the response")
			}
			if test.status < 400 || test.verb == "HEAD" {
				return
			}
			body := text(t, resp)
			m, fault := jsonrpc.Parse([]byte(body))
			if test.status != 404 && (fault != nil || m.Err == nil || m.ID != nil && test.body == "") {
				t.Errorf("body %s; want a JSON-RPC error without an id", body)
			}
		})
	}
	if got := h.do(t.Context(), "DELETE", "", live).StatusCode; got != 204 {
		t.Errorf("DELETE of the session that is left: %d", got)
	}
}

func TestRefusedRequestsDoNotReachTheFront(t *testing.T) {
	h := newHost(t, streamhttp.Options{}, nil)
	h.post(call("m"), with(modern(), "Origin", "null"))
	h.post(call("m"), with(modern(), "Content-Type", "text/plain"))
	h.post(strings.Repeat(" ", 2<<20), modern())
	if got := h.accepted.Load(); got != 0 {
		t.Errorf("the front was asked %d times", got)
	}
}

func TestTwoOriginsAreRefused(t *testing.T) {
	h := newHost(t, streamhttp.Options{AllowedOrigins: []string{"http://a"}}, nil)
	header := modern()
	header["Origin"] = []string{"http://a", "http://a"}
	if got := h.post(call("m"), header).StatusCode; got != 403 {
		t.Errorf("status %d, want 403", got)
	}
}

func TestModernRequestsDoNotShareAConn(t *testing.T) {
	h := newHost(t, streamhttp.Options{}, map[string]func(context.Context, *mcp.Exchange, []byte){"m": done})
	live, session := h.open("2025-11-25")
	h.post(call("m"), live)
	if c := h.lastConn.Load(); c.Session() != session {
		t.Error("a message in a session has another Conn")
	}
	h.post(call("m"), with(live, "MCP-Protocol-Version", "2026-07-28"))
	first := h.lastConn.Load()
	h.post(call("m"), with(live, "MCP-Protocol-Version", "2026-07-28"))
	if second := h.lastConn.Load(); first == second || first.Session() != nil {
		t.Error("modern requests share a Conn or have a session")
	}
}

func TestChunkedBodyBeyondTheLimitIsNotRead(t *testing.T) {
	h := newHost(t, streamhttp.Options{}, nil)
	endless := readerFunc(func(p []byte) (int, error) {
		for i := range p {
			p[i] = ' '
		}
		return len(p), nil
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.url, io.NopCloser(endless))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = modern()
	resp, err := h.client.Do(req)
	// Whether the response outruns the end of the connection is up to the network.
	if err == nil {
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("status %d, want 413", resp.StatusCode)
		}
	}
	if n := h.accepted.Load(); n != 0 {
		t.Errorf("the front was asked %d times", n)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestContentLengthLies promises much and sends little: the connection ends,
// and no answer is owed.
func TestContentLengthLies(t *testing.T) {
	h := newHost(t, streamhttp.Options{}, nil)
	for length, want := range map[int]string{1 << 40: "413", 1 << 19: "400"} {
		addr, _ := strings.CutSuffix(strings.TrimPrefix(h.url, "http://"), "/mcp")
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "+strconv.Itoa(length)+"\r\n\r\n{}")
		if err := c.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(c)
		c.Close()
		if !strings.HasPrefix(string(b), "HTTP/1.1 "+want) {
			t.Errorf("length %d: got %.60q, want %s", length, b, want)
		}
	}
	if h.accepted.Load() != 0 {
		t.Error("half a body has reached the front")
	}
}
