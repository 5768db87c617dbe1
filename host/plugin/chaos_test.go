//go:build linux

package plugin_test

import (
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcphost/mcphost/host/plugin"
	"github.com/mcphost/mcphost/host/primitive"
)

// Whatever happens to the process, each call ends, with its own answer or an
// honest failure.
func TestKillsUnderLoad(t *testing.T) {
	t.Parallel()
	o, _ := options(t, "good")
	p := start(t, o)
	stop := make(chan struct{})
	end := sync.OnceFunc(func() { close(stop) })
	var wg sync.WaitGroup
	defer wg.Wait()
	defer end()
	var mu sync.Mutex
	answers, failures := 0, 0
	for caller := range 16 {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				good := say(t, p, fmt.Sprintf("%d-%d", caller, n), n%2 == 0)
				mu.Lock()
				if good {
					answers++
				} else {
					failures++
				}
				mu.Unlock()
			}
		})
	}
	for range 4 { // a fifth would be near a crash loop
		pid := processOf(t, p)
		progress := func() int { mu.Lock(); defer mu.Unlock(); return answers }
		before := progress()
		eventually(t, "load", func() bool { return progress() > before+50 })
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the next process", func() bool { s, _ := p.State(); return s == plugin.Ready && processOf(t, p) != pid })
	}
	end()
	within(t, 5*time.Second, "the end of all calls", wg.Wait)
	t.Logf("%d answers, %d failures", answers, failures)
}

// say makes one call and reports whether it was answered. A wrong answer or an
// unexpected failure fails the test.
func say(t *testing.T, p *plugin.Plugin, word string, again bool) bool {
	t.Helper()
	name := "echo"
	if again {
		name = "safe"
	}
	use := &primitive.Use{Caller: caller(), Arguments: fmt.Appendf(nil, `{"do":"say","json":%q}`, word)}
	r, err := p.CallTool(t.Context(), tool(t, p, name), use)
	var e *primitive.Error
	switch {
	case err == nil && r.Content[0].Text == word:
		return true
	case err == nil:
		t.Errorf("got the answer %q to %q", r.Content[0].Text, word)
	case !errors.As(err, &e) || e.Failure != primitive.Crashed || again:
		t.Errorf("call %s %q: %v", name, word, err)
	}
	return false
}
