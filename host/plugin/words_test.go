package plugin

import (
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/primitive"
	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

func TestClean(t *testing.T) {
	tests := map[string]struct {
		in        string
		limit     int
		multiline bool
		want      string
	}{
		"plain":         {in: "héllo", limit: 100, want: "héllo"},
		"escape":        {in: "a\x1b[2Jb\u0085", limit: 100, want: "a�[2Jb�"},
		"one line":      {in: "a\nb\tc\r", limit: 100, want: "a�b�c�"},
		"many lines":    {in: "a\nb\tc\r", limit: 100, multiline: true, want: "a\nb\tc�"},
		"bidirectional": {in: "a\u202eb\u2066c", limit: 100, multiline: true, want: "a�b�c"},
		"tags":          {in: "a\U000e0041b", limit: 100, multiline: true, want: "a�b"},
		"cut":           {in: "héllo", limit: 2, want: "h"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := clean(test.in, test.limit, test.multiline); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestParseLogLine(t *testing.T) {
	tests := map[string]struct {
		in   string
		want logEntry
	}{
		"hclog":           {`{"@level":"warn","@message":"m","@module":"x","@timestamp":"t","b":[1],"a":"\u001b"}`, logEntry{hclog.Warn, "m", []any{"plugin.a", "�", "plugin.b", "[1]"}}},
		"no level":        {`{"@message":"m"}`, logEntry{hclog.Info, "m", nil}},
		"unknown level":   {`{"@message":"m","@level":"off"}`, logEntry{hclog.Info, "m", nil}},
		"number messages": {`{"@message":1}`, logEntry{hclog.Info, `{"@message":1}`, nil}},
		"half an object":  {`{"@message":`, logEntry{hclog.Info, `{"@message":`, nil}},
		"prefix":          {"[DEBUG] x", logEntry{hclog.Debug, "x", nil}},
		"panic":           {"panic: x", logEntry{hclog.Error, "panic: x", nil}},
		"not UTF-8":       {"a\xffb", logEntry{hclog.Info, "a�b", nil}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, parseLogLine([]byte(test.in)), cmp.AllowUnexported(logEntry{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestEachLineReadsPastAnyLength(t *testing.T) {
	long := strings.Repeat("x", 5*maxLogLine)
	var got []string
	eachLine(strings.NewReader("a\r\n\n"+long+"\nb\nend"), func(line []byte, whole bool) bool {
		got = append(got, string(line[:min(len(line), 3)])+map[bool]string{true: "", false: "…"}[whole])
		return true
	})
	if diff := cmp.Diff([]string{"a", "", "xxx…", "b", "end…"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLogLimit(t *testing.T) {
	l := newLogLimit(2, 3)
	now := time.Unix(100, 0)
	for n, want := range []bool{true, true, true, false, false} {
		if ok, _ := l.allow(now); ok != want {
			t.Errorf("line %d: got %v, want %v", n, ok, want)
		}
	}
	if ok, dropped := l.allow(now.Add(time.Second)); !ok || dropped != 2 {
		t.Errorf("after a second: got %v and %d dropped, want one more and 2", ok, dropped)
	}
}

func TestHeaderParams(t *testing.T) {
	tests := map[string]struct {
		schema string
		want   []primitive.HeaderParam
		bad    bool
	}{
		"none":            {schema: `{"type":"object","properties":{"a":{"type":"string"}}}`},
		"top and nested":  {schema: `{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"object","properties":{"c":{"type":"integer","x-mcp-header":"C"}}}}}`, want: []primitive.HeaderParam{{Name: "A", Path: []string{"a"}, Type: "string"}, {Name: "C", Path: []string{"b", "c"}, Type: "integer"}}},
		"argument's name": {schema: `{"properties":{"x-mcp-header":{"type":"string"}}}`},
		"in data":         {schema: `{"properties":{"a":{"default":{"x-mcp-header":"A"}}}}`},
		"number":          {schema: `{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}`, bad: true},
		"no type":         {schema: `{"properties":{"a":{"x-mcp-header":"A"}}}`, bad: true},
		"no token":        {schema: `{"properties":{"a":{"type":"string","x-mcp-header":"A B"}}}`, bad: true},
		"empty":           {schema: `{"properties":{"a":{"type":"string","x-mcp-header":""}}}`, bad: true},
		"no string":       {schema: `{"properties":{"a":{"type":"string","x-mcp-header":1}}}`, bad: true},
		"twice":           {schema: `{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}`, bad: true},
		"in items":        {schema: `{"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}}`, bad: true},
		"in allOf":        {schema: `{"allOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}`, bad: true},
		"at the root":     {schema: `{"type":"object","x-mcp-header":"A"}`, bad: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := headerParams([]byte(test.schema))
			if (err != nil) != test.bad {
				t.Fatalf("got error %v, want one: %v", err, test.bad)
			}
			if diff := cmp.Diff(test.want, got); err == nil && diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestStateGoesOutAndComesBack(t *testing.T) {
	tag := strings.Repeat("t", stateTagLen)
	tests := map[string]struct {
		in     []byte
		sticky bool
	}{
		"none":             {},
		"empty":            {in: []byte{}},
		"bytes":            {in: []byte("abc")},
		"sticky":           {in: []byte("abc"), sticky: true},
		"sticky and empty": {in: []byte{}, sticky: true},
		"sticky alone":     {sticky: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			held, err := openState(sealState(test.in, test.sticky, tag))
			if err != nil || (held.bytes == nil) != (test.in == nil) || string(held.bytes) != string(test.in) || held.sticky != test.sticky {
				t.Errorf("got %+v %v, want %q back", held, err, test.in)
			}
		})
	}
	for _, bad := range []string{"", "x", "s", "sshort"} {
		if _, err := openState([]byte(bad)); err == nil {
			t.Errorf("state %q was taken", bad)
		}
	}
}

func TestCeiling(t *testing.T) {
	for n, want := range map[int]time.Duration{
		1: 500 * time.Millisecond, 2: time.Second, 7: 32 * time.Second, 8: time.Minute, 1000: time.Minute,
	} {
		if got := ceiling(n); got != want {
			t.Errorf("ceiling(%d) = %v, want %v", n, got, want)
		}
	}
}

func FuzzHandshake(f *testing.F) {
	f.Add("1|1|unix|/x|grpc", false)
	f.Add("1|1|unix|/x|grpc|AAAA|true", true)
	f.Add("1|1|tcp|127.0.0.1:1|grpc", false)
	f.Fuzz(func(t *testing.T, line string, mtls bool) {
		if !looksLikeHandshake(line) {
			return
		}
		out, _, err := checkHandshake(line, mtls)
		if err == nil && (!strings.HasPrefix(out, "1|1|unix|") || strings.Count(out, "|") != 4 || !strings.HasSuffix(out, "|grpc")) {
			t.Errorf("%q passed as %q", line, out)
		}
	})
}

func FuzzStderr(f *testing.F) {
	f.Add([]byte("{\"@message\": 1}\n{\"@level\":2,\"@message\":\"x\"}\n"))
	f.Add([]byte("[ERROR] \xff\n{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &stderrPump{log: hclog.New(&hclog.LoggerOptions{Output: io.Discard, Level: hclog.Trace}), limit: newLogLimit(1e9, 1e9)}
		s.run(strings.NewReader(string(b)))
		for _, line := range s.last(100) {
			if !utf8.ValidString(line) || strings.ContainsAny(line, "\x1b\n") {
				t.Errorf("tail holds %q", line)
			}
		}
	})
}

func FuzzDefinition(f *testing.F) {
	f.Add("t", "d", []byte(`{"type":"object"}`), []byte(`{}`), []byte(nil))
	f.Add("", "", []byte(nil), []byte(nil), []byte("{\"name\":\"x\",\n\"inputSchema\":{\"type\":\"object\"}}"))
	f.Fuzz(func(t *testing.T, name, description string, schema, meta, definition []byte) {
		if !utf8.ValidString(name) || !utf8.ValidString(description) {
			return // protobuf does not let it in
		}
		p, err := tool(&pluginv1.Tool{Name: name, Description: description, InputSchemaJson: schema, MetaJson: meta, DefinitionJson: definition})
		if err != nil {
			return
		}
		if jsonrpc.Check(p.Definition) != nil || !jsonrpc.IsObject(p.Definition) || strings.ContainsAny(string(p.Definition), "\r\n") {
			t.Errorf("definition %q is no JSON object on one line", p.Definition)
		}
		if !validName(p.Own) || p.InputSchema == nil {
			t.Errorf("got a tool %q with the schema %q", p.Own, p.InputSchema)
		}
	})
}
