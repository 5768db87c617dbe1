//go:build linux

package plugin_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphost/mcphost/host/plugin"
	"github.com/mcphost/mcphost/host/primitive"
)

// hostVar makes the test binary a host that runs one plugin in the folder that
// it names, until it is killed.
const hostVar = "TEST_HOST"

// serveHost returns only if something went wrong.
func serveHost(dir string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	p := plugin.New(plugin.Options{
		Handle: "orphan", Command: []string{exe}, RunDir: filepath.Join(dir, "run"),
		Env: map[string]string{behaviourVar: "marked-grandchild", "PID_FILE": filepath.Join(dir, "grandchild")},
	})
	ctx := context.Background()
	if err := p.Start(ctx); err != nil {
		return err
	}
	r, err := p.CallTool(ctx, p.Catalog().Tools[0], &primitive.Use{Arguments: []byte(`{"do":"pid"}`)})
	if err != nil {
		return err
	}
	pid, _, _ := strings.Cut(r.Content[0].Text, " ")
	if err := os.WriteFile(filepath.Join(dir, "plugin.tmp"), []byte(pid), 0o600); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(dir, "plugin.tmp"), filepath.Join(dir, "plugin")); err != nil {
		return err
	}
	select {}
}

func TestKilledHostLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	host := exec.Command(exe)
	host.Env = append(os.Environ(), hostVar+"="+dir)
	host.Stderr = os.Stderr
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the plugin", func() bool { _, err := os.Stat(filepath.Join(dir, "plugin")); return err == nil })
	child, grandchild := readPID(t, filepath.Join(dir, "plugin")), readPID(t, filepath.Join(dir, "grandchild"))
	run := filepath.Join(dir, "run")
	if err := plugin.Sweep(run, hclog.NewNullLogger()); err != nil {
		t.Fatal(err)
	}
	if !alive(child) || !alive(grandchild) {
		t.Fatal("the sweep took what belongs to a host that lives")
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait()
	wantGone(t, child) // by PDEATHSIG
	if !alive(grandchild) {
		t.Fatal("the grandchild is gone before the sweep, so this tests nothing")
	}
	if err := plugin.Sweep(run, hclog.NewNullLogger()); err != nil {
		t.Fatal(err)
	}
	wantGone(t, grandchild)
	if left, err := os.ReadDir(run); err != nil || len(left) > 0 {
		t.Errorf("left in the run directory: %v %v", left, err)
	}
}

func TestSweepOfNothing(t *testing.T) {
	t.Parallel()
	if err := plugin.Sweep(filepath.Join(t.TempDir(), "none"), hclog.NewNullLogger()); err != nil {
		t.Error(err)
	}
}
