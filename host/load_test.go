//go:build linux

package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphost/mcphost/host"
)

const (
	inFlight   = 32
	callMillis = 20
)

// A load keeps calls in flight and checks each answer.
type load struct {
	t    *testing.T
	call func(n int) (string, error)

	stop chan struct{}
	wg   sync.WaitGroup

	mu    sync.Mutex // guards what follows
	cond  *sync.Cond
	done  int
	words map[string]int // what was answered, without the number -> how often
}

// start keeps inFlight calls in flight until end is called.
func startLoad(t *testing.T, call func(n int) (string, error)) *load {
	t.Helper()
	l := &load{t: t, call: call, stop: make(chan struct{}), words: make(map[string]int)}
	l.cond = sync.NewCond(&l.mu)
	for worker := range inFlight {
		l.wg.Go(func() {
			for n := worker; ; n += inFlight {
				select {
				case <-l.stop:
					return
				default:
				}
				l.one(n)
			}
		})
	}
	return l
}

func (l *load) one(n int) {
	got, err := l.call(n)
	words, ok := strings.CutPrefix(got, fmt.Sprintf("%d ", n))
	if err != nil || !ok {
		l.t.Errorf("call %d got %q, %v", n, got, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done++
	l.words[words]++
	l.cond.Broadcast()
}

// progress returns when each worker has ended two more calls, on average.
func (l *load) progress() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for want := l.done + 2*inFlight; l.done < want; {
		l.cond.Wait()
	}
}

func (l *load) end() map[string]int {
	close(l.stop)
	l.wg.Wait()
	return l.words
}

// callAll returns a function that calls over p from many goroutines.
func (p *pipe) callAll(ctx context.Context) func(n int) (string, error) {
	var mu sync.Mutex // guards waiting
	waiting := make(map[int]chan string)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case m := <-p.messages:
				mu.Lock()
				c := waiting[m.ID]
				delete(waiting, m.ID)
				mu.Unlock()
				switch {
				case c != nil && m.Error != nil:
					c <- string(m.Error)
				case c != nil:
					c <- text(m.Result)
				case m.Method != "notifications/tools/list_changed":
					p.t.Errorf("got %+v, which nobody waits for", m)
				}
			}
		}
	}()
	return func(n int) (string, error) {
		c := make(chan string, 1)
		mu.Lock()
		waiting[n+100] = c
		mu.Unlock()
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"n":%d,"millis":%d}}}`, n+100, n, callMillis))
		select {
		case got := <-c:
			return got, nil
		case <-time.After(wait):
			return "", fmt.Errorf("no answer")
		}
	}
}

// serveHTTP serves the web blocks and returns the base URL.
func (st *stage) serveHTTP() string {
	st.t.Helper()
	ctx, cancel := context.WithCancel(st.t.Context())
	urls, served := make(chan []string, 1), make(chan error, 1)
	go func() { served <- st.ServeHTTP(ctx, "127.0.0.1:0", func(u []string) { urls <- u }) }()
	st.t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			st.t.Errorf("ServeHTTP: %v", err)
		}
	})
	select {
	case u := <-urls:
		return u[0][:strings.LastIndex(u[0], "/")]
	case err := <-served:
		st.t.Fatal(err)
		return ""
	}
}

// post sends a modern request and returns the response.
func post(ctx context.Context, c *http.Client, url, method, name, params string) (*http.Response, error) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, method, params)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewBufferString(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	r.Header.Set("Mcp-Method", method)
	if name != "" {
		r.Header.Set("Mcp-Name", name)
	}
	return c.Do(r)
}

// callHTTP returns a function that calls over HTTP.
func callHTTP(t *testing.T, url string) func(n int) (string, error) {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: inFlight}}
	t.Cleanup(c.CloseIdleConnections)
	return func(n int) (string, error) {
		resp, err := post(t.Context(), c, url, "tools/call", "echo", fmt.Sprintf(`"name":"echo","arguments":{"n":%d,"millis":%d},`, n, callMillis))
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			return "", err
		}
		var m message
		if err := json.Unmarshal(b, &m); err != nil || m.Result == nil {
			return "", fmt.Errorf("status %d: %s", resp.StatusCode, b)
		}
		return text(m.Result), nil
	}
}

// TestReloadUnderLoadLosesNoCall changes everything that can change while 32
// calls are in flight on a pipe and 32 over HTTP.
func TestReloadUnderLoadLosesNoCall(t *testing.T) {
	const base = `
plugin "a" { ACTOR }
plugin "b" {
  ACTOR
  tools { prefix = "b_" }
}
local "demo" { plugins = ["a", "b"] }
web "/mcp" { plugins = ["a", "b"] }
limits { max_concurrent_requests = 64 }
`
	block := func(lines string) string {
		return strings.Replace(base, `plugin "a" { ACTOR }`, "plugin \"a\" {\n  ACTOR\n"+lines+"\n}", 1)
	}
	st := newStage(t, host.Scope{Local: "demo", Webs: true}, base)
	loads := []*load{
		startLoad(t, st.connect().callAll(t.Context())),
		startLoad(t, callHTTP(t, st.serveHTTP()+"/mcp")),
	}
	progress := func() {
		for _, l := range loads {
			l.progress()
		}
	}
	unchanged := st.plugin("b").PID
	steps := []struct{ name, version, text, want string }{
		{"environment", "v1", block(`  env = { WORD = "w" }`), "v1 w "},
		{"config block", "v1", block("  env = { WORD = \"w\" }\n  config { say = \"s\" }"), "v1 w s"},
		{"shape", "v1", strings.ReplaceAll(block("  env = { WORD = \"w\" }\n  config { say = \"s\" }"), `"b_"`, `"c_"`), "v1 w s"},
		{"exclusive", "v1", block(`  env = { WORD = "x", EXCLUSIVE = "1", ALONE = "1" }`), "v1 x "},
		{"exclusive again", "v1", block(`  env = { WORD = "y", EXCLUSIVE = "1", ALONE = "1" }`), "v1 y "},
		{"back", "v1", base, "v1  "},
	}
	progress()
	for _, step := range steps {
		st.mustReload(step.text)
		progress()
		if got := say(t, st.client(), "echo"); got != "1 "+step.want {
			t.Errorf("%s: got %q, want %q", step.name, got, step.want)
		}
		if got := st.plugin("b").PID; got != unchanged {
			t.Errorf("%s: the unchanged plugin has pid %d, want %d", step.name, got, unchanged)
		}
	}
	st.install("v2") // of both plugins
	st.mustReload(base)
	progress()
	for i, l := range loads {
		words := l.end()
		for _, want := range []string{"v1  ", "v1 w ", "v1 w s", "v1 x ", "v1 y ", "v2  "} {
			if words[want] == 0 {
				t.Errorf("load %d: no call was answered by %q: %v", i, want, words)
			}
			delete(words, want)
		}
		if len(words) > 0 {
			t.Errorf("load %d: wrong answers: %v", i, words)
		}
	}
}

func TestWebEndpointsComeAndGo(t *testing.T) {
	const base = `
plugin "a" { ACTOR }
web "/a" { plugins = ["a"] }
`
	st := newStage(t, host.Scope{Webs: true}, base)
	url := st.serveHTTP()
	c := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(c.CloseIdleConnections)
	status := func(path string) int {
		t.Helper()
		resp, err := post(t.Context(), c, url+path, "tools/list", "", "")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if a, b := status("/a"), status("/b"); a != 200 || b != 404 {
		t.Errorf("before: %d, %d", a, b)
	}
	st.mustReload(base + `web "/b" { plugins = ["a"] }`)
	if a, b := status("/a"), status("/b"); a != 200 || b != 200 {
		t.Errorf("one more: %d, %d", a, b)
	}
	// A listener on the endpoint that goes is told its end; the one that stays is not touched.
	listen := func(path string) *http.Response {
		t.Helper()
		resp, err := post(t.Context(), c, url+path, "subscriptions/listen", "", `"notifications":{"toolsListChanged":true},`)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("listen: %v, %v", resp, err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp
	}
	stays, goes := listen("/a"), listen("/b")
	st.mustReload(base)
	if b, err := io.ReadAll(goes.Body); err != nil || !strings.Contains(string(b), `"resultType":"complete"`) {
		t.Errorf("the listener got %s, %v", b, err)
	}
	if a, b := status("/a"), status("/b"); a != 200 || b != 404 {
		t.Errorf("one less: %d, %d", a, b)
	}
	st.mustReload(strings.Replace(base, "{ ACTOR }", "{\n  ACTOR\n  tools { prefix = \"p_\" }\n}", 1))
	var got strings.Builder
	for buf := make([]byte, 1024); !strings.Contains(got.String(), "list_changed"); {
		n, err := stays.Body.Read(buf)
		got.Write(buf[:n])
		if err != nil {
			t.Fatalf("the listener that stays got %q, %v", got.String(), err)
		}
	}
	st.mustReload(base + `web "/b" { plugins = ["a"] }`) // the path can come back
	if b := status("/b"); b != 200 {
		t.Errorf("once more: %d", b)
	}
}
