package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphost/mcphost/host/config"
)

// withConfig returns the plugin whose config block has this body.
func withConfig(t *testing.T, body string) (*config.Config, *config.Plugin) {
	t.Helper()
	cfg, _ := load(t, `
variable "secret" {
  sensitive = true
  default   = "hunter2"
}
local "x" {
  command = ["./bin/tool"]
  config {
`+body+`
  }
}`, config.Options{})
	return cfg, cfg.Plugins[0]
}

func TestConfigBlockAsJSON(t *testing.T) {
	tests := map[string]struct {
		body, schema, want string
	}{
		"arguments": {
			body: `s = "<é>"
b = true
n = null
o = { k = [1, null] }`,
			schema: `{}`,
			want:   `{"b":true,"o":{"k":[1,null]},"s":"<é>"}`,
		},
		"numbers keep all digits": {
			body:   "a = 9007199254740993\nb = 0.1\nc = 1e400\nd = -0.000001\ne = 123456789012345678901234567890",
			schema: `{}`,
			want:   `{"a":9007199254740993,"b":0.1,"c":1e+400,"d":-0.000001,"e":123456789012345678901234567890}`,
		},
		"blocks": {
			body: `one { a = 1 }
many { a = 1 }
many { a = 2 }
named "x" { a = 1 }
named "y" { a = 2 }
deep "p" "q" { a = 3 }`,
			schema: `{"properties": {
				"many": {"type": "array", "items": {"type": "object"}},
				"named": {"additionalProperties": {"type": "object"}},
				"deep": {"additionalProperties": {"additionalProperties": {"type": "object"}}}
			}}`,
			want: `{"deep":{"p":{"q":{"a":3}}},"many":[{"a":1},{"a":2}],"named":{"x":{"a":1},"y":{"a":2}},"one":{"a":1}}`,
		},
		"an array behind references and alternatives": {
			body:   "x { a = 1 }",
			schema: `{"$defs": {"l": {"anyOf": [{"type": "array", "items": {}}, {"type": "null"}]}}, "allOf": [{"properties": {"x": {"$ref": "#/$defs/l"}}}]}`,
			want:   `{"x":[{"a":1}]}`,
		},
		"defaults": {
			body: `given = 1
o {}
l {}`,
			schema: `{"properties": {
				"given": {"default": 7}, "absent": {"default": {"k": []}},
				"o": {"$ref": "#/$defs/o"}, "l": {"type": "array", "items": {"$ref": "#/$defs/o"}}, "none": {"$ref": "#/$defs/o"}
			}, "$defs": {"o": {"type": "object", "properties": {"d": {"default": 1.50}}}}}`,
			want: `{"absent":{"k":[]},"given":1,"l":[{"d":1.50}],"o":{"d":1.50}}`,
		},
		"a schema that refers to itself": {
			body:   "a {\n a {\n v = 1\n}\n}",
			schema: `{"$ref": "#", "properties": {"a": {"$ref": "#"}, "v": {"type": "integer"}}}`,
			want:   "",
		},
		"a tree": {
			body:   "a {\n a {\n v = 1\n}\n}",
			schema: `{"properties": {"a": {"$ref": "#"}, "v": {"type": "integer"}}}`,
			want:   `{"a":{"a":{"v":1}}}`,
		},
		"empty without a schema": {want: `{}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			cfg, p := withConfig(t, test.body)
			value, diags := p.DecodeConfig([]byte(test.schema))
			if test.want == "" {
				if !diags.HasErrors() {
					t.Errorf("it was accepted: %s", value.JSON)
				}
				return
			}
			if diags.HasErrors() {
				t.Fatal(cfg.Report(diags...))
			}
			if got := string(value.JSON); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestPathsInConfigAreThoseOfTheFile(t *testing.T) {
	_, p := withConfig(t, `root = "./notes"
more = ["~/x", "/y/"]
text = "./z"`)
	value, diags := p.DecodeConfig([]byte(`{"properties": {
		"root": {"x-mcphost-path": true}, "more": {"items": {"$ref": "#/$defs/path"}}, "data": {"default": "d", "x-mcphost-path": true}
	}, "$defs": {"path": {"type": "string", "x-mcphost-path": true}}}`))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	dir := filepath.Dir(filepath.Dir(p.Command[0]))
	want := strings.ReplaceAll(`{"data":"DIR/d","more":["HOME/x","/y"],"root":"DIR/notes","text":"./z"}`, "DIR", dir)
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	if want = strings.ReplaceAll(want, "HOME", home); string(value.JSON) != want {
		t.Errorf("got  %s\nwant %s", value.JSON, want)
	}
}

func TestPluginDiagnosticsPointAtLines(t *testing.T) {
	cfg, p := withConfig(t, `a = {
  b = ["x",
    "y"]
}
pin = var.secret
c {
  d = 1
}`)
	value, diags := p.DecodeConfig([]byte(`{"properties": {"e": {"default": 1}}}`))
	if diags.HasErrors() {
		t.Fatal(cfg.Report(diags...))
	}
	header := p.At("command").Start.Line + 1
	for pointer, line := range map[string]int{
		"": header, "/a/b/1": header + 3, "/a/b/9": header + 2, "/c": header + 6, "/c/d": header + 7,
		"/c/none": header + 6, "/e": header, "nonsense": header,
	} {
		if got := value.Diagnostic(pointer, config.Error, "s", "d").Subject.Start.Line; got != line {
			t.Errorf("%q is at line %d, want %d", pointer, got, line)
		}
	}
	d := value.Diagnostic("/pin", config.Warning, "\x1b[31mBad\u202e", strings.Repeat("hunter2 ", 10_000))
	if d.Summary != "[31mBad" || strings.Contains(d.Detail, "hunter") || len(d.Detail) > 5000 {
		t.Errorf("untrusted text came through: %q, %d bytes: %.40q", d.Summary, len(d.Detail), d.Detail)
	}
}

func TestHostileSchemas(t *testing.T) {
	var wide strings.Builder // 2^30 steps in 2 kB
	wide.WriteString(`{"$defs": {"d30": {}`)
	for i := range 30 {
		next := "d" + string(rune('0'+(i+1)/10)) + string(rune('0'+(i+1)%10))
		this := "d" + string(rune('0'+i/10)) + string(rune('0'+i%10))
		wide.WriteString(`,"` + this + `": {"allOf": [{"$ref": "#/$defs/` + next + `"}, {"$ref": "#/$defs/` + next + `"}]}`)
	}
	wide.WriteString(`}, "$ref": "#/$defs/d00"}`)
	for name, schema := range map[string]string{
		"not JSON":       `{`,
		"not an object":  `true`,
		"not a schema":   `{"type": 7}`,
		"a remote ref":   `{"$ref": "http://127.0.0.1:1/x"}`,
		"a file ref":     `{"$ref": "file:///etc/passwd"}`,
		"a remote draft": `{"$schema": "http://127.0.0.1:1/x"}`,
		"a bad pattern":  `{"pattern": "("}`,
		"deep":           strings.Repeat(`{"not":`, 2000) + `{}` + strings.Repeat(`}`, 2000),
		"large":          `{"title": "` + strings.Repeat("x", 2<<20) + `"}`,
		"exponential":    wide.String(),
		"ref to itself":  `{"$ref": "#"}`,
		"ref cycle":      `{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, p := withConfig(t, "a = 1")
			if _, diags := p.DecodeConfig([]byte(schema)); !diags.HasErrors() {
				t.Error("it was accepted")
			}
		})
	}
}

func FuzzDecodeConfig(f *testing.F) {
	f.Add(`a = 1`, `{"properties": {"a": {"type": "string"}}}`)
	f.Add("a \"x\" {\n b = [1]\n}", `{"properties": {"a": {"additionalProperties": {"$ref": "#"}}}}`)
	f.Add("a {}", `{"properties": {"a": {"type": "array", "items": {"writeOnly": true, "oneOf": [{}, {}]}}}}`)
	f.Fuzz(func(t *testing.T, body, schema string) {
		dir := write(t, map[string]string{"c.hcl": "local \"x\" {\n command = [\"./bin/tool\"]\n config {\n" + body + "\n}\n}"})
		cfg, _ := config.Load([]string{dir}, config.Options{Env: lookupIn(nil)})
		if cfg == nil || len(cfg.Plugins) == 0 {
			return
		}
		value, diags := cfg.Plugins[0].DecodeConfig([]byte(schema))
		if (value == nil) != diags.HasErrors() {
			t.Errorf("value %v with %v", value, diags)
		}
		_ = cfg.Report(diags...).String()
	})
}
