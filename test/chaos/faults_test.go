//go:build linux

package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A victim is a plugin of a host, on which something is about to befall.
type victim struct {
	w      *ward
	h      *host
	handle string
}

// faults are what may befall a plugin. Each reports whether it did.
var faults = []struct {
	name string
	do   func(victim) bool
}{
	{"SIGKILL", signalled(syscall.SIGKILL, false)},
	{"SIGKILL of its init", signalled(syscall.SIGKILL, true)},
	{"SIGSTOP", signalled(syscall.SIGSTOP, false)},
	{"SIGSTOP of its init", signalled(syscall.SIGSTOP, true)},
	{"hang in handlers", asked("hang", "", "", "", "", "", "", "")},
	{"hung Shutdown", func(v victim) bool {
		v.ask("stubborn", "")
		return asked("deaf", "")(v) // and so it will be asked to shut down
	}},
	{"deaf to health checks", asked("deaf", "")},
	{"exit", asked("exit", "")},
	{"panic", asked("panic", "")},
	{"grandchild left behind", asked("orphan", "")},
	{"exit, and exit at the next start", asked("stumble", "exit")},
	{"exit, and hang at the next start", asked("stumble", "hang")},
	{"stderr flood", asked("stderr", "lines", "json", "endless")},
	{"stdout flood", asked("stdout", "lines", "endless")},
	{"descriptor flood", asked("fds", "")},
	{"malformed answers", asked("malformed", "structured", "meta", "cut", "lines", "break", "utf8", "deep", "block", "error", "input", "none")},
	{"300 MiB answer", asked("big", "")},
	{"catalog that changes all the time", asked("catalog", "often")},
	{"catalog that grows by a thousand", asked("catalog", "large")},
	{"wire: noise", asked("wire", "noise")},
	{"wire: GOAWAY", asked("wire", "goaway")},
	{"wire: pings", asked("wire", "pings")},
	{"wire: strange data", asked("wire", "data")},
	{"wire: strange headers", asked("wire", "headers")},
	{"wire: window", asked("wire", "window")},
	{"wire: cut frame", asked("wire", "cut")},
}

// signalled sends a signal to the plugin's process, or to the init above it.
func signalled(s syscall.Signal, init bool) func(victim) bool {
	return func(v victim) bool {
		p, ok := v.h.process(v.handle)
		if ok && init {
			if ok = p.parent != v.h.pid; ok {
				p.pid = p.parent
			}
		}
		return ok && syscall.Kill(p.pid, s) == nil
	}
}

// asked calls a tool for each kind, at once.
func asked(tool string, kinds ...string) func(victim) bool {
	return func(v victim) bool {
		if _, ok := v.h.process(v.handle); !ok {
			return false
		}
		var wg sync.WaitGroup
		for _, kind := range kinds {
			wg.Go(func() { v.ask(tool, kind) })
		}
		wg.Wait()
		return true
	}
}

// ask calls a tool that does something bad. Whatever the answer is, it is one.
func (v victim) ask(tool, kind string) {
	nonce := v.w.nonce("fault")
	c := &call{tool: v.handle + "_" + tool, args: fmt.Sprintf(`{"nonce":%q,"kind":%q}`, nonce, kind)}
	a, took, err := v.w.call(v.h.modern, c)
	switch {
	case err != nil:
		v.w.wrong("%s, %s: %v", v.h.name, c.tool, err)
	case took > endless:
		v.w.wrong("%s, %s: took %v", v.h.name, c.tool, took)
	default:
		v.w.discreet(v.h.name+", "+c.tool, nonce, a)
		v.w.told(tool, kind, strings.ReplaceAll(a.text, nonce, "NONCE"))
	}
}

// plague has something befall someone, again and again, until stop comes.
func (w *ward) plague(stop <-chan time.Time) {
	var wg sync.WaitGroup
	defer wg.Wait()
	tick := time.NewTicker(w.every)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		if n%4 == 3 {
			wg.Go(w.hosts[rand.N(len(w.hosts))].reload) // raises who crashed too often
		}
		wg.Go(w.befall) // ends with its calls
	}
}

// befall has the next fault of the deck befall someone on whom it can, of each
// host in turn.
func (w *ward) befall() {
	w.mu.Lock()
	if len(w.deck) == 0 {
		w.deck = w.rand.Perm(len(faults))
	}
	f := faults[w.deck[0]]
	w.deck = w.deck[1:]
	w.turn++
	h := w.hosts[w.turn%len(w.hosts)]
	order := w.rand.Perm(len(sick))
	w.mu.Unlock()
	for _, n := range order {
		if f.do(victim{w, h, sick[n]}) {
			w.mu.Lock()
			w.befallen[f.name]++
			w.mu.Unlock()
			return
		}
	}
	w.mu.Lock()
	w.missed++
	w.mu.Unlock()
}

// settle raises whoever is down, and returns when all serve again.
func (w *ward) settle() time.Duration {
	w.t.Helper()
	start := time.Now()
	for _, h := range w.hosts {
		h.reload()
	}
	asked := time.Now()
	for _, h := range w.hosts {
		for _, handle := range append(healthy, sick...) {
			eventually(w.t, patience, func() string {
				if time.Since(asked) > 10*time.Second { // one that came up and fell again
					asked = time.Now()
					h.reload()
				}
				return w.serves(h, handle)
			})
		}
	}
	return time.Since(start)
}

// serves complains unless a plugin of a host answers rightly.
func (w *ward) serves(h *host, handle string) string {
	nonce := w.nonce("settle")
	a, _, err := w.call(h.modern, &call{tool: handle + "_echo", args: fmt.Sprintf(`{"nonce":%q}`, nonce)})
	switch {
	case err != nil:
		return err.Error()
	case a.failed || a.text != nonce:
		return fmt.Sprintf("%s of %s says %.300s", handle, h.name, a.raw)
	}
	return ""
}

// call makes a call and says how long it took. It gives up only long after it
// should have ended.
func (w *ward) call(l lane, c *call) (*answer, time.Duration, error) {
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	start := time.Now()
	a, err := l.call(ctx, c)
	return a, time.Since(start), err
}

// discreet demands that an answer holds nothing that is for another.
func (w *ward) discreet(where, nonce string, a *answer) {
	raw := string(a.raw)
	if strings.Contains(raw, "SECRET") {
		w.wrong("%s: shows stderr: %.500s", where, raw)
	}
	if strings.Contains(strings.ReplaceAll(raw, nonce, ""), "nonce-") {
		w.wrong("%s: another's nonce: %.500s", where, raw)
	}
}
