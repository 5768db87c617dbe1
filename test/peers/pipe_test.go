package peers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience is how long an event may take that must come. It is long because it
// is not what a test waits for when all is well.
const patience = 60 * time.Second

// A pipe is a client of mcphost start, by hand.
type pipe struct {
	t     *testing.T
	wire  *wire
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan []byte
	log   *bytes.Buffer
	held  [][]byte // read while something else was awaited
}

// start starts the handle of a configuration below house and speaks to it.
func start(t *testing.T, handle, config string) *pipe {
	t.Helper()
	cmd := exec.Command(filepath.Join(house, "bin", "mcphost"), "start", handle, "-c", filepath.Join(house, config))
	cmd.Env = environment(t)
	c := &pipe{t: t, wire: newRecord(t).wire(), cmd: cmd, lines: make(chan []byte, 4096), log: new(bytes.Buffer)}
	cmd.Stderr = c.log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if c.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // ends when the process closes stdout
		defer close(c.lines)
		in := bufio.NewReader(out)
		for {
			line, err := in.ReadBytes('\n')
			if line = bytes.TrimSuffix(line, []byte("\n")); len(line) > 0 {
				c.wire.host(line)
				c.lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { c.finish() })
	return c
}

// send sends one line, whatever it is.
func (c *pipe) send(line string) {
	c.t.Helper()
	c.wire.client([]byte(line))
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal("writing: ", err)
	}
}

// await returns the first message for which match is true, held ones first.
func (c *pipe) await(what string, match func(*message) bool) []byte {
	c.t.Helper()
	for i, line := range c.held {
		if m, err := parse(line); err == nil && match(&m) {
			c.held = append(c.held[:i:i], c.held[i+1:]...)
			return line
		}
	}
	timeout := time.After(patience)
	for {
		select {
		case line, ok := <-c.lines:
			if !ok {
				c.t.Fatalf("the host ended before %s came; held: %q", what, c.held)
			}
			m, err := parse(line)
			if err != nil {
				c.t.Fatalf("not a message: %q", line)
			}
			if match(&m) {
				return line
			}
			c.held = append(c.held, line)
		case <-timeout:
			c.t.Fatalf("no %s in %v; held: %q", what, patience, c.held)
		}
	}
}

// next returns the next message that was not awaited yet, in order.
func (c *pipe) next() []byte {
	c.t.Helper()
	return c.await("message", func(*message) bool { return true })
}

// answer returns the response to the request with this id, as it is written.
func (c *pipe) answer(id string) []byte {
	c.t.Helper()
	return c.await("answer to "+id, func(m *message) bool { return m.Method == "" && string(m.ID) == id })
}

// notification returns the next notification of this method.
func (c *pipe) notification(method string) []byte {
	c.t.Helper()
	return c.await(method, func(m *message) bool { return m.Method == method && m.ID == nil })
}

// ask sends a request and returns its answer.
func (c *pipe) ask(id, request string) []byte {
	c.t.Helper()
	c.send(request)
	return c.answer(id)
}

// initialize opens a session and returns the answer.
func (c *pipe) initialize(revision, capabilities string) []byte {
	c.t.Helper()
	answer := c.ask(`"init"`, initialize(`"init"`, revision, capabilities))
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return answer
}

// finish ends the input, demands a clean end of the host, and returns all that was
// not awaited. It may be called twice.
func (c *pipe) finish() [][]byte {
	c.t.Helper()
	if c.in == nil {
		return c.held
	}
	c.in.Close()
	c.in = nil
	timeout := time.AfterFunc(patience, func() { _ = c.cmd.Process.Kill() }) // Wait tells
	defer timeout.Stop()
	for line := range c.lines {
		c.held = append(c.held, line)
	}
	if err := c.cmd.Wait(); err != nil {
		c.t.Errorf("mcphost start: %v", err)
	}
	if c.t.Failed() {
		c.t.Logf("mcphost start said:\n%s", c.log)
	}
	return c.held
}

// want fails unless msg holds all the parts.
func want(t *testing.T, msg []byte, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !bytes.Contains(msg, []byte(part)) {
			t.Errorf("%s\nlacks %s", msg, part)
		}
	}
}

func lacks(t *testing.T, msg []byte, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if bytes.Contains(msg, []byte(part)) {
			t.Errorf("%s\nholds %s", msg, part)
		}
	}
}

func initialize(id, revision, capabilities string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"initialize","params":{"protocolVersion":"` + revision +
		`","capabilities":` + capabilities + `,"clientInfo":{"name":"t","version":"1"}}}`
}

// legacy returns a request of a legacy revision; params are the inside of an object.
func legacy(id, method, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + params + `}}`
}

// modern returns a request of 2026-07-28 of a client with these capabilities.
func modern(id, method, params, capabilities string) string {
	return claiming(r2026, id, method, params, capabilities)
}

func claiming(revision, id, method, params, capabilities string) string {
	if params != "" {
		params += ","
	}
	return legacy(id, method, params+`"_meta":{"`+metaVersion+`":"`+revision+`","`+metaInfo+`":{"name":"t","version":"1"},"`+metaCapabilities+`":`+capabilities+`}`)
}

// call returns the params of tools/call.
func call(tool, arguments string) string {
	return `"name":"` + tool + `","arguments":` + arguments
}

func cancelled(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
}

// result decodes the member of the result of msg at path.
func result(t *testing.T, msg []byte, path ...string) any {
	t.Helper()
	var v any
	d := json.NewDecoder(bytes.NewReader(msg))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, msg)
	}
	return at(v, append([]string{"result"}, path...)...)
}

// write writes a configuration into house and returns its name.
func write(t *testing.T, text string) string {
	t.Helper()
	f, err := os.CreateTemp(house, "*.hcl")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(f.Name(), house+"/")
}
