package raw

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// patience is for what must come. It is long: the machine may be busy.
const patience = 20 * time.Second

// A language is how a plugin is written in a config file that stands beside it.
type language struct {
	install func() (string, error)
	block   string
}

// Nothing is granted: both run in the default sandbox, and name what is theirs.
var languages = map[string]language{
	"python": {installPython, `command = [".venv/bin/python3", "./plugin.py"]
  files   = ["."]`},
	"node": {installNode, `command = ["node", "./plugin.mjs"]
  files   = ["."]`},
}

func TestRawPlugins(t *testing.T) {
	for name, language := range languages {
		dir, err := language.install()
		if err != nil {
			t.Fatal(err)
		}
		for _, mtls := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/mtls=%v", name, mtls), func(t *testing.T) {
				config := writeConfig(t, dir, fmt.Sprintf("%s\n  mtls = %v\n  config { greeting = \"good day\" }", language.block, mtls))
				begin := time.Now()
				h := start(t, config)
				h.lists(t)
				t.Logf("%s, mtls=%v: from the start of mcphost to the list of tools in %v", name, mtls, time.Since(begin).Round(time.Millisecond))
				h.calls(t)
				h.refuses(t)
				h.cancels(t)
				h.restarts(t)
				h.stops(t)
			})
		}
	}
}

// TestPythonOnPath runs the plugin by a bare name: the interpreter is the first
// one on PATH that is no shim, and what it needs comes by PYTHONPATH.
func TestPythonOnPath(t *testing.T) {
	dir, err := installPython()
	if err != nil {
		t.Fatal(err)
	}
	packages, err := filepath.Glob(filepath.Join(dir, ".venv/lib/python3*/site-packages"))
	if err != nil || len(packages) != 1 {
		t.Fatalf("packages: %v, %v", packages, err)
	}
	version := filepath.Base(filepath.Dir(packages[0])) // python3.11
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		program := filepath.Join(folder, "python3")
		if _, err := os.Stat(program); err != nil || filepath.Base(folder) == "shims" {
			continue
		}
		real, err := filepath.EvalSymlinks(program)
		if err != nil || filepath.Base(real) != version {
			t.Skipf("the venv is of %s, and %s is %s", version, program, real)
		}
		break
	}
	config := writeConfig(t, dir, fmt.Sprintf("command = [\"python3\", \"./plugin.py\"]\n  files = [\".\"]\n  env = { PYTHONPATH = %q }\n  config { greeting = \"good day\" }", packages[0]))
	h := start(t, config)
	h.lists(t)
	h.calls(t)
}

// TestRawPluginsComplain lets the plugins check their config blocks: the
// complaint names the line.
func TestRawPluginsComplain(t *testing.T) {
	for name, language := range languages {
		t.Run(name, func(t *testing.T) {
			dir, err := language.install()
			if err != nil {
				t.Fatal(err)
			}
			config := writeConfig(t, dir, language.block+"\n  config {\n    greeting = \" \"\n  }")
			cmd := exec.CommandContext(t.Context(), mcphost, "validate", "-c", config)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Error("an empty greeting is valid")
			}
			for _, want := range []string{"Empty greeting", `greeting = " "`, "A greeting has at least one letter."} {
				if !strings.Contains(string(out), want) {
					t.Errorf("no %q in:\n%s", want, out)
				}
			}
		})
	}
}

// TestRawPluginsByHand starts them as a person would by mistake.
func TestRawPluginsByHand(t *testing.T) {
	for name, command := range map[string][]string{"python": {".venv/bin/python3", "plugin.py"}, "node": {"node", "plugin.mjs"}} {
		t.Run(name, func(t *testing.T) {
			dir, err := languages[name].install()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
			cmd.Dir = dir
			if strings.Contains(command[0], "/") {
				cmd.Path = filepath.Join(dir, command[0])
			}
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "a host starts it, not a person") {
				t.Errorf("got %v and:\n%s", err, out)
			}
		})
	}
}

// writeConfig writes a config file beside the plugin: its paths are relative to it.
func writeConfig(t *testing.T, dir, block string) string {
	t.Helper()
	file, err := os.CreateTemp(dir, "config-*.hcl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(file.Name()) })
	_, err = fmt.Fprintf(file, "local \"raw\" {\n  %s\n}\n", block)
	if err != nil || file.Close() != nil {
		t.Fatal("writing the config: ", err)
	}
	return file.Name()
}

// A host is a running mcphost with one client.
type host struct {
	*mcp.ClientSession
	cmd      *exec.Cmd
	log      *log
	progress chan float64
}

func start(t *testing.T, config string) *host {
	t.Helper()
	h := &host{log: newLog(), progress: make(chan float64, 1000)}
	h.cmd = exec.Command(mcphost, "start", "raw", "-c", config, "--log-level", "debug")
	h.cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
	h.cmd.Stderr = h.log
	c := mcp.NewClient(&mcp.Implementation{Name: "raw", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { h.progress <- r.Params.Progress },
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
		},
	})
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the log of mcphost:\n%s", h.log)
		}
	})
	s, err := c.Connect(t.Context(), &mcp.CommandTransport{Command: h.cmd, TerminateDuration: patience}, nil)
	if err != nil {
		t.Fatal("connecting: ", err)
	}
	h.ClientSession = s
	t.Cleanup(func() { _ = s.Close() }) // closed by the test, if it came so far
	return h
}

func (h *host) lists(t *testing.T) {
	t.Helper()
	list, err := h.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	if got := strings.Join(names, " "); got != "ask count crash echo print" {
		t.Errorf("tools: %s", got)
	}
}

// call calls a tool and returns its text.
func (h *host) call(t *testing.T, tool string, arguments map[string]any) (text string, isError bool) {
	t.Helper()
	if arguments == nil {
		arguments = map[string]any{}
	}
	params := &mcp.CallToolParams{Name: tool, Arguments: arguments}
	params.SetProgressToken(tool)
	r, err := h.CallTool(t.Context(), params)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	for _, c := range r.Content {
		if block, ok := c.(*mcp.TextContent); ok {
			text += block.Text
		}
	}
	return text, r.IsError
}

func (h *host) calls(t *testing.T) {
	t.Helper()
	for _, test := range []struct {
		tool, want string
		arguments  map[string]any
	}{
		{"echo", "good day world", map[string]any{"text": "world"}},
		{"count", "counted to 3", map[string]any{"to": 3}},
		{"ask", "you are Ada", nil},
		{"print", "printed", nil},
		{"echo", "good day again", map[string]any{"text": "again"}}, // what was printed did no harm
	} {
		if got, isError := h.call(t, test.tool, test.arguments); got != test.want || isError {
			t.Errorf("%s: %q (isError %v), want %q", test.tool, got, isError, test.want)
		}
	}
	for want := 1.0; want <= 3; want++ {
		select {
		case got := <-h.progress:
			if got != want {
				t.Errorf("progress %v, want %v", got, want)
			}
		case <-time.After(patience):
			t.Fatalf("progress %v did not come", want)
		}
	}
}

func (h *host) refuses(t *testing.T) {
	t.Helper()
	text, isError := h.call(t, "echo", map[string]any{"text": 7})
	if !isError || !strings.Contains(text, "/text") {
		t.Errorf("a number for a text: %q (isError %v)", text, isError)
	}
}

// cancels cancels a call that would not end by itself.
func (h *host) cancels(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	params := &mcp.CallToolParams{Name: "count", Arguments: map[string]any{"to": 0}}
	params.SetProgressToken("endless")
	go func() { // ends with the first progress, or with the test
		select {
		case <-h.progress:
		case <-t.Context().Done():
		}
		cancel()
	}()
	if _, err := h.CallTool(ctx, params); err == nil {
		t.Error("a cancelled call has a result")
	}
	h.log.await(t, "count was cancelled")
}

// restarts ends the process in the middle of a call. The next one succeeds.
func (h *host) restarts(t *testing.T) {
	t.Helper()
	if text, isError := h.call(t, "crash", nil); !isError {
		t.Errorf("a call that ended its process: %q", text)
	}
	begin := time.Now()
	if got, isError := h.call(t, "echo", map[string]any{"text": "back"}); isError || got != "good day back" {
		t.Errorf("after the crash: %q (isError %v)", got, isError)
	}
	t.Logf("from the crash to the next answer in %v", time.Since(begin).Round(time.Millisecond))
	h.log.await(t, "exit status 7")
}

// stops ends the host. The plugin says goodbye, and nothing of it stays.
func (h *host) stops(t *testing.T) {
	t.Helper()
	pids := regexp.MustCompile(`plugin started: .*pid=(\d+)`).FindAllStringSubmatch(h.log.String(), -1)
	if len(pids) != 2 {
		t.Errorf("%d processes were started, want 2", len(pids))
	}
	if err := h.Close(); err != nil {
		t.Error("closing: ", err)
	}
	if code := h.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("mcphost ended with %v", h.cmd.ProcessState)
	}
	h.log.await(t, "goodbye")
	if text := h.log.String(); strings.Contains(text, "Traceback") || strings.Contains(text, "    at ") {
		t.Error("an exception reached the log")
	}
	for _, pid := range pids {
		var number int
		if _, err := fmt.Sscan(pid[1], &number); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(number, 0); err != syscall.ESRCH {
			t.Errorf("process %d is still there: %v", number, err)
		}
	}
}

// A log is what mcphost wrote to stderr.
type log struct {
	mu      sync.Mutex // guards what follows
	text    strings.Builder
	changed chan struct{} // closed and replaced by each write
}

var _ io.Writer = (*log)(nil)

func newLog() *log { return &log{changed: make(chan struct{})} }

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.changed)
	l.changed = make(chan struct{})
	return l.text.Write(b)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// await waits until the log has the text.
func (l *log) await(t *testing.T, want string) {
	t.Helper()
	timeout := time.After(patience)
	for {
		l.mu.Lock()
		have, changed := strings.Contains(l.text.String(), want), l.changed
		l.mu.Unlock()
		if have {
			return
		}
		select {
		case <-changed:
		case <-timeout:
			t.Fatalf("the log has no %q", want)
		}
	}
}
