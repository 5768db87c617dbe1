//go:build linux

package chaos

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"

	"go.uber.org/goleak"

	mcphost "github.com/mcphost/mcphost/host"
	"github.com/mcphost/mcphost/host/config"
)

// TestGoroutinesEnd has chaos befall the plugins of a host in this process:
// after it there are not more goroutines than before, and after Close none.
func TestGoroutinesEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	old := goleak.IgnoreCurrent()
	w := &ward{t: t, every: time.Second / 2, rand: rand.New(rand.NewPCG(rand.Uint64(), 0)), befallen: map[string]int{}, answers: map[string]int{}}
	h, stop := within(t)
	w.hosts = []*host{h}
	w.settle()
	w.phase(time.Second, false)
	before := idle()
	w.phase(8*time.Second, true)
	w.settle()
	now := 0
	eventually(t, patience, func() string {
		if now = runtime.NumGoroutine(); now <= before {
			return ""
		}
		var all bytes.Buffer
		_ = pprof.Lookup("goroutine").WriteTo(&all, 1) // a buffer takes all
		return fmt.Sprintf("%d goroutines, before there were %d:\n%s", now, before, &all)
	})
	t.Logf("%d goroutines; before the chaos %d", now, before)
	stop()
	// One goroutine starts the processes of all hosts of this process, and never ends.
	goleak.VerifyNone(t, old, goleak.IgnoreTopFunction("github.com/mcphost/mcphost/host/sandbox.forkForever"))
	nothingLeft(t)
}

// idle returns how many goroutines there are when all have ended that end by
// themselves: the least of a while.
func idle() int {
	n := runtime.NumGoroutine()
	for range 20 {
		<-time.After(100 * time.Millisecond)
		n = min(n, runtime.NumGoroutine())
	}
	return n
}

// within starts a host in this process, on a pipe.
func within(t *testing.T) (h *host, stop func()) {
	t.Helper()
	t.Setenv("XDG_RUNTIME_DIR", filepath.Join(house, "run"))
	file := writeConfig(t)
	load := func() *config.Config {
		cfg, diags := config.Load([]string{file}, config.Options{})
		if diags.HasErrors() {
			t.Error(diags)
		}
		return cfg
	}
	cfg := load()
	served, err := mcphost.New(cfg, mcphost.Options{StateDir: filepath.Join(house, "state-within")})
	if err != nil {
		t.Fatal(err)
	}
	if diags := served.Start(t.Context(), mcphost.Scope{Local: "all"}); diags.HasErrors() {
		t.Fatal(diags)
	}
	l, _ := cfg.Local("all")
	hostIn, in := pipeOf(t)
	out, hostOut := pipeOf(t)
	ended := make(chan error, 1)
	go func() { // ends when its input does
		ended <- served.ServeStdio(t.Context(), l, hostIn, hostOut)
		hostOut.Close()
	}()
	p := newPipe(in, out)
	h = &host{t: t, name: "within", pid: os.Getpid(), modern: pipeLane{p, modern}, legacy: pipeLane{p, legacy}}
	h.reload = func() { served.Reload(t.Context(), load()) }
	if err := p.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return h, func() {
		in.Close()
		if err := <-ended; err != nil {
			t.Errorf("ServeStdio: %v", err)
		}
		<-p.ended
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if err := served.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

func pipeOf(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}
