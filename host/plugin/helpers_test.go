//go:build linux

package plugin_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphost/mcphost/host/plugin"
	"github.com/mcphost/mcphost/host/primitive"
)

// A logBook keeps what was logged.
type logBook struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (l *logBook) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *logBook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// options runs this binary as the plugin called name.
func options(t *testing.T, name string) (plugin.Options, *logBook) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o, log := commandOptions(t, exe)
	// A program with the race detector sleeps for a second before it ends.
	o.Env = map[string]string{behaviourVar: name, "GORACE": "atexit_sleep_ms=0"}
	return o, log
}

// commandOptions runs command, and checks at the end that nothing of it is left.
func commandOptions(t *testing.T, command ...string) (plugin.Options, *logBook) {
	t.Helper()
	run := shortDir(t)
	log := &logBook{}
	t.Cleanup(func() {
		left, err := filepath.Glob(filepath.Join(run, "*"))
		if err != nil || len(left) > 0 {
			t.Errorf("private folders left behind: %v %v; log: %s", left, err, log)
		}
	})
	return plugin.Options{
		Handle: "test", Command: command, RunDir: run, StartTimeout: 30 * time.Second,
		Logger: hclog.New(&hclog.LoggerOptions{Output: log, Level: hclog.Debug}),
	}, log
}

// shortDir returns a folder whose path leaves room for sockets, which that of
// t.TempDir may not.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "mh") //nolint:usetesting // its path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// start starts a plugin that must start, and closes it in the end.
func start(t *testing.T, o plugin.Options) *plugin.Plugin {
	t.Helper()
	p := plugin.New(o)
	t.Cleanup(func() { shut(t, p) })
	if err := p.Start(t.Context()); err != nil {
		t.Fatalf("Start: %v", err)
	}
	return p
}

// shut closes p at once, whatever runs.
func shut(t *testing.T, p *plugin.Plugin) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	cancel()
	if err := p.Close(ctx); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// tool returns a tool of p's catalog.
func tool(t *testing.T, p *plugin.Plugin, name string) *primitive.Primitive {
	t.Helper()
	return pick(t, p.Catalog().Tools, name)
}

func pick(t *testing.T, list []*primitive.Primitive, name string) *primitive.Primitive {
	t.Helper()
	for _, x := range list {
		if x.Own == name {
			return x
		}
	}
	t.Fatalf("no %q in the catalog", name)
	return nil
}

func call(ctx context.Context, t *testing.T, p *plugin.Plugin, args string) (*primitive.ToolResult, error) {
	t.Helper()
	return p.CallTool(ctx, tool(t, p, "echo"), &primitive.Use{Caller: caller(), CallID: "c1", Arguments: []byte(args)})
}

func caller() *primitive.Caller {
	return &primitive.Caller{Principal: primitive.Principal{Subject: "local"}, Endpoint: "demo", Transport: "stdio", Revision: "2026-07-28"}
}

// mustText makes a call that answers with one text.
func mustText(t *testing.T, p *plugin.Plugin, args string) string {
	t.Helper()
	r, err := call(t.Context(), t, p, args)
	if err != nil {
		t.Fatalf("call %s: %v", args, err)
	}
	if len(r.Content) != 1 || r.Content[0].Type != primitive.ContentText {
		t.Fatalf("call %s: got %+v, want one text", args, r)
	}
	return r.Content[0].Text
}

// wantFailure checks that err is the failure want, and returns it.
func wantFailure(t *testing.T, err error, want primitive.Failure) *primitive.Error {
	t.Helper()
	var e *primitive.Error
	if !errors.As(err, &e) {
		t.Fatalf("got error %v, want a *primitive.Error", err)
	}
	if e.Failure != want {
		t.Fatalf("got failure %d (%v), want %d", e.Failure, err, want)
	}
	return e
}

// within fails if f takes longer than d.
func within(t *testing.T, d time.Duration, what string, f func()) {
	t.Helper()
	begin := time.Now()
	f()
	if took := time.Since(begin); took > d {
		t.Errorf("%s took %v, want at most %v", what, took, d)
	}
}

// eventually waits until cond holds.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not happen", what)
		}
		<-tick.C
	}
}

func wantContains(t *testing.T, what, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("%s lacks %q: %s", what, w, got)
		}
	}
}

func configure(t *testing.T) func(context.Context, *plugin.Description) (*plugin.Configuration, error) {
	t.Helper()
	return func(_ context.Context, d *plugin.Description) (*plugin.Configuration, error) {
		if d.Version != "1.2.3" {
			return nil, errors.New("configured before it was described")
		}
		return &plugin.Configuration{JSON: []byte(`{"root":"/x"}`), Secrets: map[string]string{"token": "s3cret"}}, nil
	}
}
