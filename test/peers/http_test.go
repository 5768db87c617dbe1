package peers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A web is a running mcphost serve, overheard.
type web struct {
	t      *testing.T
	url    string // of the endpoint
	base   string
	client *http.Client // records what passes
}

// serve serves a configuration below house.
func serve(t *testing.T, config string, args ...string) *web {
	t.Helper()
	cmd := exec.Command(filepath.Join(house, "bin", "mcphost"),
		append([]string{"serve", "-c", filepath.Join(house, config), "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Env = environment(t)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready, ended := make(chan string, 1), make(chan struct{})
	var log bytes.Buffer
	go func() { // ends when the process closes stderr
		defer close(ended)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			log.WriteString(lines.Text() + "\n")
			if _, rest, ok := strings.Cut(lines.Text(), "ready url="); ok && len(ready) == 0 {
				ready <- strings.Fields(rest)[0]
			}
		}
	}()
	var w *web
	t.Cleanup(func() {
		if w != nil {
			w.client.CloseIdleConnections()
		}
		_ = cmd.Process.Signal(syscall.SIGTERM) // if it has ended already, Wait tells
		timeout := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		defer timeout.Stop()
		<-ended
		if err := cmd.Wait(); err != nil {
			t.Errorf("mcphost serve: %v", err)
		}
		if t.Failed() {
			t.Logf("mcphost serve said:\n%s", &log)
		}
	})
	select {
	case at := <-ready:
		w = &web{t: t, url: at, base: strings.TrimSuffix(at, "/mcp"), client: &http.Client{Transport: newTapper(newRecord(t))}}
		return w
	case <-ended:
		t.Fatalf("mcphost serve ended:\n%s", &log)
	case <-time.After(patience):
		t.Fatal("mcphost serve was not ready in time")
	}
	return nil
}

// proxy returns the URL of a proxy before the endpoint, for clients that do not use w.client.
func (w *web) proxy(t *testing.T) string {
	t.Helper()
	target, err := url.Parse(w.base)
	if err != nil {
		t.Fatal(err)
	}
	p := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     w.client.Transport,
		FlushInterval: -1,
	})
	t.Cleanup(func() { p.CloseClientConnections(); p.Close() })
	return p.URL + "/mcp"
}

// A tapper is a transport that records the messages of requests and responses.
type tapper struct {
	r    *record
	base *http.Transport

	mu       sync.Mutex // guards sessions
	sessions map[string]*wire
}

func newTapper(r *record) *tapper {
	return &tapper{r: r, base: &http.Transport{MaxIdleConnsPerHost: 100}, sessions: map[string]*wire{}}
}

// CloseIdleConnections serves [http.Client.CloseIdleConnections].
func (p *tapper) CloseIdleConnections() { p.base.CloseIdleConnections() }

// RoundTrip implements [http.RoundTripper].
func (p *tapper) RoundTrip(r *http.Request) (*http.Response, error) {
	w := p.wire(r)
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
		w.client(body)
	}
	res, err := p.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		p.know(id, w)
	}
	kind := res.Header.Get("Content-Type")
	if strings.HasPrefix(kind, "application/json") || strings.HasPrefix(kind, "text/event-stream") {
		res.Body = &overheard{ReadCloser: res.Body, events: strings.HasPrefix(kind, "text/event-stream"), wire: w, endpoint: func(path string) {
			p.know(path, w)
		}}
	}
	return res, nil
}

func (p *tapper) know(id string, w *wire) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessions[id] = w
}

// wire returns the conversation that r belongs to.
func (p *tapper) wire(r *http.Request) *wire {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.sessions[r.URL.RequestURI()]; w != nil {
		return w // of the pair of 2024-11-05
	}
	if w := p.sessions[r.Header.Get("Mcp-Session-Id")]; w != nil && r.Header.Get("Mcp-Protocol-Version") != r2026 {
		return w
	}
	return p.r.wire()
}

// overheard is a body whose messages are recorded before the reader sees them.
type overheard struct {
	io.ReadCloser
	events   bool
	wire     *wire
	endpoint func(path string)
	rest     []byte
	kind     string
}

// Read implements [io.Reader].
func (o *overheard) Read(b []byte) (int, error) {
	n, err := o.ReadCloser.Read(b)
	o.rest = append(o.rest, b[:n]...)
	if !o.events {
		if err == io.EOF && len(o.rest) > 0 {
			o.wire.host(o.rest)
			o.rest = nil
		}
		return n, err
	}
	for {
		line, rest, ok := bytes.Cut(o.rest, []byte("\n"))
		if !ok {
			return n, err
		}
		o.rest = rest
		name, value, _ := strings.Cut(string(line), ": ")
		switch {
		case name == "event":
			o.kind = value
		case name == "data" && o.kind == "endpoint":
			o.endpoint(value)
			o.kind = ""
		case name == "data" && strings.TrimSpace(value) != "":
			o.wire.host([]byte(value))
		}
	}
}

// A reply is a whole response, or what came of one before its stream was left.
type reply struct {
	status   int
	header   http.Header
	body     []byte
	messages [][]byte
}

// headers are request headers, name and value in turn; a value of absent removes the default.
type headers []string

const absent = "\x00"

// request makes a POST with the defaults of a client of some revision.
func (w *web) request(body string, h headers) *http.Request {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	set(r, h)
	return r
}

func set(r *http.Request, h headers) {
	for i := 0; i < len(h); i += 2 {
		switch {
		case h[i+1] == absent:
			r.Header.Del(h[i])
		case h[i] == "Host":
			r.Host = h[i+1]
		default:
			r.Header.Add(h[i], h[i+1])
		}
	}
}

// do sends r and reads the response to its end.
func (w *web) do(r *http.Request) reply {
	w.t.Helper()
	res, err := w.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal("reading the response: ", err)
	}
	p := reply{status: res.StatusCode, header: res.Header, body: body}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		p.messages = events(body)
	} else if len(body) > 0 {
		p.messages = [][]byte{body}
	}
	return p
}

func events(body []byte) (all [][]byte) {
	for line := range bytes.Lines(body) {
		if data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:")); ok && len(bytes.TrimSpace(data)) > 0 {
			all = append(all, bytes.TrimSpace(data))
		}
	}
	return all
}

// post sends a body and reads the response.
func (w *web) post(body string, h ...string) reply {
	w.t.Helper()
	return w.do(w.request(body, h))
}

// modernHeaders are those that a client of 2026-07-28 gives to this body.
func modernHeaders(body string) headers {
	var m struct {
		Method string
		Params struct{ Name, URI string }
	}
	_ = json.Unmarshal([]byte(body), &m) // of tests that send no JSON, nothing is needed
	h := headers{"Mcp-Protocol-Version", r2026, "Mcp-Method", m.Method}
	if name := m.Params.Name + m.Params.URI; name != "" {
		h = append(h, "Mcp-Name", name)
	}
	return h
}

// modern sends a modern request with the headers that belong to it and more.
func (w *web) modern(body string, more ...string) reply {
	w.t.Helper()
	return w.post(body, append(modernHeaders(body), more...)...)
}

// last is the last message of the response: what answers the request.
func (p *reply) last(t *testing.T) []byte {
	t.Helper()
	if len(p.messages) == 0 {
		t.Fatalf("no message in a response of status %d: %q", p.status, p.body)
	}
	return p.messages[len(p.messages)-1]
}

// is fails unless the reply has this status and error code; code 0 is a result or nothing.
func (p *reply) is(t *testing.T, status, code int) {
	t.Helper()
	got := 0
	if len(p.messages) > 0 {
		m, err := parse(p.last(t))
		if err != nil {
			t.Fatalf("%v: %s", err, p.body)
		}
		if m.Error != nil {
			got = m.Error.Code
		}
	}
	if p.status != status || got != code {
		t.Errorf("status %d and code %d, want %d and %d: %s", p.status, got, status, code, p.body)
	}
}

// A session is a legacy HTTP session.
type session struct {
	*web
	id, revision string
}

// open opens a session of the revision.
func (w *web) open(revision, capabilities string) *session {
	w.t.Helper()
	p := w.post(initialize("0", revision, capabilities))
	s := &session{web: w, id: p.header.Get("Mcp-Session-Id"), revision: revision}
	if p.status != 200 || s.id == "" {
		w.t.Fatalf("initialize of %s: %d, session %q: %s", revision, p.status, s.id, p.body)
	}
	want(w.t, p.last(w.t), `"protocolVersion":"`+revision+`"`)
	done := s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	done.is(w.t, 202, 0)
	return s
}

func (s *session) headers() headers {
	h := headers{"Mcp-Session-Id", s.id}
	if s.revision >= r2506 {
		h = append(h, "Mcp-Protocol-Version", s.revision)
	}
	return h
}

// send posts a body within the session.
func (s *session) send(body string, h ...string) reply {
	s.t.Helper()
	return s.post(body, append(s.headers(), h...)...)
}

// A stream is an open event stream.
type stream struct {
	t        *testing.T
	res      *http.Response
	messages chan []byte
	lastID   string // of the events read so far; valid once messages is closed
}

// stream opens a stream by r and reads it until it ends or is closed.
func (w *web) stream(r *http.Request) *stream {
	w.t.Helper()
	res, err := w.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	if got := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || !strings.HasPrefix(got, "text/event-stream") {
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		w.t.Fatalf("no stream: %d %s %s", res.StatusCode, got, body)
	}
	s := &stream{t: w.t, res: res, messages: make(chan []byte, 1000)}
	w.t.Cleanup(s.close)
	go func() { // ends with the body
		defer close(s.messages)
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 8<<20)
		for lines.Scan() {
			if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				s.lastID = id
			}
			for _, m := range events(lines.Bytes()) {
				s.messages <- bytes.Clone(m)
			}
		}
	}()
	return s
}

func (s *stream) close() { s.res.Body.Close() }

// next returns the next message; ok is false at the end.
func (s *stream) next() (msg []byte, ok bool) {
	s.t.Helper()
	select {
	case msg, ok = <-s.messages:
		return msg, ok
	case <-time.After(patience):
		s.t.Fatal("nothing came on the stream")
	}
	return nil, false
}

// must returns the next message that must come.
func (s *stream) must() []byte {
	s.t.Helper()
	msg, ok := s.next()
	if !ok {
		s.t.Fatal("the stream ended")
	}
	return msg
}

// get opens the stand-alone stream of a session.
func (s *session) get(h ...string) *stream {
	s.t.Helper()
	r := s.verb(http.MethodGet, append(s.headers(), h...))
	return s.stream(r)
}

// verb makes a request without a body.
func (w *web) verb(method string, h headers) *http.Request {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.url, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	set(r, h)
	return r
}
