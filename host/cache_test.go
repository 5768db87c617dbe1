//go:build linux

package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const lazy = `local "demo" {
  ACTOR
  start = "lazy"
  env = { WORD = "one", TOOL = "" }
}`

// catalogs returns the files of the cache.
func (st *stage) catalogs() []string {
	st.t.Helper()
	list, err := filepath.Glob(filepath.Join(st.dir, "state", "catalogs", "*.catalog"))
	if err != nil {
		st.t.Fatal(err)
	}
	return list
}

func TestACachedCatalogNeedsNoProcess(t *testing.T) {
	st := newStage(t, demo, lazy)
	if got := names(t, st.client()); got != "echo" || len(st.catalogs()) != 1 {
		t.Fatalf("tools %q, cached %v", got, st.catalogs())
	}
	st.stop()
	st.start(demo)
	c := st.client()
	if got := names(t, c); got != "echo" {
		t.Errorf("tools %q", got)
	}
	if s := st.plugin("demo"); s.PID != 0 || s.State != "stopped" {
		t.Errorf("before a call: %+v", s)
	}
	if got := say(t, c, "echo"); got != "1 v1 one " || st.plugin("demo").PID == 0 {
		t.Errorf("got %q", got)
	}
}

func TestProcessesComeBehindCachedCatalogs(t *testing.T) {
	eager := strings.Replace(lazy, "lazy", "eager", 1)
	st := newStage(t, demo, eager)
	st.stop()
	st.start(demo)
	if got := names(t, st.client()); got != "echo" {
		t.Errorf("tools %q", got)
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	late := time.After(wait)
	for st.plugin("demo").State != "ready" { // nobody calls it
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("no process came: %+v", st.plugin("demo"))
		}
	}
}

func TestAnotherProgramOrConfigurationIsAnotherCatalog(t *testing.T) {
	tests := map[string]func(st *stage){
		"program":  func(st *stage) { st.install("v2") },
		"argument": func(st *stage) { st.write(strings.Replace(lazy, "ACTOR", `command = ["./actor", "x"]`, 1)) },
		"config":   func(st *stage) { st.write(strings.Replace(lazy, "start", "config { say = \"x\" }\n  start", 1)) },
	}
	st := newStage(t, demo, lazy)
	st.stop()
	n := len(st.catalogs())
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			st := &stage{t: t, dir: st.dir}
			change(st)
			st.start(demo)
			if s := st.plugin("demo"); s.PID == 0 {
				t.Errorf("there is no process, so it was taken from the cache: %+v", s)
			}
			if n++; len(st.catalogs()) != n {
				t.Errorf("%d catalogs are cached, want %d", len(st.catalogs()), n)
			}
			st.stop()
		})
	}
}

// What the environment holds is not part of the key: a cached catalog may turn
// out to be stale.
func TestAStaleCatalogIsReplaced(t *testing.T) {
	st := newStage(t, demo, lazy)
	st.stop()
	st.write(strings.Replace(lazy, `TOOL = ""`, `TOOL = "more"`, 1))
	st.start(demo)
	p := st.connect()
	if got := p.list(2); got != "echo" {
		t.Errorf("tools %q, want what was cached", got)
	}
	p.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"n":1}}}`)
	told := false
	for range 2 {
		switch m := p.next(); {
		case m.Method == "notifications/tools/list_changed":
			told = true
		case m.ID != 3 || text(m.Result) != "1 v1 one ":
			t.Errorf("got %+v", m)
		}
	}
	if !told {
		t.Error("clients were not told that the list changed")
	}
	if got := p.list(4); got != "echo more" {
		t.Errorf("tools %q when the change was told", got)
	}
	next := &stage{t: t, dir: st.dir}
	st.stop()
	next.start(demo)
	if got := names(t, next.client()); got != "echo more" {
		t.Errorf("tools %q in the next run", got)
	}
}

func TestACorruptCatalogIsIgnoredWithALine(t *testing.T) {
	st := newStage(t, demo, lazy)
	st.stop()
	path := st.catalogs()[0]
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"garbage": []byte("hello"), "truncated": whole[:len(whole)/2], "empty": nil} {
		t.Run(name, func(t *testing.T) {
			st := &stage{t: t, dir: st.dir}
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			st.start(demo)
			if got := say(t, st.client(), "echo"); got != "1 v1 one " {
				t.Errorf("got %q", got)
			}
			if n := strings.Count(st.log.String(), "ignored a cached catalog"); n != 1 {
				t.Errorf("%d lines say so, want 1", n)
			}
			st.stop()
			if b, err := os.ReadFile(path); err != nil || string(b) != string(whole) {
				t.Errorf("the file was not replaced: %v", err)
			}
		})
	}
}

func TestSecretsAreNotKept(t *testing.T) {
	const secret = "correct-horse-battery"
	st := newStage(t, demo, `local "demo" {
  ACTOR
  env     = { WORD = "`+secret+`" }
  secrets = { s = "`+secret+`" }
  config { say = "`+secret+`" }
}`)
	st.stop()
	err := filepath.WalkDir(filepath.Join(st.dir, "state"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), secret) {
			t.Errorf("%s holds a secret", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOnePluginThatCannotStartLeavesTheOthers(t *testing.T) {
	st := newStage(t, demo, strings.Replace(two, `WORD = "one"`, `FAIL = "1"`, 1))
	if got := say(t, st.client(), "echo"); got != "1 v1  " {
		t.Errorf("got %q", got)
	}
	if n := strings.Count(st.log.String(), "did not start: handle=b"); n == 0 {
		t.Errorf("no line says which and why")
	}
}
