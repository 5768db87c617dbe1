package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestKilledPluginIsAnErrorAndComesBack kills the plugin's process with a call
// in flight: the caller has an error within a second, the host lives on, and
// the next call works.
func TestKilledPluginIsAnErrorAndComesBack(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "config.hcl")
	text := fmt.Sprintf(`local "demo" { command = [%q] }`, filepath.Join(plugins, "plugin-everything"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	h := startMcphost(t, dir, "start", "demo", "-c", config)
	h.call(1, "test_simple_text")
	if got := h.answer(1); !strings.Contains(got, `"content"`) {
		t.Fatalf("first call: %s", got)
	}

	h.call(2, "test_reconnection") // takes more than a second
	killed := h.killPlugin()
	got := h.answer(2)
	if took := time.Since(killed); took > time.Second {
		t.Errorf("the error took %v", took)
	}
	if !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "incident") {
		t.Errorf("the call in flight got %s", got)
	}

	h.call(3, "test_simple_text")
	if got := h.answer(3); !strings.Contains(got, `"content"`) || strings.Contains(got, `"isError"`) {
		t.Errorf("the call after the crash got %s", got)
	}
	t.Logf("from kill -9 to the next answer: %v", time.Since(killed))
	h.in.Close()
	if err := h.cmd.Wait(); err != nil {
		t.Errorf("mcphost ended with %v", err)
	}
}

// An mcphost is a process of this very program, on a pipe.
type mcphost struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner

	closeOut func() error
}

func startMcphost(t *testing.T, home string, args ...string) *mcphost {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Args[0] = "mcphost" // what the test binary is when it is called so
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+filepath.Join(home, "state"))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(home, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("log:\n%s", text)
		}
		log.Close()
	})
	return &mcphost{t: t, cmd: cmd, in: in, out: bufio.NewScanner(out), closeOut: out.Close}
}

func (h *mcphost) call(id int, tool string) {
	h.t.Helper()
	_, err := fmt.Fprintf(h.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`+"\n", id, tool)
	if err != nil {
		h.t.Fatal(err)
	}
}

// answer returns the next line, which must answer id.
func (h *mcphost) answer(id int) string {
	h.t.Helper()
	if !h.out.Scan() {
		h.t.Fatalf("no answer to %d: %v", id, h.out.Err())
	}
	var m struct{ ID int }
	if err := json.Unmarshal(h.out.Bytes(), &m); err != nil || m.ID != id {
		h.t.Fatalf("got %s, want the answer to %d", h.out.Text(), id)
	}
	return h.out.Text()
}

// killPlugin kills the plugin's process and returns when.
func (h *mcphost) killPlugin() time.Time {
	h.t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		h.t.Fatal(err)
	}
	parents, names := make(map[int]int), make(map[int]string)
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it ended meanwhile
		}
		open, end := strings.IndexByte(string(text), '('), strings.LastIndexByte(string(text), ')')
		fields := strings.Fields(string(text[end+1:]))
		pid, _ := strconv.Atoi(strings.TrimSpace(string(text[:open])))
		parents[pid], _ = strconv.Atoi(fields[1])
		names[pid] = string(text[open+1 : end])
	}
	for pid, name := range names {
		for up := parents[pid]; up > 1; up = parents[up] {
			if up == h.cmd.Process.Pid && strings.HasPrefix(name, "plugin-everythi") {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					h.t.Fatal(err)
				}
				return time.Now()
			}
		}
	}
	h.t.Fatal("the plugin has no process")
	return time.Time{}
}

// TestClientThatClosesItsEndIsNoCrash ends the reading end of stdout: the host
// stops its plugins and says why it ends, rather than die of the signal.
func TestClientThatClosesItsEndIsNoCrash(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "config.hcl")
	text := fmt.Sprintf(`local "demo" { command = [%q] }`, filepath.Join(plugins, "plugin-everything"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	h := startMcphost(t, dir, "start", "demo", "-c", config)
	h.call(1, "test_simple_text")
	h.answer(1)
	if err := h.closeOut(); err != nil {
		t.Fatal(err)
	}
	h.call(2, "test_simple_text")
	err := h.cmd.Wait()
	log, readErr := os.ReadFile(filepath.Join(dir, "log"))
	if readErr != nil {
		t.Fatal(readErr)
	}
	if h.cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(log), "writing messages") {
		t.Errorf("mcphost ended with %v and said %s", err, log)
	}
}
