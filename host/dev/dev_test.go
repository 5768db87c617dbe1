package dev_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/mcphost/mcphost/host/config"
	"github.com/mcphost/mcphost/host/dev"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// folder makes a folder called name with these files, all executable.
func folder(t *testing.T, name string, files ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	for _, file := range files {
		file, text, _ := strings.Cut(file, "=")
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestConventionSaysWhatToRun(t *testing.T) {
	tests := map[string]struct {
		files   []string
		command string // with {dir} and {scratch}; empty: it is no plugin
		own     bool   // the folder belongs to the plugin
	}{
		"Go":               {[]string{"main.go"}, "{scratch}/my-plugin", false},
		"Python":           {[]string{"plugin.py"}, "{bin}/python3 {dir}/plugin.py", true},
		"Python in a venv": {[]string{"plugin.py", ".venv/bin/python3"}, "{dir}/.venv/bin/python3 {dir}/plugin.py", true},
		"Node":             {[]string{"package.json={\"main\":\"src/a.mjs\"}", "src/a.mjs"}, "{bin}/node {dir}/src/a.mjs", true},
		"Node by default":  {[]string{"package.json={}", "index.js"}, "{bin}/node {dir}/index.js", true},
		"a program":        {[]string{"plugin"}, "{dir}/plugin", true},
		"a shell script":   {[]string{"plugin.sh"}, "{dir}/plugin.sh", true},
		"nothing":          {[]string{"readme"}, "", false},
	}
	bin := folder(t, "bin", "python3", "node")
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir, scratch := folder(t, "my plugin", test.files...), t.TempDir()
			p, err := dev.Open(dir, scratch)
			if test.command == "" {
				if err == nil {
					t.Fatalf("got %+v", p)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			// What the go command would leave there.
			if err := os.WriteFile(filepath.Join(scratch, p.Name), nil, 0o700); err != nil {
				t.Fatal(err)
			}
			paths, err := p.WriteConfig([]string{p.Name})
			if err != nil {
				t.Fatal(err)
			}
			env := func(name string) (string, bool) { return bin, name == "PATH" }
			cfg, diags := config.Load(paths, config.Options{Env: env})
			if len(diags.All()) > 0 {
				t.Fatal(diags)
			}
			want := strings.Split(strings.NewReplacer("{dir}", dir, "{scratch}", scratch, "{bin}", bin).Replace(strings.ReplaceAll(test.command, " ", "\x00")), "\x00")
			got := cfg.Plugins[0]
			if diff := cmp.Diff(want, got.Command); diff != "" || got.Handle != "my-plugin" || len(cfg.Webs) != 1 {
				t.Errorf("plugin %q, command (-want +got):\n%s", got.Handle, diff)
			}
			if own := len(got.Files) == 1 && got.Files[0] == dir; own != test.own {
				t.Errorf("files %q", got.Files)
			}
		})
	}
}

func TestNothingInAPathIsATemplate(t *testing.T) {
	dir := folder(t, `a${"b"}%{c}\"d`, "plugin")
	p, err := dev.Open(dir, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	paths, err := p.WriteConfig(nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg, diags := config.Load(paths, config.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if got := cfg.Plugins[0].Command[0]; got != filepath.Join(dir, "plugin") {
		t.Errorf("command %q", got)
	}
}

func TestChangesOfSourcesAreTold(t *testing.T) {
	dir := folder(t, "p", "plugin.py", "lib/a.py", "node_modules/b.js", ".git/c")
	p, err := dev.Open(dir, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{dir, filepath.Join(dir, "lib")}, p.Sources(t.Context())); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
	w, err := p.Watch(context.WithoutCancel(t.Context()), hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "lib", "a.py"), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	<-w.Changes
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

func TestABuildThatFailsSaysWhy(t *testing.T) {
	dir, scratch := folder(t, "p", "main.go=package main\nfunc main() { nonsense() }\n", "go.mod=module p\ngo 1.26\n"), t.TempDir()
	p, err := dev.Open(dir, scratch)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Build(t.Context()); err == nil || !strings.Contains(err.Error(), "undefined: nonsense") {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
