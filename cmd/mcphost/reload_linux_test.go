package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The prefix is in a file of its own, which nobody watches: a change of it
// comes into force by the signal and the command alone.
const reloadable = `
plugin "clock" {
  command = ["%s/plugin-clock"]
  tools { prefix = file("prefix") }
}
local "demo" { plugins = ["clock"] }
`

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".next", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".next", path); err != nil {
		t.Fatal(err)
	}
}

// runMcphost runs a command to its end.
func runMcphost(t *testing.T, home string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Args[0] = "mcphost"
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+filepath.Join(home, "state"))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// open opens a legacy session and returns when it is there.
func (h *mcphost) open() {
	h.t.Helper()
	fmt.Fprintln(h.in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	h.answer(1)
	fmt.Fprintln(h.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// changed returns when the next message says that the list of tools changed,
// and what it is then.
func (h *mcphost) changed(id int) string {
	h.t.Helper()
	if !h.out.Scan() || !strings.Contains(h.out.Text(), "notifications/tools/list_changed") {
		h.t.Fatalf("got %q, want to be told of a change", h.out.Text())
	}
	return h.tools(id)
}

func (h *mcphost) tools(id int) string {
	h.t.Helper()
	fmt.Fprintf(h.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`+"\n", id)
	var m struct {
		Result struct{ Tools []struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(h.answer(id)), &m); err != nil || len(m.Result.Tools) == 0 {
		h.t.Fatalf("no tools: %v", err)
	}
	return m.Result.Tools[0].Name
}

func TestEveryWayToReload(t *testing.T) {
	dir := t.TempDir()
	config, prefix := filepath.Join(dir, "config.hcl"), filepath.Join(dir, "prefix")
	text := fmt.Sprintf(reloadable, plugins)
	put(t, config, text)
	put(t, prefix, "a_")
	h := startMcphost(t, dir, "start", "demo", "-c", config)
	h.open()
	if got := h.tools(2); !strings.HasPrefix(got, "a_") {
		t.Fatalf("tool %q", got)
	}

	put(t, prefix, "b_")
	if err := h.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if got := h.changed(3); !strings.HasPrefix(got, "b_") {
		t.Errorf("after SIGHUP: tool %q", got)
	}

	put(t, prefix, "c_")
	if _, stderr, code := runMcphost(t, dir, "reload", "-c", config); code != 0 || !strings.Contains(stderr, ": reloaded") {
		t.Errorf("mcphost reload: exit %d, %s", code, stderr)
	}
	if got := h.changed(4); !strings.HasPrefix(got, "c_") {
		t.Errorf("after mcphost reload: tool %q", got)
	}

	put(t, config, strings.Replace(text, `file("prefix")`, `"d_"`, 1))
	if got := h.changed(5); !strings.HasPrefix(got, "d_") {
		t.Errorf("after a change of the file: tool %q", got)
	}

	put(t, config, strings.Replace(text, "command", "comand", 1))
	_, stderr, code := runMcphost(t, dir, "reload", "-c", config)
	if code != 1 || !strings.Contains(stderr, "config.hcl line 3") || !strings.Contains(stderr, "comand") {
		t.Errorf("mcphost reload of nonsense: exit %d, %s", code, stderr)
	}
	if got := h.tools(6); !strings.HasPrefix(got, "d_") {
		t.Errorf("after nonsense: tool %q", got)
	}
	h.in.Close()
	if err := h.cmd.Wait(); err != nil {
		t.Errorf("mcphost ended with %v", err)
	}
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil || !strings.Contains(string(log), "comand") {
		t.Errorf("the host's own log does not show the diagnostics: %v", err)
	}
	if _, stderr, code := runMcphost(t, dir, "reload", "-c", config); code != 1 || !strings.Contains(stderr, "no mcphost runs") {
		t.Errorf("mcphost reload without a host: exit %d, %s", code, stderr)
	}
}

// listed is one host of mcphost list plugins --json.
type listed struct {
	PID     int
	Serves  string
	Plugins []struct {
		Handle, State, Reason string
		PID, Restarts         int
		NotEnforced           *[]string `json:"not_enforced"`
	}
}

func TestListPluginsShowsHowTheyAre(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "config.hcl")
	put(t, filepath.Join(dir, "dead.sh"), "echo no luck; exit 3\n")
	put(t, config, fmt.Sprintf(`
plugin "good" { command = ["%[1]s/plugin-everything"] }
plugin "lazy" {
  command = ["%[1]s/plugin-clock"]
  start   = "lazy"
  idle_timeout = "100ms"
}
plugin "bad" { command = ["sh", "./dead.sh"] }
local "demo" { plugins = ["good", "lazy", "bad"] }
`, plugins))
	if stdout, stderr, code := runMcphost(t, dir, "list", "plugins", "-c", config); code != 1 || stdout != "" || !strings.Contains(stderr, "no mcphost runs") {
		t.Errorf("without a host: exit %d, %q, %q", code, stdout, stderr)
	}
	if stdout, stderr, code := runMcphost(t, dir, "list", "plugins", "--json", "-c", config); code != 0 || stdout != "[]\n" {
		t.Errorf("without a host, --json: exit %d, %q, %q", code, stdout, stderr)
	}
	h := startMcphost(t, dir, "start", "demo", "-c", config)
	h.call(1, "test_simple_text")
	h.answer(1)
	h.killPlugin()
	for id := 2; ; id++ { // the first may meet the process that dies
		h.call(id, "test_simple_text")
		if !strings.Contains(h.answer(id), `"isError":true`) {
			break
		}
	}
	stdout, stderr, code := runMcphost(t, dir, "list", "plugins", "--json", "-c", config)
	var hosts []listed
	if err := json.Unmarshal([]byte(stdout), &hosts); err != nil || code != 0 || len(hosts) != 1 || len(hosts[0].Plugins) != 3 {
		t.Fatalf("exit %d, %q, %q, %v", code, stdout, stderr, err)
	}
	if hosts[0].PID != h.cmd.Process.Pid || hosts[0].Serves != "start demo" {
		t.Errorf("host %+v", hosts[0])
	}
	for _, p := range hosts[0].Plugins {
		ok := p.NotEnforced != nil
		switch p.Handle {
		case "good":
			ok = ok && p.State == "ready" && p.Restarts == 1 && p.PID != 0 && p.Reason == ""
		case "bad":
			ok = ok && (p.State == "backoff" || p.State == "crash_loop" || p.State == "starting") && p.PID == 0 && (p.Reason != "" || p.State == "starting")
		}
		if !ok {
			t.Errorf("got %+v", p)
		}
	}
	stdout, _, code = runMcphost(t, dir, "list", "plugins", "-c", config)
	if lines := strings.Split(strings.TrimSpace(stdout), "\n"); code != 0 || len(lines) != 4 || !strings.HasPrefix(lines[0], "HOST") {
		t.Errorf("exit %d, table:\n%s", code, stdout)
	}
	h.in.Close()
	if err := h.cmd.Wait(); err != nil {
		t.Errorf("mcphost ended with %v", err)
	}
}

func TestASecondHostIsToldOfTheFirst(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "config.hcl")
	put(t, config, fmt.Sprintf(`local "demo" { command = ["%s/plugin-clock"] }`, plugins))
	h := startMcphost(t, dir, "start", "demo", "-c", config)
	h.call(1, "now")
	h.answer(1)
	stdout, stderr, code := runMcphost(t, dir, "call", "demo", "now", "-c", config)
	if want := fmt.Sprintf("another host has the data folder of this plugin; here it gets another: handle=demo pid=%d", h.cmd.Process.Pid); code != 0 || !strings.Contains(stdout, "UTC") || !strings.Contains(stderr, want) {
		t.Errorf("exit %d, %q, %q, want an answer and %q", code, stdout, stderr, want)
	}
	stdout, stderr, code = runMcphost(t, dir, "call", "demo", "now", "-c", config, "--state-dir", filepath.Join(dir, "other"))
	if code != 0 || !strings.Contains(stdout, "UTC") || strings.Contains(stderr, "another host") {
		t.Errorf("with a state folder of its own: exit %d, %q, %q", code, stdout, stderr)
	}
}
