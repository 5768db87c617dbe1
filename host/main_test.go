//go:build linux

package host_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/mcphost/mcphost/host/sandbox"
)

// actors is a folder with the plugin of the tests, as actor-v1 and actor-v2.
var actors string

func TestMain(m *testing.M) {
	if code, launched := sandbox.Main(); launched {
		os.Exit(code)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "mcphost-actors")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	actors = dir
	for _, v := range []string{"v1", "v2"} {
		build := exec.Command("go", "build", "-ldflags", "-X main.version="+v, "-o", filepath.Join(dir, "actor-"+v), "./testdata/actor")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "building the plugin: %v\n%s", err, out)
			return 1
		}
	}
	code := m.Run()
	if err := goleak.Find(goleak.IgnoreTopFunction("github.com/mcphost/mcphost/host/sandbox.forkForever")); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
