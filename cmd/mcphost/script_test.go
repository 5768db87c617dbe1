package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcphost/mcphost/host/sandbox"
)

// plugins is a folder with the bundled plugins, built for the tests.
var plugins string

func TestMain(m *testing.M) {
	if code, launched := sandbox.Main(); launched {
		os.Exit(code)
	}
	testscript.Main(run1{m}, map[string]func(){"mcphost": main})
}

// run1 builds the plugins before the tests and removes them after.
type run1 struct{ m *testing.M }

func (r run1) Run() int {
	dir, err := os.MkdirTemp("", "mcphost-script")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	plugins = dir
	for _, name := range []string{"clock", "files", "everything"} {
		build := exec.Command("go", "build", "-o", filepath.Join(dir, "plugin-"+name), "../../plugins/"+name)
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "building plugin %s: %v\n%s", name, err, out)
			return 1
		}
	}
	return r.m.Run()
}

// TestScript runs the command as a person would: real binary, real plugins.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/script",
		Cmds: scriptCommands,
		Setup: func(e *testscript.Env) error {
			e.Setenv("PLUGINS", plugins)
			// For scripts that build plugins.
			repo, err := filepath.Abs("../..")
			if err != nil {
				return err
			}
			e.Setenv("REPO", repo)
			for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
				value, err := exec.Command("go", "env", name).Output()
				if err != nil {
					return err
				}
				e.Setenv(name, strings.TrimSpace(string(value)))
			}
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, "state"))
			return nil
		},
	})
}
