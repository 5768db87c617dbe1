package config_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphost/mcphost/host/config"
)

var update = flag.Bool("update", false, "rewrite the .diag files")

// Each NAME.hcl has its complaints in NAME.diag. Comments at its top set what
// is outside: "# env: NAME=VALUE" and "# var: NAME=VALUE". If there is a
// NAME.schema.json, it is what every plugin of the file declares.
func TestDiagnosticsAsPrinted(t *testing.T) {
	files, err := filepath.Glob("testdata/*.hcl*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no testdata: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".json"), ".hcl")
		t.Run(name, func(t *testing.T) {
			got := printed(t, file, "testdata/"+name+".schema.json")
			golden := "testdata/" + name + ".diag"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", golden, diff)
			}
			if strings.Contains(got, "hunter") {
				t.Error("the diagnostics show a secret")
			}
		})
	}
}

func printed(t *testing.T, file, schemaFile string) string {
	t.Helper()
	cfg, diags := config.Load([]string{file}, options(t, file))
	if schema, err := os.ReadFile(schemaFile); err == nil {
		if cfg == nil {
			t.Fatalf("not loaded: %s", diags)
		}
		for _, p := range cfg.Plugins {
			value, more := p.DecodeConfig(schema)
			if (value == nil) != more.HasErrors() {
				t.Errorf("value %v with diagnostics %v", value, more)
			}
			diags.Append(more...)
		}
	}
	if len(diags.All()) == 0 {
		t.Error("nothing is wrong with it")
	}
	var b strings.Builder
	// Not wrapped: where a line breaks depends on the folder of the checkout.
	if err := diags.Write(&b, 0, false); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(b.String(), abs(t, "testdata"), "DIR")
}

// options are those at the top of a file.
func options(t *testing.T, file string) config.Options {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": "/home/operator", "PATH": abs(t, "testdata/bin")}
	opts := config.Options{Vars: map[string]string{}, Builtins: []string{"exec", "http", "mcp"}}
	for line := range strings.Lines(string(src)) {
		if pair, ok := strings.CutPrefix(line, "# env: "); ok {
			name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
			env[name] = value
		}
		if pair, ok := strings.CutPrefix(line, "# var: "); ok {
			name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
			opts.Vars[name] = value
		}
	}
	opts.Env = lookupIn(env)
	return opts
}

func lookupIn(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}
}

func abs(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
