//go:build linux

package plugin_test

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphost/mcphost/host/plugin"
)

// A fakeLauncher confines nothing and does what the test says.
type fakeLauncher struct {
	prepare error
	started func(context.Context) error
	killed  string
	dirs    plugin.Dirs
	closes  atomic.Int32
	cmd     *exec.Cmd
}

func (f *fakeLauncher) Prepare(cmd *exec.Cmd, dirs plugin.Dirs) (plugin.Launched, error) {
	f.cmd, f.dirs = cmd, dirs
	return f, f.prepare
}
func (f *fakeLauncher) Start() error   { return f.cmd.Start() }
func (f *fakeLauncher) Killed() string { return f.killed }
func (f *fakeLauncher) Close() error   { f.closes.Add(1); return nil }
func (f *fakeLauncher) Started(ctx context.Context) error {
	if f.started == nil {
		return nil
	}
	return f.started(ctx)
}

func TestLauncherDecides(t *testing.T) {
	t.Parallel()
	never := errors.New("no Landlock here")
	tests := map[string]struct {
		launcher  *fakeLauncher
		command   string
		permanent bool
		closes    int32
		want      string
	}{
		"cannot confine":  {launcher: &fakeLauncher{prepare: never}, permanent: true, want: "confining the plugin: no Landlock here"},
		"did not confine": {launcher: &fakeLauncher{started: func(context.Context) error { return never }}, permanent: true, closes: 1, want: "confining the plugin: no Landlock here"},
		"says nothing": {
			launcher: &fakeLauncher{started: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}, closes: 1,
			want: "context deadline exceeded",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, _ := commandOptions(t, script(t, "#!/bin/sh\nsleep 30\n"))
			o.Launcher, o.StartTimeout = test.launcher, time.Second
			err := startFails(t, o)
			wantContains(t, "error", err.Error(), test.want)
			if got := plugin.Permanent(err); got != test.permanent {
				t.Errorf("Permanent(%v) = %v, want %v", err, got, test.permanent)
			}
			if n := test.launcher.closes.Load(); n != test.closes {
				t.Errorf("closed %d times, want %d", n, test.closes)
			}
		})
	}
}

func TestLauncherSeesTheFoldersAndSaysWhyItKilled(t *testing.T) {
	t.Parallel()
	o, log := options(t, "good")
	f := &fakeLauncher{killed: "it used more than 64 MiB"}
	o.Launcher = f
	p := start(t, o)
	if f.dirs.Socket == "" || !strings.HasPrefix(f.dirs.Socket, f.dirs.Private+"/") || !strings.HasPrefix(f.dirs.Work, f.dirs.Private+"/") {
		t.Errorf("got folders %+v", f.dirs)
	}
	if _, err := call(t.Context(), t, p, `{"do":"exit"}`); err == nil {
		t.Fatal("got no error")
	}
	eventually(t, "the report", func() bool { return strings.Contains(log.String(), "it used more than 64 MiB") })
	shut(t, p)
	if f.closes.Load() == 0 {
		t.Error("the launcher was not closed")
	}
}
