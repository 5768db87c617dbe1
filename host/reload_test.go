//go:build linux

package host_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphost/mcphost/host"
)

const two = `
plugin "a" { ACTOR }
plugin "b" {
  ACTOR
  env = { WORD = "one" }
  tools { prefix = "b_" }
}
local "demo" { plugins = ["a", "b"] }
`

var demo = host.Scope{Local: "demo"}

func TestOnlyWhatChangedIsStartedAnew(t *testing.T) {
	st := newStage(t, demo, two)
	c := st.client()
	a, b := st.plugin("a").PID, st.plugin("b").PID
	check := func(what, text, want string, same bool) {
		t.Helper()
		st.mustReload(text)
		if got := st.plugin("a").PID; got != a || got == 0 {
			t.Errorf("%s: the unchanged plugin has pid %d, want %d", what, got, a)
		}
		if got := st.plugin("b").PID; (got == b) != same || got == 0 {
			t.Errorf("%s: the plugin has pid %d after %d", what, got, b)
		}
		b = st.plugin("b").PID
		if got := say(t, c, "b_echo"); got != want {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	check("nothing", two, "1 v1 one ", true)
	check("layout", strings.ReplaceAll(two, "\n", "\n\n"), "1 v1 one ", true)
	words := strings.Replace(two, `"one"`, `"two"`, 1)
	check("environment", words, "1 v1 two ", false)
	block := strings.Replace(words, "tools {", "config { say = \"hi\" }\n  tools {", 1)
	check("config block", block, "1 v1 two hi", false)
	secret := strings.Replace(block, "tools {", "secrets = { s = \"x\" }\n  tools {", 1)
	check("secret", secret, "1 v1 two hi", false)
	check("another secret", strings.Replace(secret, `"x"`, `"y"`, 1), "1 v1 two hi", false)
	check("shape", strings.Replace(strings.Replace(secret, `"x"`, `"y"`, 1), "tools {", "prompts { exclude = [\"x\"] }\n  tools {", 1), "1 v1 two hi", true)
	sandbox := strings.Replace(block, "tools {", "sandbox { memory = \"200MiB\" }\n  tools {", 1)
	check("sandbox", sandbox, "1 v1 two hi", false)
}

func TestANewProgramIsStartedAnew(t *testing.T) {
	st := newStage(t, demo, `local "demo" { ACTOR }`)
	c := st.client()
	before := st.plugin("demo").PID
	st.install("v2")
	st.mustReload(`local "demo" { ACTOR }`)
	if got := say(t, c, "echo"); got != "1 v2  " || st.plugin("demo").PID == before {
		t.Errorf("got %q from pid %d, before %d", got, st.plugin("demo").PID, before)
	}
}

func TestWhatIsWrongChangesNothing(t *testing.T) {
	st := newStage(t, demo, two)
	before := st.Plugins()
	tests := map[string]struct{ from, to, want string }{
		"unknown argument": {`env = { WORD = "one" }`, `config { sya = "hi" }`, "sya"},
		"plugin's word":    {`env = { WORD = "one" }`, `config { bad = true }`, "Bad setting"},
		"gone endpoint":    {`local "demo"`, `local "other"`, "Endpoint in use"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(two, test.from, test.to, 1)
			// The other plugin changes as well, rightly.
			text = strings.Replace(text, `plugin "a" { ACTOR }`, "plugin \"a\" {\n ACTOR\n env = { WORD = \"new\" }\n}", 1)
			diags := st.reload(text)
			if !diags.HasErrors() || !strings.Contains(diags.String(), test.want) {
				t.Errorf("got %q, want an error with %q", diags, test.want)
			}
			if test.want != "Endpoint in use" && !strings.Contains(diags.String(), "config.hcl line ") {
				t.Errorf("the diagnostic has no line: %s", diags)
			}
			for _, p := range before.Plugins {
				if got := st.plugin(p.Handle).PID; got != p.PID {
					t.Errorf("%s has pid %d, want %d", p.Handle, got, p.PID)
				}
			}
		})
	}
}

func TestTheOldGenerationStaysIfTheNewDoesNotStart(t *testing.T) {
	st := newStage(t, demo, two)
	a, b := st.plugin("a").PID, st.plugin("b").PID
	text := strings.Replace(two, `WORD = "one"`, `FAIL = "1"`, 1)
	text = strings.Replace(text, `plugin "a" { ACTOR }`, "plugin \"a\" {\n ACTOR\n env = { WORD = \"new\" }\n}", 1)
	diags := st.reload(text)
	if !diags.HasErrors() || !strings.Contains(diags.String(), `plugin "b"`) || !strings.Contains(diags.String(), "The one that runs stays.") {
		t.Errorf("got %q", diags)
	}
	c := st.client()
	if got := say(t, c, "b_echo"); got != "1 v1 one " || st.plugin("b").PID != b {
		t.Errorf("the old generation says %q with pid %d, want pid %d", got, st.plugin("b").PID, b)
	}
	if got := say(t, c, "echo"); got != "1 v1 new " || st.plugin("a").PID == a {
		t.Errorf("the other plugin says %q", got)
	}
	st.mustReload(two) // back: b is what it was
	if got := st.plugin("b").PID; got != b {
		t.Errorf("pid %d, want %d", got, b)
	}
}

// Clients often run a host each: a second one has data folders of its own, and
// its plugins serve.
func TestASecondHostHasDataFoldersOfItsOwn(t *testing.T) {
	st := newStage(t, demo, two)
	other := &stage{t: t, dir: st.dir}
	other.start(demo)
	for tool, want := range map[string]string{"echo": "1 v1  ", "b_echo": "1 v1 one "} {
		if got := say(t, other.client(), tool); got != want {
			t.Errorf("%s says %q, want %q", tool, got, want)
		}
	}
	for _, handle := range []string{"a", "b"} {
		if s := other.plugin(handle); s.State != "ready" || s.PID == st.plugin(handle).PID {
			t.Errorf("%s: %+v", handle, s)
		}
		if _, err := os.Stat(filepath.Join(st.dir, "state", "data", handle+"~2")); err != nil {
			t.Error(err)
		}
	}
}

func TestPluginsComeAndGo(t *testing.T) {
	st := newStage(t, demo, two)
	c := st.client()
	st.mustReload(`plugin "c" {
  ACTOR
  tools { prefix = "c_" }
}
plugin "a" { ACTOR }
local "demo" { plugins = ["c", "a"] }`)
	if got := names(t, c); got != "c_echo echo" {
		t.Errorf("tools %q", got)
	}
	if got := st.plugin("b"); got.Handle != "" {
		t.Errorf("the plugin that has gone: %+v", got)
	}
	st.mustReload(two)
	if got := names(t, c); got != "b_echo echo" {
		t.Errorf("tools %q after it came back", got)
	}
}

func TestAnExclusivePluginIsNeverTwo(t *testing.T) {
	const block = `local "demo" {
  ACTOR
  env = { ALONE = "1", EXCLUSIVE = "1", WORD = "one" }
}`
	st := newStage(t, demo, block)
	c := st.client()
	slow := make(chan string)
	go func() {
		res, err := c.CallTool(t.Context(), "echo", []byte(`{"n":7,"millis":500}`), func(string, []byte) {})
		if err != nil {
			slow <- err.Error()
			return
		}
		slow <- text(res)
	}()
	st.mustReload(strings.Replace(block, `"one"`, `"two"`, 1))
	if got := <-slow; got != "7 v1 one " && got != "7 v1 two " {
		t.Errorf("a call during the change got %q", got)
	}
	if got := say(t, c, "echo"); got != "1 v1 two " {
		t.Errorf("got %q", got)
	}
	// One that does not start: the old one is started again.
	diags := st.reload(strings.Replace(block, `WORD`, `FAIL = "1", WORD`, 1))
	if !diags.HasErrors() {
		t.Errorf("got %q, want an error", diags)
	}
	if got := say(t, c, "echo"); got != "1 v1 two " {
		t.Errorf("after a failed change: %q", got)
	}
	// Proof that the plugin would notice two of it: without its word they overlap.
	diags = st.reload(strings.Replace(block, `EXCLUSIVE = "1", `, ``, 1))
	if diags.HasErrors() {
		t.Errorf("the one that says it is exclusive ends first: %s", diags)
	}
	alone := strings.Replace(block, `EXCLUSIVE = "1", WORD = "one"`, `WORD = "three"`, 1)
	diags = st.reload(alone)
	if !diags.HasErrors() || !strings.Contains(diags.String(), "two at once") {
		t.Errorf("got %q, want the complaint of the second", diags)
	}
	// It is the new one that says so.
	st.mustReload(block)
	if got := say(t, c, "echo"); got != "1 v1 one " {
		t.Errorf("got %q", got)
	}
}

func TestClientsAreToldOfListsThatChangedAndOfNoOther(t *testing.T) {
	st := newStage(t, demo, two)
	p := st.connect()
	if got := p.list(2); got != "b_echo echo" {
		t.Fatalf("tools %q", got)
	}
	// Another process with the same list, and then a change that must be the first to be told.
	st.mustReload(strings.Replace(two, `"one"`, `"two"`, 1))
	if got := p.list(3); got != "b_echo echo" {
		t.Errorf("tools %q", got)
	}
	st.mustReload(strings.Replace(two, `WORD = "one"`, `TOOL = "more"`, 1))
	if m := p.next(); m.Method != "notifications/tools/list_changed" {
		t.Errorf("got %+v", m)
	}
	if got := p.list(4); got != "b_echo b_more echo" {
		t.Errorf("tools %q when the change was told", got)
	}
	// Shapes and members of the endpoint, without any process.
	b := st.plugin("b").PID
	st.mustReload(strings.Replace(strings.Replace(two, `WORD = "one"`, `TOOL = "more"`, 1), `"b_"`, `"c_"`, 1))
	if m := p.next(); m.Method != "notifications/tools/list_changed" {
		t.Errorf("got %+v", m)
	}
	if got := p.list(5); got != "c_echo c_more echo" || st.plugin("b").PID != b {
		t.Errorf("tools %q, pid %d, want %d", got, st.plugin("b").PID, b)
	}
}

func TestSubscriptionsLiveOn(t *testing.T) {
	st := newStage(t, demo, two)
	p := st.connect()
	p.send(`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"test://clock"}}`)
	updates := func(what string) {
		t.Helper()
		for {
			switch m := p.next(); m.Method {
			case "notifications/resources/updated":
				return
			case "":
				continue
			default:
				t.Fatalf("%s: got %+v", what, m)
			}
		}
	}
	updates("first generation")
	st.mustReload(strings.Replace(two, `plugin "a" { ACTOR }`, "plugin \"a\" {\n ACTOR\n env = { WORD = \"new\" }\n}", 1))
	updates("second generation") // it was told what is watched
}

func TestARestartIsSaidOnceForAll(t *testing.T) {
	st := newStage(t, demo, two)
	diags := st.reload(two + "limits { max_request_size = \"2MiB\" }\nserver { name = \"other\" }\nhttp { listen = \"127.0.0.1:1\" }")
	if all := diags.All(); len(all) != 1 || diags.HasErrors() || !strings.Contains(all[0].Detail, "server, limits.") {
		t.Errorf("got %q", diags)
	}
}

func TestAReloadEndsWithItsCallerAndTheHost(t *testing.T) {
	st := newStage(t, demo, two)
	before := st.plugin("b").PID
	st.write(strings.Replace(two, `"one"`, `"two"`, 1))
	cfg, _ := st.load()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if diags := st.Reload(ctx, cfg); !diags.HasErrors() || st.plugin("b").PID != before {
		t.Errorf("got %q, pid %d, want the old one", diags, st.plugin("b").PID)
	}
	st.stop()
	if diags := st.Reload(t.Context(), cfg); !diags.HasErrors() {
		t.Errorf("a host that was closed reloads: %q", diags)
	}
}
