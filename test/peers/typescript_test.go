package peers

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestTypeScript drives a host with the official clients: v2 in both lineages
// and every revision, v1, which speaks legacy alone, as it is.
func TestTypeScript(t *testing.T) {
	w := serve(t, "examples/everything.hcl")
	proxy := w.proxy(t)
	tests := []struct{ client, transport, revision string }{
		{"v2", "stdio", r2026},
		{"v2", "stdio", r2511},
		{"v2", "http", r2026},
		{"v2", "http", r2511},
		{"v2", "http", r2506},
		{"v2", "http", r2503},
		{"v2", "sse", r2024},
		{"v1", "stdio", r2511},
		{"v1", "http", r2511},
		{"v1", "sse", r2511},
	}
	for _, test := range tests {
		t.Run(test.client+"/"+test.transport+"/"+test.revision, func(t *testing.T) {
			t.Parallel()
			var target any
			switch test.transport {
			case "stdio":
				target = tappedParameters(t)
			case "sse":
				target = proxy + "/sse"
			default:
				target = proxy
			}
			text, err := json.Marshal(target)
			if err != nil {
				t.Fatal(err)
			}
			path := script(t, test.client+".mjs")
			common, err := os.ReadFile("npm/common.mjs")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(filepath.Dir(path), "common.mjs"), common, 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := exec.CommandContext(t.Context(), "node", path, test.transport, string(text), test.revision).CombinedOutput()
			want(t, out, "done "+test.revision)
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// tappedParameters are those of a TypeScript stdio transport.
func tappedParameters(t *testing.T) any {
	t.Helper()
	cmd := tappedHost(t, "start", "everything", "-c", filepath.Join(house, "examples/everything.hcl"))
	env := map[string]string{}
	for _, entry := range cmd.Env[len(os.Environ()):] {
		for i := range entry {
			if entry[i] == '=' {
				env[entry[:i]] = entry[i+1:]
				break
			}
		}
	}
	return map[string]any{"command": cmd.Path, "args": cmd.Args[1:], "env": env}
}
