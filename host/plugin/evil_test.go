//go:build linux

package plugin_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcphost/mcphost/host/plugin"
	"github.com/mcphost/mcphost/host/primitive"
)

func TestEvilPluginsServeAllTheSame(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"pollute", "json-panic", "stderr-flood", "stdout-flood", "no-controller"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, log := options(t, name)
			p := start(t, o)
			if got := mustText(t, p, `{}`); got != "ok" {
				t.Errorf("got %q, want ok", got)
			}
			if name == "json-panic" {
				wantContains(t, "log", log.String(), "[ERROR] plugin.stderr: from a plugin: handle=test plugin.n=12")
			}
			if n := len(log.String()); n > 1<<20 {
				t.Errorf("the log has %d bytes, want the flood to be held back", n)
			}
		})
	}
}

func TestStopIsBounded(t *testing.T) {
	t.Parallel()
	tests := map[string]func(t *testing.T, p *plugin.Plugin, o plugin.Options){
		"good":              nil,
		"hung-shutdown":     nil,
		"grandchild":        nil,
		"marked-grandchild": nil,
		"stopped": func(t *testing.T, p *plugin.Plugin, _ plugin.Options) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			_, err := call(ctx, t, p, `{"do":"stop"}`)
			wantFailure(t, err, primitive.TimedOut)
		},
	}
	for name, before := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, _ := options(t, name)
			pidFile := filepath.Join(t.TempDir(), "pid")
			o.Env["PID_FILE"] = pidFile
			p := start(t, o)
			pid := processOf(t, p)
			if before != nil {
				before(t, p, o)
			}
			within(t, 4*time.Second, "the stop", func() { shut(t, p) })
			wantGone(t, pid)
			switch child := readPID(t, pidFile); name {
			case "grandchild": // it left the group and its mark: only a sandbox holds it
				if err := syscall.Kill(child, syscall.SIGKILL); err != nil {
					t.Error(err)
				}
			case "marked-grandchild":
				wantGone(t, child)
			}
		})
	}
}

// processOf returns the pid of p's process.
func processOf(t *testing.T, p *plugin.Plugin) int {
	t.Helper()
	// By a tool that is called again if the process ends meanwhile.
	r, err := p.CallTool(t.Context(), tool(t, p, "safe"), &primitive.Use{Caller: caller(), Arguments: []byte(`{"do":"pid"}`)})
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(r.Content[0].Text, " ")
	pid, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func readPID(t *testing.T, path string) int {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(string(b))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func wantGone(t *testing.T, pid int) {
	t.Helper()
	eventually(t, "the end of process "+strconv.Itoa(pid), func() bool { return !alive(pid) })
}

// alive reports whether pid runs; a zombie does not.
func alive(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(b), ") Z ")
}

func TestMalformedAnswersAreRefused(t *testing.T) {
	t.Parallel()
	o, _ := options(t, "good")
	p := start(t, o)
	fields := []string{
		"structured_json", "meta_json", "result_json", "content_json", "content.annotations_json", "content.meta_json",
		"link.definition_json", "link.icons_json", "resource.meta_json", "params_json", "error.data_json",
	}
	for _, field := range fields {
		for name, value := range map[string]string{"cut off": `{"a":`, "not UTF-8": "{\\\"\\u0000", "two values": `{} {}`, "no JSON": `undefined`} {
			_, err := call(t.Context(), t, p, `{"do":"`+field+`","json":`+strconv.Quote(value)+`}`)
			if err == nil {
				t.Errorf("%s, %s: got no error", field, name)
				continue
			}
			wantFailure(t, err, primitive.InvalidResult)
		}
	}
	for _, field := range []string{"meta_json", "result_json", "content_json", "content.annotations_json", "params_json"} {
		_, err := call(t.Context(), t, p, `{"do":"`+field+`","json":"[1]"}`)
		if wantFailure(t, err, primitive.InvalidResult); t.Failed() {
			t.Fatalf("%s took an array", field)
		}
	}
	for _, do := range []string{"no-outcome", "no-kind"} {
		_, err := call(t.Context(), t, p, `{"do":"`+do+`"}`)
		wantFailure(t, err, primitive.InvalidResult)
	}
}

func TestAnswersComeOnOneLine(t *testing.T) {
	t.Parallel()
	o, _ := options(t, "good")
	r, err := call(t.Context(), t, start(t, o), `{"do":"structured_json","json":"{\n \"a\": 1.0\r\n}"}`)
	if err != nil || string(r.Structured) != `{ "a": 1.0}` {
		t.Errorf("got %q %v", r.Structured, err)
	}
}

func TestFailuresAreTranslated(t *testing.T) {
	t.Parallel()
	o, _ := options(t, "good")
	p := start(t, o)
	_, err := call(t.Context(), t, p, `{"do":"status"}`)
	if e := wantFailure(t, err, primitive.InvalidArguments); e.Detail != "x must be�[0m positive" {
		t.Errorf("got detail %q", e.Detail)
	}
	_, err = call(t.Context(), t, p, `{"do":"error.data_json","json":"{\"a\":1}"}`)
	if e := wantFailure(t, err, primitive.Foreign); e.Code != -32000 || e.Detail != "no" || string(e.Data) != `{"a":1}` {
		t.Errorf("got %+v", e)
	}
	_, err = call(t.Context(), t, p, `{"do":"big"}`)
	wantFailure(t, err, primitive.TooLarge)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = call(ctx, t, p, `{"do":"hang"}`)
	wantFailure(t, err, primitive.TimedOut)
	if got := mustText(t, p, `{}`); got != "ok" {
		t.Errorf("got %q, want ok", got)
	}
}

func TestToolTimeoutBoundsACall(t *testing.T) {
	t.Parallel()
	o, _ := options(t, "good")
	p := start(t, o)
	quick := *tool(t, p, "echo")
	quick.Timeout = 100 * time.Millisecond
	_, err := p.CallTool(t.Context(), &quick, &primitive.Use{Caller: caller(), Arguments: []byte(`{"do":"hang"}`)})
	wantFailure(t, err, primitive.TimedOut)
}
