//go:build linux

package host_test

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcphost/mcphost/host"
	"github.com/mcphost/mcphost/host/config"
)

// follow has the stage follow its files and returns what reloads show, and a
// way to ask for one.
func (st *stage) follow() (shown <-chan string, hup chan<- os.Signal) {
	st.t.Helper()
	texts, signals := make(chan string, 100), make(chan os.Signal)
	stop := st.Follow(st.t.Context(), host.Source{
		Paths: []string{st.file()},
		Load: func() (*config.Config, *config.Diagnostics) {
			return config.Load([]string{st.file()}, config.Options{})
		},
		Show:   func(d *config.Diagnostics) { texts <- d.String() },
		Reload: signals,
	})
	st.t.Cleanup(stop)
	return texts, signals
}

// until returns when the tool says what is wanted.
func (st *stage) until(want string) {
	st.t.Helper()
	c := st.client()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(wait)
	for got := ""; got != want; {
		got = say(st.t, c, "echo")
		select {
		case <-tick.C:
		case <-late:
			st.t.Fatalf("got %q, want %q", got, want)
		}
	}
}

func TestChangedFilesAreNoticed(t *testing.T) {
	const text = `local "demo" {
  ACTOR
  env = { WORD = "one" }
}`
	st := newStage(t, demo, text)
	shown, hup := st.follow()
	st.until("1 v1 one ")
	st.install("v2")
	st.until("1 v2 one ")
	st.write(strings.Replace(text, "one", "two", 1))
	st.until("1 v2 two ")
	st.write("nonsense")
	if got := <-shown; !strings.Contains(got, "config.hcl line 1") {
		t.Errorf("shown: %q", got)
	}
	st.write(text)
	st.until("1 v2 one ")
	hup <- syscall.SIGHUP
	hup <- syscall.SIGHUP // taken when the first is done
	st.until("1 v2 one ")
	if n := strings.Count(st.log.String(), "plugin started"); n != 4 {
		t.Errorf("%d processes were started, want 4", n)
	}
}
