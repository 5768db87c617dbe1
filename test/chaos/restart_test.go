//go:build linux

package chaos

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"
)

// maxRestart is what a Go plugin may take from SIGKILL to the next right answer.
const maxRestart = 300 * time.Millisecond

// TestRestart kills a plugin's process and calls it at once, until a call is
// answered. More than five ends in two minutes are a crash loop, so it takes
// several hosts.
func TestRestart(t *testing.T) {
	config := writeConfig(t)
	var took []time.Duration
	for i := range 3 {
		h := startPipe(t, "mcphost", fmt.Sprintf("restart%d", i), config, "one")
		w := &ward{t: t, hosts: []*host{h}}
		if text := w.serves(h, healthy[0]); text != "" {
			t.Fatal(text)
		}
		for range 5 {
			took = append(took, w.killed(h, healthy[0]))
		}
		h.stop()
	}
	nothingLeft(t)
	t.Logf("from SIGKILL to the next answer: median %v of %v", median(took), slices.Sorted(slices.Values(took)))
	if got := median(took); got > maxRestart {
		t.Errorf("the median is %v, at most %v is allowed", got, maxRestart)
	}
}

// killed kills the process of a plugin and returns how long it did not serve.
func (w *ward) killed(h *host, handle string) time.Duration {
	w.t.Helper()
	p, ok := h.process(handle)
	if !ok {
		w.t.Fatalf("%s has no process", handle)
	}
	start := time.Now()
	if err := syscall.Kill(p.pid, syscall.SIGKILL); err != nil {
		w.t.Fatal(err)
	}
	for {
		text := w.serves(h, handle)
		took := time.Since(start)
		if text == "" {
			return took.Round(100 * time.Microsecond)
		}
		if took > patience {
			w.t.Fatalf("after %v: %s", took, text)
		}
	}
}
