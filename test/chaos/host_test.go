//go:build linux

package chaos

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The plugins: the first are never touched, the others are.
var (
	healthy = []string{"healthy1", "healthy2", "healthy3"}
	sick    = []string{"sick1", "sick2", "sick3", "sick4", "sick5"}
)

// callTimeout is what the configuration gives a call.
const callTimeout = 3 * time.Second

// writeConfig writes what all hosts serve.
func writeConfig(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("http { metrics = \"/metrics\" }\n")
	var quoted []string
	for _, handle := range append(healthy, sick...) {
		quoted = append(quoted, strconv.Quote(handle))
		fmt.Fprintf(&text, "plugin %q {\n  command = [%q]\n  timeout = \"%gs\"\n  tools { prefix = \"%s_\" }\n",
			handle, program(handle), callTimeout.Seconds(), handle)
		if slices.Contains(sick, handle) { // allowed to have a grandchild, and to hold a 300 MiB answer
			text.WriteString("  sandbox {\n    exec = true\n    memory = \"2GiB\"\n  }\n")
		}
		text.WriteString("}\n")
	}
	list := strings.Join(quoted, ", ")
	fmt.Fprintf(&text, "web \"/mcp\" { plugins = [%s] }\nlocal \"all\" { plugins = [%s] }\nlocal \"one\" { plugins = [%q] }\n", list, list, healthy[0])
	file := filepath.Join(t.TempDir(), "config.hcl")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A host is a running mcphost and the ways to call it.
type host struct {
	t    *testing.T
	name string
	pid  int
	cmd  *exec.Cmd
	log  string // a file
	url  string // empty on a pipe

	reload         func() // tries anew what is down for good
	modern, legacy lane
	in             io.Closer // of a pipe
	webs           []*web
	ended          chan struct{} // closed with result set
	result         error
}

// run starts a program of the house in an environment of the house alone.
func run(t *testing.T, mcphost, name string, args ...string) (h *host, in io.WriteCloser, out io.Reader) {
	t.Helper()
	h = &host{t: t, name: name, log: filepath.Join(house, name+".log"), ended: make(chan struct{})}
	h.cmd = exec.Command(program(mcphost), args...)
	h.cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + house, "GORACE=halt_on_error=1 atexit_sleep_ms=0",
		"XDG_RUNTIME_DIR=" + filepath.Join(house, "run"), "XDG_STATE_HOME=" + filepath.Join(house, "state-"+name), "TMPDIR=" + filepath.Join(house, "tmp"),
	}
	log, err := os.Create(h.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	h.cmd.Stderr = log
	in, err = h.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe() // ours to close: Wait must not close it before it is read
	if err != nil {
		t.Fatal(err)
	}
	h.cmd.Stdout = w
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	h.pid = h.cmd.Process.Pid
	h.reload = func() { _ = h.cmd.Process.Signal(syscall.SIGHUP) } // if it has ended, everything else tells
	go func() {                                                    // ends with the process
		h.result = h.cmd.Wait()
		close(h.ended)
	}()
	t.Cleanup(func() {
		_ = h.cmd.Process.Kill() // only if the test gave up
		<-h.ended
		r.Close()
		if t.Failed() {
			t.Logf("the end of the log of %s:\n%s", name, tail(h.log))
		}
	})
	return h, in, r
}

func tail(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-5_000):])
}

// startPipe starts mcphost start.
func startPipe(t *testing.T, mcphost, name, config, handle string) *host {
	t.Helper()
	h, in, out := run(t, mcphost, name, "start", handle, "-c", config)
	p := newPipe(in, out)
	h.in, h.modern, h.legacy = in, pipeLane{p, modern}, pipeLane{p, legacy}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := p.open(ctx); err != nil {
		t.Fatal(err)
	}
	return h
}

// startWeb starts mcphost serve.
func startWeb(t *testing.T, mcphost, name, config string) *host {
	t.Helper()
	h, _, _ := run(t, mcphost, name, "serve", "-c", config, "--listen", "127.0.0.1:0")
	eventually(t, patience, func() string {
		file, err := os.Open(h.log)
		if err != nil {
			return err.Error()
		}
		defer file.Close()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			if _, url, ok := strings.Cut(lines.Text(), "ready url="); ok {
				h.url = url
				return ""
			}
		}
		return "no URL"
	})
	h.webs = []*web{newWeb(h.url), newWeb(h.url)}
	h.modern, h.legacy = h.webs[0], h.webs[1]
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := h.webs[1].open(ctx); err != nil {
		t.Fatal(err)
	}
	return h
}

// stop ends the host and demands that it ends well.
func (h *host) stop() {
	h.t.Helper()
	if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		h.t.Errorf("%s: %v", h.name, err)
	}
	for _, w := range h.webs {
		w.client.CloseIdleConnections()
	}
	select {
	case <-h.ended:
		if h.result != nil {
			h.t.Errorf("%s ended with %v", h.name, h.result)
		}
	case <-time.After(patience):
		h.t.Fatalf("%s does not end", h.name)
	}
}

// process returns the process of a plugin; false if there is none.
func (h *host) process(handle string) (process, bool) {
	list := below(h.pid)
	for _, p := range list {
		grandchild := slices.ContainsFunc(list, func(q process) bool { return q.pid == p.parent && q.name == handle })
		if p.name == handle && p.state != 'Z' && !grandchild {
			return p, true
		}
	}
	return process{}, false
}

// A size is what a host has in use.
type size struct{ goroutines, descriptors, threads, processes int }

func (s size) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, %d threads, %d processes", s.goroutines, s.descriptors, s.threads, s.processes)
}

// size asks without leaving a connection open.
func (h *host) size() size {
	h.t.Helper()
	for _, w := range h.webs {
		w.client.CloseIdleConnections()
	}
	s := size{descriptors: descriptors(h.t, h.pid), threads: status(h.t, h.pid, "Threads"), processes: len(below(h.pid))}
	if h.url != "" {
		s.goroutines = h.metric("go_goroutines")
	}
	return s
}

// metric returns a figure of /metrics.
func (h *host) metric(name string) int {
	h.t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get(strings.TrimSuffix(h.url, "/mcp") + "/metrics")
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n"+name+" ")
	line, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.ParseFloat(line, 64)
	if err != nil {
		h.t.Fatalf("%s in %.300s: %v", name, text, err)
	}
	return int(n)
}
