package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/mcphost/mcphost/host/sandbox"
)

// TestAnInterpreterOfAVenvBegins has a venv whose interpreter is a link to a
// link to one outside of the system's folders, as pyenv and uv have them.
func TestAnInterpreterOfAVenvBegins(t *testing.T) {
	for way, spaces := range ways {
		t.Run(way, func(t *testing.T) {
			dir := folder(t)
			for _, sub := range []string{"venv/bin", "shared", "real/bin", "real/lib/python3.11", "real/lib/other"} {
				if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			probe, err := os.ReadFile(probePath(t))
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{
				"real/bin/python3.11": string(probe), "real/lib/python3.11/os.py": "os", "real/lib/other/f": "f", "real/bin/f": "f",
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			for name, target := range map[string]string{"shared/python3": "../real/bin/python3.11", "venv/bin/python3": dir + "/shared/python3"} {
				if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			own := folder(t)
			socket := filepath.Join(own, "s")
			policy := spaces(t, sandbox.Policy{Files: []string{dir + "/venv"}, Folders: []string{own}})
			running, err := serve(t.Context(), exec.Command(dir+"/venv/bin/python3", "serve", socket), policy, sandbox.Options{}, socket)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(running.stop)
			expect(t, running, "try read "+dir+"/real/lib/python3.11/os.py", "reached")
			expect(t, running, "try read "+dir+"/real/lib/other/f", "denied")
			expect(t, running, "try read "+dir+"/real/bin/f", "denied")
		})
	}
}
