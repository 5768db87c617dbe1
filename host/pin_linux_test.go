package host_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcphost/mcphost/host"
	"github.com/mcphost/mcphost/host/integrity"
)

const actorBlock = `plugin "actor" {
  ACTOR
}
local "demo" { plugins = ["actor"] }`

// lock accepts what is in the folder now.
func (st *stage) lock() {
	st.t.Helper()
	cfg, _ := st.load()
	h, err := host.New(cfg, host.Options{StateDir: filepath.Join(st.dir, "state")})
	if err != nil {
		st.t.Fatal(err)
	}
	defer func() {
		if err := h.Close(st.t.Context()); err != nil {
			st.t.Error(err)
		}
	}()
	var handles []string
	for _, p := range cfg.Plugins {
		handles = append(handles, p.Handle)
	}
	found, diags := h.Survey(st.t.Context(), handles)
	if diags.HasErrors() {
		st.t.Fatal(diags)
	}
	if err := (*integrity.Lock)(nil).Accept(found, true).Write(host.LockPath(cfg)); err != nil {
		st.t.Fatal(err)
	}
}

// newLockedStage returns a folder with what text says, locked, and no host yet.
func newLockedStage(t *testing.T, text string) *stage {
	t.Helper()
	st := &stage{t: t, dir: t.TempDir()}
	st.install("v1")
	st.write(text)
	st.lock()
	return st
}

func TestLockedPluginRunsFromACopyThatGoes(t *testing.T) {
	st := newLockedStage(t, actorBlock)
	st.start(demo)
	if got, want := say(t, st.client(), "echo"), "1 v1"; !strings.HasPrefix(got, want) {
		t.Errorf("the tool says %q, want %q", got, want)
	}
	exe, err := os.Readlink(childExe(t, st.plugin("actor").PID))
	if copies := filepath.Join(st.dir, "state", "copies"); err != nil || !strings.HasPrefix(exe, copies) || !strings.HasSuffix(exe, "/actor") {
		t.Errorf("it runs from %q, %v; want a copy below %q", exe, err, copies)
	}
	st.stop()
	left, err := os.ReadDir(filepath.Join(st.dir, "state", "copies"))
	if err != nil || len(left) != 0 {
		t.Errorf("the host left %v, %v; want nothing", left, err)
	}
}

// childExe returns the link to the program of the plugin, which is the
// process itself or the child of the sandbox's init.
func childExe(t *testing.T, pid int) string {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(text), "\nPPid:\t"+strconv.Itoa(pid)+"\n") {
			return filepath.Join(filepath.Dir(file), "exe")
		}
	}
	return filepath.Join("/proc", strconv.Itoa(pid), "exe")
}

func TestChangedProgramIsRefusedForGood(t *testing.T) {
	st := newLockedStage(t, actorBlock)
	st.install("v2")
	st.start(demo)
	if got := say(t, st.client(), "echo"); strings.HasPrefix(got, "1 v2") {
		t.Errorf("a changed program ran and said %q", got)
	}
	if p := st.plugin("actor"); p.State != "failed" || p.Restarts != 0 {
		t.Errorf("the plugin is %+v, want failed and never started", p)
	}
	log := st.log.String()
	for _, want := range []string{"expected sha256", "got ", "config.hcl:1)", "mcphost lock"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not say %q", want)
		}
	}
	// What is meant is accepted, and the reload takes it.
	st.lock()
	st.mustReload(actorBlock)
	if got, want := say(t, st.client(), "echo"), "1 v2"; !strings.HasPrefix(got, want) {
		t.Errorf("after mcphost lock the tool says %q, want %q", got, want)
	}
}

func TestProgramThatChangedWhileItRanIsNotStartedAgain(t *testing.T) {
	st := newLockedStage(t, actorBlock)
	st.start(demo)
	c := st.client()
	if got := say(t, c, "echo"); !strings.HasPrefix(got, "1 v1") {
		t.Fatalf("the tool says %q", got)
	}
	st.install("v2")
	if err := syscall.Kill(st.plugin("actor").PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for range 100 { // the first calls may meet the end of the process
		if st.plugin("actor").State == "failed" {
			break
		}
		if got := say(t, c, "echo"); strings.HasPrefix(got, "1 v2") {
			t.Fatalf("a changed program ran and said %q", got)
		}
	}
	if p := st.plugin("actor"); p.State != "failed" || p.Restarts != 0 {
		t.Errorf("the plugin is %+v, want failed after one start", p)
	}
}

func TestDigestInTheConfigurationIsEnough(t *testing.T) {
	text := strings.Replace(actorBlock, "ACTOR", "ACTOR\n sha256 = \""+strings.Repeat("0", 64)+"\"\n", 1)
	st := &stage{t: t, dir: t.TempDir()}
	st.install("v1")
	st.write(text)
	st.start(demo)
	if p := st.plugin("actor"); p.State != "failed" || !strings.Contains(st.log.String(), "config.hcl:3)") {
		t.Errorf("the plugin is %+v, want failed with the line of sha256", p)
	}
}

// TestSwappedBytesNeverRun starts the plugin again and again while its program
// is swapped for another and back, as fast as that goes.
func TestSwappedBytesNeverRun(t *testing.T) {
	st := newLockedStage(t, actorBlock)
	swap := newSwapper(t, filepath.Join(st.dir, "actor"))
	defer swap.stop()
	ran, refused := 0, 0
	// A machine may be so regular that one of the two never comes first.
	for range 100 {
		if ran >= 8 && refused >= 3 {
			break
		}
		st.start(demo)
		switch got := say(t, st.client(), "echo"); {
		case strings.HasPrefix(got, "1 v1"):
			ran++
		case strings.HasPrefix(got, "1 v2"):
			t.Fatalf("the swapped bytes ran, after %d good starts and %d refusals", ran, refused)
		case strings.Contains(st.log.String(), "expected sha256"):
			refused++
		default:
			t.Fatalf("the plugin did not start for another reason: %q", got)
		}
		st.stop()
	}
	t.Logf("%d starts ran what was accepted, %d were refused", ran, refused)
	if ran == 0 || refused == 0 {
		t.Errorf("%d starts ran and %d were refused; want some of each, or nothing was tried", ran, refused)
	}
}

// A swapper swaps a program for the other version and back.
type swapper struct {
	end  chan struct{}
	once sync.Once
	wg   sync.WaitGroup
}

func newSwapper(t *testing.T, path string) *swapper {
	t.Helper()
	s := &swapper{end: make(chan struct{})}
	var programs [2]string
	for i, v := range []string{"v2", "v1"} {
		programs[i] = path + "-" + v
		b, err := os.ReadFile(filepath.Join(actors, "actor-"+v))
		if err == nil {
			err = os.WriteFile(programs[i], b, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s.wg.Go(func() { // ends by stop
		for i := 0; ; i++ {
			select {
			case <-s.end:
				return
			default:
			}
			err := os.Link(programs[i%2], path+".next")
			if err == nil {
				err = os.Rename(path+".next", path)
			}
			if err != nil {
				t.Errorf("swapping: %v", err)
				return
			}
		}
	})
	return s
}

func (s *swapper) stop() {
	s.once.Do(func() { close(s.end) })
	s.wg.Wait()
}

func TestDefinitionsThatAreNotLockedAreQuarantined(t *testing.T) {
	more := strings.Replace(actorBlock, "ACTOR", "ACTOR\n env = { TOOL = \"later\" }\n", 1)
	t.Run("at start", func(t *testing.T) {
		st := newLockedStage(t, actorBlock)
		st.write(more)
		st.start(demo)
		quarantined(t, st)
	})
	t.Run("from the cache", func(t *testing.T) {
		st := newLockedStage(t, actorBlock)
		st.write(more)
		st.start(demo)
		st.stop()
		st.start(demo)
		quarantined(t, st)
	})
	t.Run("at reload", func(t *testing.T) {
		st := newLockedStage(t, actorBlock)
		st.start(demo)
		st.mustReload(more)
		quarantined(t, st)
		st.lock()
		st.mustReload(more)
		if got := names(t, st.client()); got != "echo later" {
			t.Errorf("once it is locked, the tools are %q, want both", got)
		}
	})
	t.Run("with another plugin locked", func(t *testing.T) {
		st := newLockedStage(t, strings.ReplaceAll(actorBlock, "actor\"", "other\""))
		st.write(more)
		st.start(demo)
		if got := names(t, st.client()); got != "echo later" {
			t.Errorf("a plugin that the lock file does not know has the tools %q, want all", got)
		}
	})
}

// TestToolsThatComeWhileItRunsAreQuarantined lets a plugin add a tool to its
// list, with a lock file and without.
func TestToolsThatComeWhileItRunsAreQuarantined(t *testing.T) {
	program := filepath.Join(t.TempDir(), "everything")
	if out, err := exec.Command("go", "build", "-o", program, "../plugins/everything").CombinedOutput(); err != nil {
		t.Fatalf("building the plugin: %v\n%s", err, out)
	}
	text := strings.Replace(actorBlock, "ACTOR", `command = ["`+program+`"]`, 1)
	comes := func(st *stage) bool { return strings.Contains(names(t, st.client()), "test_transient_tool") }
	told := func(st *stage) bool { return strings.Contains(st.log.String(), "tool=test_transient_tool") }
	for name, locked := range map[string]bool{"locked": true, "unlocked": false} {
		t.Run(name, func(t *testing.T) {
			st := &stage{t: t, dir: t.TempDir()}
			st.write(text)
			if locked {
				st.lock()
			}
			st.start(demo)
			if _, err := st.client().CallTool(t.Context(), "test_trigger_tool_change", []byte("{}"), func(string, []byte) {}); err != nil {
				t.Fatal(err)
			}
			deadline, tick := time.After(wait), time.NewTicker(10*time.Millisecond)
			defer tick.Stop()
			for !comes(st) && !told(st) {
				select {
				case <-tick.C:
				case <-deadline:
					t.Fatal("nobody noticed the new tool")
				}
			}
			if comes(st) == locked || told(st) != locked {
				t.Errorf("listed: %t, named in the log as quarantined: %t", comes(st), told(st))
			}
		})
	}
}

func quarantined(t *testing.T, st *stage) {
	t.Helper()
	c := st.client()
	if got := names(t, c); got != "echo" {
		t.Errorf("the tools are %q, want only the locked one", got)
	}
	if got := say(t, c, "later"); !strings.Contains(got, "unknown tool") {
		t.Errorf("calling the other one says %q", got)
	}
	if log := st.log.String(); !strings.Contains(log, "quarantined") || !strings.Contains(log, "tool=later") {
		t.Error("the log does not name it")
	}
}

func TestDamagedLockFileStopsNothingThatRuns(t *testing.T) {
	st := newLockedStage(t, actorBlock)
	st.start(demo)
	if err := os.WriteFile(filepath.Join(st.dir, integrity.LockName), []byte("plugin {"), 0o600); err != nil {
		t.Fatal(err)
	}
	if diags := st.reload(actorBlock); !strings.Contains(diags.String(), "reading the lock file") {
		t.Errorf("the reload says %q, want what is wrong with the lock file", diags)
	}
	if got := say(t, st.client(), "echo"); !strings.HasPrefix(got, "1 v1") {
		t.Errorf("after that, the tool says %q", got)
	}
	st.stop()
	st.start(demo)
	if got := say(t, st.client(), "echo"); strings.HasPrefix(got, "1 v1") {
		t.Errorf("a plugin was started without knowing what is accepted; it said %q", got)
	}
}

// TestScriptsArePinned runs the plugin by a script that finds it beside itself.
func TestScriptsArePinned(t *testing.T) {
	tests := map[string]string{
		"program with files": `command = ["./plugin.sh"]
 files = ["./lib"]`,
		"interpreter": `command = ["sh", "./plugin.sh"]
 files = ["./plugin.sh", "./lib"]`,
		"all in one folder": `command = ["./plugin.sh"]
 files = ["."]`,
	}
	for name, command := range tests {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(actorBlock, "ACTOR", "\n "+command+"\n", 1)
			st := &stage{t: t, dir: t.TempDir()}
			home := filepath.Join(st.dir, "home")
			for path, from := range map[string]string{"plugin.sh": "", "lib/actor": "actor-v1"} {
				body := []byte("#!/bin/sh\nexec \"${0%/*}/lib/actor\" \"$@\"\n")
				if from != "" {
					var err error
					if body, err = os.ReadFile(filepath.Join(actors, from)); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.MkdirAll(filepath.Dir(filepath.Join(home, path)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(home, path), body, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			text = strings.NewReplacer(`"./`, `"./home/`, `"."`, `"./home"`).Replace(text)
			st.write(text)
			st.lock()
			st.start(demo)
			if got, want := say(t, st.client(), "echo"), "1 v1"; !strings.HasPrefix(got, want) {
				t.Fatalf("the tool says %q, want %q", got, want)
			}
			st.stop()
			f, err := os.OpenFile(filepath.Join(home, "lib", "actor"), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteString("\n"); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			st.start(demo)
			if p := st.plugin("actor"); p.State != "failed" || !strings.Contains(st.log.String(), "its files changed") {
				t.Errorf("with another file the plugin is %+v, want failed", p)
			}
		})
	}
}
