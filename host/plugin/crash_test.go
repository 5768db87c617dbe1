//go:build linux

package plugin_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphost/mcphost/host/plugin"
	"github.com/mcphost/mcphost/host/primitive"
)

// inCall makes a call that hangs, and returns when the plugin has it.
func inCall(t *testing.T, p *plugin.Plugin, name string, peer primitive.Peer) <-chan error {
	t.Helper()
	file := filepath.Join(t.TempDir(), "called")
	result := make(chan error, 1)
	use := &primitive.Use{Caller: caller(), Arguments: fmt.Appendf(nil, `{"do":"hang","file":%q}`, file), Peer: peer}
	target := tool(t, p, name)
	go func() {
		_, err := p.CallTool(t.Context(), target, use)
		result <- err
	}()
	eventually(t, "the call", func() bool { _, err := os.Stat(file); return err == nil })
	return result
}

func TestCrashEndsCallsAtOnceAndTheNextOneWorks(t *testing.T) {
	t.Parallel()
	o, log := options(t, "good")
	p := start(t, o)
	before := p.Catalog()
	pid := processOf(t, p)
	result := inCall(t, p, "echo", nil)
	var err error
	within(t, time.Second, "the end of the call", func() {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		err = <-result
	})
	e := wantFailure(t, err, primitive.Crashed)
	if e.Incident == "" || e.Detail != "" {
		t.Errorf("got incident %q and detail %q, want an incident alone", e.Incident, e.Detail)
	}
	within(t, 5*time.Second, "the restart", func() {
		if again := processOf(t, p); again == pid {
			t.Errorf("got process %d again", pid)
		}
	})
	if p.Catalog() != before {
		t.Error("the catalog was replaced by the same one")
	}
	wantContains(t, "log", log.String(), "plugin exited", "signal: killed", "incident="+e.Incident)
}

func TestCrashReportHoldsLastWordsAndTheClientDoesNot(t *testing.T) {
	t.Parallel()
	o, log := options(t, "good")
	p := start(t, o)
	_, err := call(t.Context(), t, p, `{"do":"exit"}`)
	e := wantFailure(t, err, primitive.Crashed)
	if strings.Contains(e.Detail, "secret") || strings.Contains(err.Error(), "secret") {
		t.Errorf("the error holds stderr: %+v", e)
	}
	eventually(t, "the report", func() bool { return strings.Contains(log.String(), "incident="+e.Incident) })
	wantContains(t, "log", log.String(), "exit status 7", "my last words")
}

func TestRepeatableCallIsRetriedOnce(t *testing.T) {
	t.Parallel()
	o, _ := options(t, "good")
	p := start(t, o)
	args := fmt.Appendf(nil, `{"do":"exit-once","file":%q}`, filepath.Join(t.TempDir(), "f"))
	r, err := p.CallTool(t.Context(), tool(t, p, "safe"), &primitive.Use{Caller: caller(), Arguments: args})
	if err != nil || r.Content[0].Text != "survived, attempt 1" {
		t.Fatalf("got %+v %v, want a second attempt", r, err)
	}
	_, err = p.CallTool(t.Context(), tool(t, p, "safe"), &primitive.Use{Caller: caller(), Arguments: []byte(`{"do":"exit"}`)})
	wantFailure(t, err, primitive.Crashed) // twice is enough
}

// A told is a peer that says when it was told something.
type told struct {
	listener
	first chan struct{}
}

func (t *told) Progress(p primitive.Progress) {
	if t.listener.Progress(p); len(t.progress) == 1 {
		close(t.first)
	}
}

func TestCallThatToldSomethingIsNotRetried(t *testing.T) {
	t.Parallel()
	o, _ := options(t, "good")
	p := start(t, o)
	pid := processOf(t, p)
	peer := &told{first: make(chan struct{})}
	result := inCall(t, p, "safe", peer)
	<-peer.first
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	wantFailure(t, <-result, primitive.Crashed)
}

func TestStickyStateNeedsTheSameProcess(t *testing.T) {
	t.Parallel()
	o, _ := options(t, "good")
	p := start(t, o)
	use := &primitive.Use{Caller: caller(), Arguments: []byte(`{"do":"sticky"}`)}
	r, err := p.CallTool(t.Context(), tool(t, p, "echo"), use)
	if err != nil || r.Input == nil || !r.Input.Sticky {
		t.Fatalf("got %+v %v, want a sticky state", r, err)
	}
	use.State = r.Input.State
	if r, err = p.CallTool(t.Context(), tool(t, p, "echo"), use); err != nil || r.Content[0].Text != `state "s1"` {
		t.Fatalf("got %+v %v, want the state back", r, err)
	}
	_, err = call(t.Context(), t, p, `{"do":"exit"}`)
	wantFailure(t, err, primitive.Crashed)
	_, err = p.CallTool(t.Context(), tool(t, p, "echo"), use)
	wantFailure(t, err, primitive.Unavailable)
}

func TestConcurrencyAndQueueAreBounded(t *testing.T) {
	t.Parallel()
	o, _ := options(t, "one-at-a-time")
	o.MaxQueued = 1
	p := start(t, o)
	inCall(t, p, "echo", nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	results := make(chan error, 3)
	target := tool(t, p, "echo")
	for range 3 {
		go func() {
			_, err := p.CallTool(ctx, target, &primitive.Use{Caller: caller(), Arguments: []byte(`{}`)})
			results <- err
		}()
	}
	wantFailure(t, <-results, primitive.Busy)
	wantFailure(t, <-results, primitive.Busy)
	cancel()
	wantFailure(t, <-results, primitive.Internal) // it waited, and its caller went away
}

func TestLazyPluginStopsWhenIdleAndWakes(t *testing.T) {
	t.Parallel()
	o, _ := options(t, "good")
	o.Lazy, o.IdleTimeout = true, 200*time.Millisecond
	var mu sync.Mutex
	var states []string
	o.OnState = func(s plugin.State) {
		mu.Lock()
		defer mu.Unlock()
		states = append(states, s.String())
	}
	p := start(t, o)
	eventually(t, "the idle stop", func() bool { s, _ := p.State(); return s == plugin.Stopped })
	if p.Catalog() == nil {
		t.Fatal("the catalog went with the process")
	}
	if got := mustText(t, p, `{}`); got != "ok" {
		t.Errorf("got %q, want ok", got)
	}
	shut(t, p)
	mu.Lock()
	defer mu.Unlock()
	if want := []string{"starting", "ready", "stopped", "starting", "ready"}; len(states) < 5 || !cmp.Equal(want, states[:5]) {
		t.Errorf("got states %v, want %v first", states, want)
	}
}

func TestCloseLetsCallsEnd(t *testing.T) {
	t.Parallel()
	o, _ := options(t, "good")
	p := start(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	file := filepath.Join(t.TempDir(), "called")
	target := tool(t, p, "echo")
	var ended atomic.Bool
	result := make(chan error, 1)
	go func() {
		_, err := p.CallTool(ctx, target, &primitive.Use{Caller: caller(), Arguments: fmt.Appendf(nil, `{"do":"hang","file":%q}`, file)})
		ended.Store(true)
		result <- err
	}()
	eventually(t, "the call", func() bool { _, err := os.Stat(file); return err == nil })
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if !ended.Load() {
			t.Error("Close returned before the call had ended")
		}
	}()
	eventually(t, "draining", func() bool { s, _ := p.State(); return s == plugin.Draining })
	_, err := call(t.Context(), t, p, `{}`)
	wantFailure(t, err, primitive.Unavailable)
	cancel()
	<-result
	<-closed
}

func TestCrashLoopIsNotWoken(t *testing.T) {
	t.Parallel()
	o, _ := options(t, "good")
	p := start(t, o)
	eventually(t, "the crash loop", func() bool {
		_, err := call(t.Context(), t, p, `{"do":"exit"}`)
		if err == nil {
			t.Fatal("got no error")
		}
		s, _ := p.State()
		return s == plugin.CrashLoop
	})
	_, err := call(t.Context(), t, p, `{}`)
	wantFailure(t, err, primitive.Unavailable)
	p.Restart()
	eventually(t, "the restart", func() bool { s, _ := p.State(); return s == plugin.Ready })
	if got := mustText(t, p, `{}`); got != "ok" {
		t.Errorf("got %q, want ok", got)
	}
}

func TestGrandchildThatHoldsTheConnectionDelaysNothing(t *testing.T) {
	t.Parallel()
	o, _ := options(t, "marked-grandchild")
	o.Env["PID_FILE"] = filepath.Join(t.TempDir(), "pid")
	p := start(t, o)
	pid := processOf(t, p)
	result := inCall(t, p, "echo", nil)
	within(t, time.Second, "the end of the call", func() {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		wantFailure(t, <-result, primitive.Crashed)
	})
}

func TestCachedCatalogNeedsNoProcess(t *testing.T) {
	t.Parallel()
	o, _ := options(t, "good")
	var kept []byte
	o.StoreCatalog = func(b []byte) { kept = b }
	first := start(t, o)
	want := first.Catalog()
	shut(t, first)

	o.CachedCatalog, o.Lazy = kept, true
	var published atomic.Int32
	o.OnCatalog = func(*plugin.Catalog) { published.Add(1) }
	p := start(t, o)
	if s, _ := p.State(); s != plugin.Stopped {
		t.Errorf("got state %s, want stopped", s)
	}
	for _, k := range primitive.Kinds {
		var got, had []string
		for _, x := range p.Catalog().List(k) {
			got = append(got, string(x.Definition))
		}
		for _, x := range want.List(k) {
			had = append(had, string(x.Definition))
		}
		if diff := cmp.Diff(had, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", k, diff)
		}
	}
	if got := mustText(t, p, `{}`); got != "ok" {
		t.Errorf("got %q, want ok", got)
	}
	if n := published.Load(); n != 1 {
		t.Errorf("the catalog was published %d times, want once: it did not change", n)
	}

	o.CachedCatalog = kept[:len(kept)/2]
	if got := mustText(t, start(t, o), `{}`); got != "ok" {
		t.Errorf("with a damaged cache: got %q, want ok", got)
	}
}
