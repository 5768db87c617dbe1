//go:build linux

package host_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphost/mcphost/host"
	"github.com/mcphost/mcphost/host/config"
)

// wait bounds what must happen; the machine may be busy.
const wait = time.Minute

// A stage is a folder with a configuration, a copy of the plugin and the state
// of hosts, and one host on it.
type stage struct {
	t   *testing.T
	dir string
	*host.Host
	log *lines
}

// lines is a log that may be read while it is written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// newStage starts a host of scope on the configuration text, in which ACTOR
// stands for the plugin of the tests.
func newStage(t *testing.T, s host.Scope, text string) *stage {
	t.Helper()
	st := &stage{t: t, dir: t.TempDir()}
	st.install("v1")
	st.write(text)
	st.start(s)
	return st
}

// start starts a host on what is in the folder.
func (st *stage) start(s host.Scope) {
	st.t.Helper()
	st.log = &lines{}
	cfg, diags := st.load()
	h, err := host.New(cfg, host.Options{
		Log:      hclog.New(&hclog.LoggerOptions{Output: st.log, Level: hclog.Debug}),
		StateDir: filepath.Join(st.dir, "state"),
	})
	if err != nil {
		st.t.Fatal(err)
	}
	st.Host = h
	log := st.log
	st.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		defer cancel()
		if err := h.Close(ctx); err != nil {
			st.t.Errorf("Close: %v", err)
		}
		if st.t.Failed() {
			st.t.Logf("log:\n%s", log)
		}
	})
	diags.Append(h.Start(st.t.Context(), s).All()...)
	if diags.HasErrors() {
		st.t.Fatal(diags)
	}
}

// stop ends the host before its test does.
func (st *stage) stop() {
	st.t.Helper()
	if err := st.Close(st.t.Context()); err != nil {
		st.t.Fatal(err)
	}
}

// install puts a version of the plugin in place, by rename as tools do it.
func (st *stage) install(version string) {
	st.t.Helper()
	b, err := os.ReadFile(filepath.Join(actors, "actor-"+version))
	if err != nil {
		st.t.Fatal(err)
	}
	next := filepath.Join(st.dir, "next")
	if err := os.WriteFile(next, b, 0o700); err != nil {
		st.t.Fatal(err)
	}
	if err := os.Rename(next, filepath.Join(st.dir, "actor")); err != nil {
		st.t.Fatal(err)
	}
}

func (st *stage) file() string { return filepath.Join(st.dir, "config.hcl") }

func (st *stage) write(text string) {
	st.t.Helper()
	text = strings.ReplaceAll(text, "ACTOR", `command = ["./actor"]`)
	if err := os.WriteFile(st.file(), []byte(text), 0o600); err != nil {
		st.t.Fatal(err)
	}
}

func (st *stage) load() (*config.Config, *config.Diagnostics) {
	st.t.Helper()
	cfg, diags := config.Load([]string{st.file()}, config.Options{})
	if diags.HasErrors() {
		st.t.Fatal(diags)
	}
	return cfg, diags
}

// reload brings text into force and returns what there is to say about it.
func (st *stage) reload(text string) *config.Diagnostics {
	st.t.Helper()
	st.write(text)
	cfg, _ := st.load()
	return st.Reload(st.t.Context(), cfg)
}

// mustReload brings text into force, about which there is nothing to say.
func (st *stage) mustReload(text string) {
	st.t.Helper()
	if diags := st.reload(text); len(diags.All()) > 0 {
		st.t.Fatal(diags)
	}
}

// plugin returns how the plugin is.
func (st *stage) plugin(handle string) host.PluginStatus {
	st.t.Helper()
	for _, p := range st.Plugins().Plugins {
		if p.Handle == handle {
			return p
		}
	}
	return host.PluginStatus{}
}

// local returns the local block "demo".
func (st *stage) local() *config.Local {
	st.t.Helper()
	cfg, _ := st.load()
	l, ok := cfg.Local("demo")
	if !ok {
		st.t.Fatal("there is no local block")
	}
	return l
}

// client returns a client of the local block.
func (st *stage) client() *host.Client { return st.Client(st.local()) }

// say calls a tool and returns its text.
func say(t *testing.T, c *host.Client, tool string) string {
	t.Helper()
	res, err := c.CallTool(t.Context(), tool, []byte(`{"n":1}`), func(string, []byte) {})
	if err != nil {
		return err.Error()
	}
	return text(res)
}

// text returns the text of a result.
func text(result []byte) string {
	var r struct {
		IsError bool
		Content []struct{ Text string }
	}
	if err := json.Unmarshal(result, &r); err != nil || len(r.Content) != 1 {
		return fmt.Sprintf("not a result of one text: %s", result)
	}
	if r.IsError {
		return "error: " + r.Content[0].Text
	}
	return r.Content[0].Text
}

// names returns the tools of a client.
func names(t *testing.T, c *host.Client) string {
	t.Helper()
	var list []string
	for _, tool := range c.Tools(t.Context()) {
		list = append(list, tool.Name)
	}
	return strings.Join(list, " ")
}

// A pipe is a client of ServeStdio.
type pipe struct {
	t  *testing.T
	mu sync.Mutex // guards in
	in io.WriteCloser

	messages chan message
}

type message struct {
	ID     int
	Method string
	Result json.RawMessage
	Error  json.RawMessage
}

// connect serves the local block on a pipe, whose client has opened a legacy session.
func (st *stage) connect() *pipe {
	st.t.Helper()
	l := st.local()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &pipe{t: st.t, in: inW, messages: make(chan message, 4096)}
	served, read := make(chan error, 1), make(chan struct{})
	go func() { served <- st.ServeStdio(st.t.Context(), l, inR, outW); outW.Close() }()
	go func() {
		defer close(read)
		scan := bufio.NewScanner(outR)
		scan.Buffer(nil, 16<<20)
		for scan.Scan() {
			var m message
			if err := json.Unmarshal(scan.Bytes(), &m); err != nil {
				st.t.Errorf("got %s", scan.Text())
			}
			p.messages <- m
		}
	}()
	st.t.Cleanup(func() {
		inW.Close()
		if err := <-served; err != nil {
			st.t.Errorf("ServeStdio: %v", err)
		}
		<-read
	})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	p.next()
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return p
}

func (p *pipe) send(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Error(err)
	}
}

// next returns the next message.
func (p *pipe) next() message {
	p.t.Helper()
	select {
	case m := <-p.messages:
		return m
	case <-time.After(wait):
		p.t.Fatal("no message came")
		return message{}
	}
}

// list asks for the tools and returns their names. No other message may come first.
func (p *pipe) list(id int) string {
	p.t.Helper()
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, id))
	m := p.next()
	var r struct{ Tools []struct{ Name string } }
	if m.ID != id || json.Unmarshal(m.Result, &r) != nil {
		p.t.Fatalf("got %+v, want the answer to %d", m, id)
	}
	var list []string
	for _, tool := range r.Tools {
		list = append(list, tool.Name)
	}
	return strings.Join(list, " ")
}
