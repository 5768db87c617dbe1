package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const green = `[{"id":"a","name":"A","status":"SUCCESS"},{"id":"i","status":"INFO"}]`

// judged lays out results as the suite does, by scenario, and judges them.
func judged(t *testing.T, r suiteRun, results map[string]string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("requirements/2026-07-28.yaml", "# a comment\n\nserver:\n  - tools-list\n  # why\n  - server-stateless\n\nclient:\n  - no\n")
	for name, checks := range results {
		write("out/server-"+name+"-2026-12-01T03-40-27-098Z/checks.json", checks)
	}
	s := &suite{required: filepath.Join(dir, "requirements")}
	rep := report{run: r}
	if err := s.judge(&rep, filepath.Join(dir, "out")); err != nil {
		return "", err
	}
	var out strings.Builder
	err := print(&out, []report{rep})
	return out.String(), err
}

func TestWhatFailsARun(t *testing.T) {
	required := suiteRun{name: "r", revision: "2026-07-28", scenarios: 2}
	tests := map[string]struct {
		run     suiteRun
		results map[string]string
		want    string // in the table; empty if the run passes
	}{
		"all green":          {required, map[string]string{"tools-list": green, "server-stateless": green}, ""},
		"extension fails":    {required, map[string]string{"tools-list": green, "server-stateless": green, "tasks-x": `[{"status":"FAILURE"}]`}, ""},
		"a failure":          {required, map[string]string{"tools-list": `[{"id":"x","status":"SUCCESS"},{"id":"b","status":"FAILURE","errorMessage":"no"}]`, "server-stateless": green}, "FAILURE b"},
		"a warning":          {required, map[string]string{"tools-list": `[{"id":"x","status":"SUCCESS"},{"id":"b","status":"WARNING"}]`, "server-stateless": green}, "WARNING b"},
		"nothing checked":    {required, map[string]string{"tools-list": `[{"status":"SKIPPED"}]`, "server-stateless": green}, "tools-list passed no check"},
		"one did not run":    {required, map[string]string{"tools-list": green, "other": green}, "server-stateless passed no check"},
		"fewer than before":  {suiteRun{name: "r", scenarios: 3}, map[string]string{"a": green, "b": green}, "2 scenarios ran, 3 were expected"},
		"substance avoided":  {suiteRun{name: "r"}, map[string]string{"server-session-lifecycle": green}, "server-session-terminated-returns-404 did not pass"},
		"the suite ran none": {suiteRun{name: "r"}, nil, "0 passed, 0 failed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			out, err := judged(t, test.run, test.results)
			if (err == nil) != (test.want == "") || !strings.Contains(out, test.want) {
				t.Errorf("got %v, want something with %q in\n%s", err, test.want, out)
			}
		})
	}
}

func TestResultsThatCannotBeReadAreAnError(t *testing.T) {
	if _, err := judged(t, suiteRun{}, map[string]string{"a": `{`}); err == nil {
		t.Error("no error")
	}
}

func TestReadyLine(t *testing.T) {
	for line, want := range map[string]string{
		`mcphost: ready url=http://127.0.0.1:41/mcp url=http://127.0.0.1:41/x`:                "http://127.0.0.1:41/mcp",
		`2026-12-01T03:00:00Z [INFO]  mcphost: serving: url="http://[::1]:41/mcp" endpoint=/`: "http://[::1]:41/mcp",
		`mcphost: curl=http://x`: "",
	} {
		got := ""
		if m := ready.FindStringSubmatch(line); m != nil {
			got = m[1]
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}
