package streamhttp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/mcp/streamhttp"
)

func TestLegacyStreamHasIDsAndPriming(t *testing.T) {
	h := newHost(t, streamhttp.Options{}, methods{"m": func(_ context.Context, x *mcp.Exchange, id []byte) {
		x.Out.Notify(note(1))
		reply(x, id, `"done"`)
	}})
	for revision, primes := range map[string]bool{"2025-03-26": false, "2025-06-18": false, "2025-11-25": true} {
		live, _ := h.open(revision)
		seen := map[string]bool{}
		for range 2 {
			c := events(t, h.post(call("m"), live))
			if primes {
				e, _ := next(t, c)
				if e.id == "" || e.data != "" || e.retry != "1000" {
					t.Errorf("%s: first %+v; want an id, empty data and retry", revision, e)
				}
				seen[e.id] = true
			}
			for e := range c {
				if e.id == "" || seen[e.id] || e.data == "" || e.retry != "" {
					t.Errorf("%s: got %+v; want a message with an id of its own", revision, e)
				}
				seen[e.id] = true
			}
		}
		if want := map[bool]int{true: 6, false: 4}[primes]; len(seen) != want {
			t.Errorf("%s: %d events, want %d", revision, len(seen), want)
		}
	}
}

// TestSlowCallIsResumed cuts the connection of a call in the middle and gets
// the rest on another, and after that again from the start.
func TestSlowCallIsResumed(t *testing.T) {
	step := make(chan int)
	h := newHost(t, streamhttp.Options{}, methods{"m": func(ctx context.Context, x *mcp.Exchange, id []byte) {
		for n := range step {
			if err := x.Out.Notify(note(n)); err != nil {
				t.Errorf("note %d: %v", n, err)
			}
		}
		if ctx.Err() != nil {
			t.Error("the disconnection has cancelled a legacy call")
		}
		reply(x, id, `"done"`)
	}})
	live, _ := h.open("2025-11-25")
	ctx, cut := context.WithCancel(t.Context())
	sent := make(chan struct{})
	go func() { defer close(sent); step <- 1 }()
	c := events(t, h.do(ctx, "POST", call("m"), live))
	<-sent
	prime, _ := next(t, c)
	one, _ := next(t, c)
	cut()
	for range c { // until the client has seen the end
	}
	step <- 2
	step <- 3
	resumed := events(t, h.do(t.Context(), "GET", "", with(live, "Last-Event-ID", one.id)))
	if e, _ := next(t, resumed); e.id == one.id || e.id == "" || e.data != "" || e.retry != "1000" {
		t.Errorf("first %+v; want an id of its own, empty data and retry", e)
	}
	two, _ := next(t, resumed)
	three, _ := next(t, resumed)
	step <- 4 // live
	four, _ := next(t, resumed)
	close(step)
	last, _ := next(t, resumed)
	for i, e := range []event{two, three, four} {
		if e.data != string(note(i+2)) {
			t.Errorf("got %+v, want note %d", e, i+2)
		}
	}
	if !strings.Contains(last.data, "done") {
		t.Errorf("last %+v, want the response", last)
	}
	wantEnd(t, resumed)

	var again []string
	for e := range events(t, h.do(t.Context(), "GET", "", with(live, "Last-Event-ID", prime.id))) {
		if e.data != "" {
			again = append(again, e.data)
		}
	}
	if len(again) != 5 {
		t.Errorf("replayed from the start: %q, want five messages", again)
	}
}

func TestResumingReplaysNoOtherStream(t *testing.T) {
	h := newHost(t, streamhttp.Options{}, methods{"m": func(_ context.Context, x *mcp.Exchange, id []byte) {
		x.Out.Notify(note(1))
		reply(x, id, string(jsonrpc.AppendString(nil, "for "+string(id))))
	}})
	live, _ := h.open("2025-06-18")
	first := map[string]string{}
	for _, id := range []string{"11", "22", "33"} {
		e, _ := next(t, events(t, h.post(strings.Replace(call("m"), `"id":1`, `"id":`+id, 1), live)))
		first[id] = e.id
	}
	for id, at := range first {
		var got []string
		for e := range events(t, h.do(t.Context(), "GET", "", with(live, "Last-Event-ID", at))) {
			if e.comment == "" {
				got = append(got, e.data)
			}
		}
		if len(got) != 1 || !strings.Contains(got[0], "for "+id) {
			t.Errorf("after %s: %q, want the response to %s alone", at, got, id)
		}
	}
}

// TestSlowCallIsPrimed is what the scenario server-sse-polling of the
// conformance suite looks at: a primed stream that closes in the middle of
// the call, and the result on the stream that resumes it.
func TestSlowCallIsPrimed(t *testing.T) {
	release := make(chan struct{})
	h := newHost(t, streamhttp.Options{PrimeAfter: time.Millisecond, PollAfter: time.Millisecond, Retry: 5 * time.Millisecond},
		methods{"m": func(_ context.Context, x *mcp.Exchange, id []byte) {
			<-release
			reply(x, id, `"done"`)
		}})
	live, _ := h.open("2025-11-25")
	c := events(t, h.post(call("m"), live))
	prime, _ := next(t, c)
	if prime.id == "" || prime.data != "" || prime.retry != "5" {
		t.Errorf("first %+v; want an id, empty data and retry", prime)
	}
	wantEnd(t, c)
	// Poll once in vain.
	c = events(t, h.do(t.Context(), "GET", "", with(live, "Last-Event-ID", prime.id)))
	for e := range c {
		if e.data != "" {
			t.Errorf("got %+v while the call is at work", e)
		}
	}
	close(release)
	for range 1000 {
		for e := range events(t, h.do(t.Context(), "GET", "", with(live, "Last-Event-ID", prime.id))) {
			if strings.Contains(e.data, "done") {
				return
			}
		}
	}
	t.Error("the result did not come in 1000 polls")
}

func TestEveryMessageGoesToOneStandaloneStream(t *testing.T) {
	h := newHost(t, streamhttp.Options{}, nil)
	live, session := h.open("2025-06-18")
	for n := range 3 { // no stream is open yet
		if err := session.Send(note(n)); err != nil {
			t.Fatal(err)
		}
	}
	a := events(t, h.do(t.Context(), "GET", "", live))
	for n := range 3 {
		for {
			if e, _ := next(t, a); e.data == string(note(n)) {
				break
			} else if e.data != "" {
				t.Fatalf("got %+v, want note %d", e, n)
			}
		}
	}
	b := events(t, h.do(t.Context(), "GET", "", live))
	seen := map[string]int{}
	for n := 10; n < 30; n++ {
		session.Send(note(n))
		for got := false; !got; {
			var e event
			select {
			case e = <-a:
			case e = <-b:
			case <-time.After(patience):
				t.Fatalf("note %d did not come", n)
			}
			if got = e.data != ""; got {
				seen[e.data]++
			}
		}
	}
	for n := 10; n < 30; n++ {
		if got := seen[string(note(n))]; got != 1 {
			t.Errorf("note %d came %d times", n, got)
		}
	}
	select {
	case e := <-a:
		t.Errorf("more on the first: %+v", e)
	case e := <-b:
		if e.comment == "" {
			t.Errorf("more on the second: %+v", e)
		}
	default:
	}
}

func TestStandaloneStreamIsResumed(t *testing.T) {
	h := newHost(t, streamhttp.Options{}, nil)
	live, session := h.open("2025-11-25")
	ctx, cut := context.WithCancel(t.Context())
	c := events(t, h.do(ctx, "GET", "", live))
	prime, _ := next(t, c)
	if prime.id == "" || prime.data != "" || prime.retry == "" {
		t.Errorf("first %+v; want an id, empty data and retry", prime)
	}
	session.Send(note(1))
	session.Send(note(2))
	one, _ := next(t, c)
	if e, _ := next(t, c); e.data != string(note(2)) {
		t.Fatalf("got %+v", e)
	}
	cut()
	for range c {
	}
	session.Send(note(3)) // while there may be no stream
	resumed := events(t, h.do(t.Context(), "GET", "", with(live, "Last-Event-ID", one.id)))
	for want := 2; want <= 3; {
		e, ok := next(t, resumed)
		switch {
		case !ok:
			t.Fatal("the stream ended")
		case e.data == "":
		case e.data == string(note(want)):
			want++
		default:
			t.Fatalf("got %+v, want note %d", e, want)
		}
	}
}

func TestUnknownLastEventIDGetsAStandaloneStream(t *testing.T) {
	h := newHost(t, streamhttp.Options{}, methods{"m": func(_ context.Context, x *mcp.Exchange, id []byte) {
		x.Out.Notify(note(1))
		reply(x, id, `"done"`)
	}})
	live, session := h.open("2025-06-18")
	var last event
	for e := range events(t, h.post(call("m"), live)) {
		last = e
	}
	for n, id := range []string{"999-1", "nonsense", "", "1-999999", last.id} {
		ctx, cut := context.WithCancel(t.Context())
		c := events(t, h.do(ctx, "GET", "", with(live, "Last-Event-ID", id)))
		session.Send(note(n))
		for {
			e, ok := next(t, c)
			if !ok {
				t.Fatalf("%q: the stream ended", id)
			}
			if e.data == string(note(n)) {
				break
			}
			if e.data != "" {
				t.Fatalf("%q: got %+v, want note %d", id, e, n)
			}
		}
		cut()
		for range c {
		}
	}
}

func TestSessionsShareNothing(t *testing.T) {
	h := newHost(t, streamhttp.Options{}, methods{"m": func(_ context.Context, x *mcp.Exchange, id []byte) {
		x.Out.Notify(note(1))
		reply(x, id, `"secret"`)
	}})
	a, _ := h.open("2025-06-18")
	b, other := h.open("2025-06-18")
	first, _ := next(t, events(t, h.post(call("m"), a)))
	c := events(t, h.do(t.Context(), "GET", "", with(b, "Last-Event-ID", first.id)))
	other.Send(note(9))
	for {
		e, ok := next(t, c)
		if !ok || strings.Contains(e.data, "secret") {
			t.Fatalf("got %+v of another session", e)
		}
		if e.data == string(note(9)) {
			return
		}
	}
}

func TestDeleteEndsCallsAndStreams(t *testing.T) {
	started, ended := make(chan struct{}), make(chan struct{})
	h := newHost(t, streamhttp.Options{}, methods{"m": func(ctx context.Context, _ *mcp.Exchange, _ []byte) {
		close(started)
		<-ctx.Done()
		close(ended)
	}})
	live, session := h.open("2025-11-25")
	stream := events(t, h.do(t.Context(), "GET", "", live))
	next(t, stream)
	status := make(chan int, 1)
	go func() {
		resp, err := h.try(t.Context(), "POST", call("m"), live)
		if err != nil {
			t.Error(err)
			status <- 0
			return
		}
		status <- resp.StatusCode
	}()
	within(t, "start of the call", started)
	if got := h.do(t.Context(), "DELETE", "", live).StatusCode; got != http.StatusNoContent {
		t.Errorf("DELETE: %d, want 204", got)
	}
	within(t, "end of the call", ended)
	wantEnd(t, stream)
	if got, _ := within(t, "response", status); got != 404 {
		t.Errorf("the call in work: status %d, want 404", got)
	}
	if session.Send(note(1)) == nil {
		t.Error("Send after the end: no error")
	}
}

func TestRequestToTheClientGoesOnTheStreamOfItsCall(t *testing.T) {
	h := newHost(t, streamhttp.Options{}, methods{"m": func(ctx context.Context, x *mcp.Exchange, id []byte) {
		answer, err := x.Conn.Session().Request(ctx, x.Out, "elicitation/create", []byte(`{}`))
		if err != nil {
			t.Error(err)
		}
		reply(x, id, string(answer))
	}})
	live, _ := h.open("2025-11-25")
	c := events(t, h.post(call("m"), live))
	next(t, c) // priming
	ask, _ := next(t, c)
	id := jsonrpc.Lookup([]byte(ask.data), "id")
	resp := h.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`, id), live)
	if b := text(t, resp); resp.StatusCode != http.StatusAccepted || b != "" {
		t.Errorf("the client's response: %d %q, want 202 and no body", resp.StatusCode, b)
	}
	if e, _ := next(t, c); !strings.Contains(e.data, `"result":{"action":"accept"}`) {
		t.Errorf("got %+v, want the response", e)
	}
	wantEnd(t, c)
}

func TestSessionsAreBounded(t *testing.T) {
	h := newHost(t, streamhttp.Options{MaxSessions: 1}, nil)
	first, _ := h.open("2025-11-25")
	stream := events(t, h.do(t.Context(), "GET", "", first))
	next(t, stream)
	resp := h.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`, usual())
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Mcp-Session-Id") != "" {
		t.Errorf("a second session: %d, want 503 and no id", resp.StatusCode)
	}
}

// TestLegacyClientThatDoesNotReadKeepsItsCall: its connection is given up, the
// call goes on, and the response can be had.
func TestLegacyClientThatDoesNotReadKeepsItsCall(t *testing.T) {
	ended := make(chan struct{})
	big := []byte(`{"method":"` + strings.Repeat("x", 128<<10) + `"}`)
	h := newHost(t, streamhttp.Options{WriteTimeout: 300 * time.Millisecond}, methods{"m": func(_ context.Context, x *mcp.Exchange, id []byte) {
		for range 200 { // more than sockets hold
			if err := x.Out.Notify(big); err != nil {
				t.Errorf("Notify: %v", err)
			}
		}
		reply(x, id, `"done"`)
		close(ended)
	}})
	live, _ := h.open("2025-11-25")
	resp := h.post(call("m"), live)
	first := make([]byte, 64)
	if _, err := io.ReadFull(resp.Body, first); err != nil { // and no more
		t.Fatal(err)
	}
	within(t, "end of the call", ended)
	id, _, _ := strings.Cut(strings.TrimPrefix(string(first), "id: "), "\n")
	var last event
	for e := range events(t, h.do(t.Context(), "GET", "", with(live, "Last-Event-ID", id))) {
		last = e
	}
	if !strings.Contains(last.data, "done") {
		t.Errorf("the last event is %.100q, want the response", last.data)
	}
}
