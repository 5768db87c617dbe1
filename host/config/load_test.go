package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mcphost/mcphost/host/config"
)

// write makes a folder with these files and a program "bin/tool".
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files["bin/tool"] = "#!/bin/sh\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// load reads one file, which must have no problem.
func load(t *testing.T, src string, opts config.Options) (*config.Config, string) {
	t.Helper()
	dir := write(t, map[string]string{"c.hcl": src, "token.txt": "s3cret\r\n"})
	if opts.Env == nil {
		opts.Env = lookupIn(nil)
	}
	cfg, diags := config.Load([]string{filepath.Join(dir, "c.hcl")}, opts)
	if diags.HasErrors() {
		t.Fatalf("loading:\n%s", diags)
	}
	return cfg, dir
}

var comparing = cmp.Options{
	cmpopts.IgnoreTypes(config.Place{}),
	cmpopts.IgnoreUnexported(config.Config{}, config.Plugin{}),
	cmp.Comparer(func(a, b config.Secret) bool { return a == b }),
}

// everything has each block and argument once.
const everything = `
variable "level" {
  type        = number
  default     = 3
  description = "how much"
}
variable "names" { type = list(string) }

server {
  name         = "toolbox"
  version      = "1.0.0"
  title        = "Tools"
  instructions = "level ${var.level}, ${path("~/x")}"
  website_url  = "https://example.com"
}
plugin "files" {
  command              = ["./bin/tool", "./sub", "--x", var.names[1]]
  files                = ["bin"]
  sha256               = "9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08"
  timeout              = "1m30s"
  start                = "lazy"
  idle_timeout         = 2.5
  max_concurrent_calls = 4
  mtls                 = true
  env                  = { LANG = "C.UTF-8", N = var.level, P = path("x/../y"), HOME = path.home, D = env("NONE", "d") }
  secrets              = { token = file("token.txt") }
  sandbox {
    mode    = "best_effort"
    require = ["fs", "egress"]
    read    = ["~", "~/notes", "/usr/"]
    write   = ["out/../data"]
    hosts   = ["API.example.com:443", "[::1]:80"]
    exec    = true
    memory  = "256MiB"
    cpu     = 1.5
    pids    = 16
  }
  tools {
    include = ["*"]
    exclude = ["delete_*"]
    prefix  = "files_"
    rename  = { read = "cat" }
  }
  prompts { prefix = "p_" }
  resources { exclude = ["file:///secret/*"] }
}
plugin "run" { builtin = "exec" }
local "demo" {
  plugins     = ["run", "files"]
  scopes      = ["editor"]
  on_conflict = "skip"
  tools { include = ["a*"] }
}
local "own" {
  command = "tool"
  tools { prefix = "own_" }
}
http {
  listen               = "[::1]:0"
  allowed_origins      = ["https://app.example.com:8443"]
  allowed_hosts        = ["MCP.example.com"]
  legacy_sse           = true
  session_idle_timeout = "5m"
  max_sessions         = 7
  poll_after           = "40s"
  metrics              = "/metrics"
}
web "/mcp" { plugins = ["own"] }
limits {
  max_request_size       = 1000
  subscription_keepalive = 0.5
}
seal_keys = ["000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"]
`

func TestEverythingThatCanBeWritten(t *testing.T) {
	got, dir := load(t, everything, config.Options{
		Vars:     map[string]string{"names": `["a", "b"]`},
		Env:      func(name string) (string, bool) { return fakeEnv(t, name) },
		Builtins: []string{"exec"},
	})
	limits := config.Limits{
		MaxRequestSize: 1000, MaxConcurrentRequests: 5, MaxResponseSize: 4 << 20, MaxMetadataSize: 64 << 10,
		DefaultPageSize: 50, MaxPageSize: 100, SubscriptionBufferSize: 64, MaxSubscriptions: 1024,
		MaxResourceSubscriptions: 64, SubscriptionKeepalive: 500 * time.Millisecond,
	}
	strict := config.Sandbox{Mode: config.SandboxStrict, Require: []config.Guarantee{config.GuaranteeFS, config.GuaranteeNet}}
	key := make([]byte, 32)
	for i := range key {
		key[i] = byte(i)
	}
	want := &config.Config{
		Server: config.Server{Name: "toolbox", Version: "1.0.0", Title: "Tools", Instructions: "level 3, /home/operator/x", WebsiteURL: "https://example.com"},
		Plugins: []*config.Plugin{
			{
				Handle: "files", Command: []string{dir + "/bin/tool", dir + "/sub", "--x", "b"}, Files: []string{dir + "/bin"},
				SHA256:  "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
				Timeout: 90 * time.Second, Start: config.StartLazy, IdleTimeout: 2500 * time.Millisecond, MaxConcurrentCalls: 4, MTLS: true,
				Env:     map[string]string{"LANG": "C.UTF-8", "N": "3", "P": dir + "/y", "HOME": "/home/operator", "D": "d"},
				Secrets: map[string]config.Secret{"token": config.NewSecret("s3cret")},
				Sandbox: config.Sandbox{
					Mode: config.SandboxBestEffort, Require: []config.Guarantee{config.GuaranteeFS, config.GuaranteeEgress},
					Read: []string{"/home/operator", "/home/operator/notes", "/usr"}, Write: []string{dir + "/data"},
					Hosts: []string{"api.example.com:443", "[::1]:80"}, Exec: true, Memory: 256 << 20, CPU: 1.5, PIDs: 16,
				},
				Tools:     config.Shape{Include: []string{"*"}, Exclude: []string{"delete_*"}, Prefix: "files_", Rename: map[string]string{"read": "cat"}},
				Prompts:   config.Shape{Prefix: "p_"},
				Resources: config.Shape{Exclude: []string{"file:///secret/*"}},
			},
			{Handle: "run", Builtin: "exec", Timeout: time.Minute, Start: config.StartEager, Sandbox: strict},
			{Handle: "own", Command: []string{abs(t, "testdata/bin") + "/tool"}, Timeout: time.Minute, Start: config.StartEager, Sandbox: strict},
		},
		Locals: []*config.Local{
			{Handle: "demo", Plugins: []string{"run", "files"}, Scopes: []string{"editor"}, OnConflict: config.ConflictSkip, Tools: config.Shape{Include: []string{"a*"}}},
			{Handle: "own", Plugins: []string{"own"}, OnConflict: config.ConflictPrefix, Tools: config.Shape{Prefix: "own_"}},
		},
		Webs: []*config.Web{{Path: "/mcp", Plugins: []string{"own"}, OnConflict: config.ConflictPrefix}},
		HTTP: config.HTTP{
			Listen: "[::1]:0", AllowedOrigins: []string{"https://app.example.com:8443"}, AllowedHosts: []string{"mcp.example.com"},
			LegacySSE: true, SessionIdleTimeout: 5 * time.Minute, MaxSessions: 7, PollAfter: 40 * time.Second, Metrics: "/metrics",
		},
		Limits:   limits,
		SealKeys: [][]byte{key},
		Files:    []string{dir + "/c.hcl"},
	}
	if diff := cmp.Diff(want, got, comparing); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
}

func fakeEnv(t *testing.T, name string) (string, bool) {
	t.Helper()
	return lookupIn(map[string]string{
		"HOME": "/home/operator", "PATH": "relative:" + abs(t, "testdata/bin"),
		"MCP_MAX_CONCURRENT_REQUESTS": "5", "MCP_MAX_REQUEST_SIZE": "7", "MCP_MAX_RESPONSE_SIZE": "",
	})(name)
}

func TestDefaults(t *testing.T) {
	got, _ := load(t, ``, config.Options{})
	want := config.Config{
		Server: config.Server{Name: "mcphost"},
		HTTP:   config.HTTP{Listen: "127.0.0.1:8808", SessionIdleTimeout: 30 * time.Minute, MaxSessions: 1024},
	}
	want.Limits, want.Files = got.Limits, got.Files
	if diff := cmp.Diff(&want, got, comparing); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	limits := config.Limits{
		MaxRequestSize: 1 << 20, MaxConcurrentRequests: 32, MaxResponseSize: 4 << 20, MaxMetadataSize: 64 << 10,
		DefaultPageSize: 50, MaxPageSize: 100, SubscriptionBufferSize: 64, MaxSubscriptions: 1024,
		MaxResourceSubscriptions: 64, SubscriptionKeepalive: 15 * time.Second,
	}
	if diff := cmp.Diff(limits, got.Limits, comparing); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
}

func TestLimitsFromEnvironment(t *testing.T) {
	tests := map[string]struct {
		env  map[string]string
		want func(*config.Limits) any
		is   any
	}{
		"bytes":           {map[string]string{"MCP_MAX_REQUEST_SIZE": "2048"}, func(l *config.Limits) any { return l.MaxRequestSize }, int64(2048)},
		"a unit":          {map[string]string{"MCP_MAX_RESPONSE_SIZE": "2MiB"}, func(l *config.Limits) any { return l.MaxResponseSize }, int64(2 << 20)},
		"metadata":        {map[string]string{"MCP_MAX_METADATA_SIZE": "1 KB"}, func(l *config.Limits) any { return l.MaxMetadataSize }, int64(1000)},
		"pages":           {map[string]string{"MCP_DEFAULT_PAGE_SIZE": "10", "MCP_MAX_PAGE_SIZE": "10"}, func(l *config.Limits) any { return l.DefaultPageSize + l.MaxPageSize }, 20},
		"buffer":          {map[string]string{"MCP_SUBSCRIPTION_BUFFER_SIZE": "1"}, func(l *config.Limits) any { return l.SubscriptionBufferSize }, 1},
		"subscriptions":   {map[string]string{"MCP_MAX_SUBSCRIPTIONS": "2"}, func(l *config.Limits) any { return l.MaxSubscriptions }, 2},
		"resources":       {map[string]string{"MCP_MAX_RESOURCE_SUBSCRIPTIONS": "3"}, func(l *config.Limits) any { return l.MaxResourceSubscriptions }, 3},
		"keepalive":       {map[string]string{"MCP_SUBSCRIPTION_KEEPALIVE": "3s"}, func(l *config.Limits) any { return l.SubscriptionKeepalive }, 3 * time.Second},
		"keepalive plain": {map[string]string{"MCP_SUBSCRIPTION_KEEPALIVE": "0.25"}, func(l *config.Limits) any { return l.SubscriptionKeepalive }, 250 * time.Millisecond},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			cfg, _ := load(t, ``, config.Options{Env: lookupIn(test.env)})
			if got := test.want(&cfg.Limits); got != test.is {
				t.Errorf("got %v, want %v", got, test.is)
			}
		})
	}
}

func TestVariableBeatsEnvironmentBeatsDefault(t *testing.T) {
	src := `
variable "x" {
  default = "default"
}
server { name = var.x }`
	env := lookupIn(map[string]string{"MCPHOST_VAR_x": "environment"})
	tests := map[string]struct {
		opts config.Options
		want string
	}{
		"default":     {config.Options{}, "default"},
		"environment": {config.Options{Env: env}, "environment"},
		"flag":        {config.Options{Env: env, Vars: map[string]string{"x": "flag"}}, "flag"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if cfg, _ := load(t, src, test.opts); cfg.Server.Name != test.want {
				t.Errorf("got %q, want %q", cfg.Server.Name, test.want)
			}
		})
	}
}

func TestFolderIsOneConfig(t *testing.T) {
	dir := write(t, map[string]string{
		"a.hcl":            `local "demo" { plugins = ["files", "json"] }`,
		"b.hcl":            `plugin "files" { command = ["${path.config_dir}/bin/tool"] }`,
		"c.hcl.json":       `{"plugin": {"json": {"command": "./bin/tool", "config": {"a": [1, "${1 + 1}"]}}}}`,
		".hidden.hcl":      `nonsense {`,
		"mcphost.lock.hcl": `nonsense {`,
		"notes.txt":        `nonsense {`,
	})
	cfg, diags := config.Load([]string{dir}, config.Options{Env: lookupIn(nil)})
	if len(diags.All()) > 0 {
		t.Fatalf("loading:\n%s", diags)
	}
	for _, handle := range []string{"files", "json"} {
		if p, ok := cfg.Plugin(handle); !ok || p.Command[0] != dir+"/bin/tool" {
			t.Errorf("plugin %q = %v", handle, p)
		}
	}
	p, _ := cfg.Plugin("json")
	value, more := p.DecodeConfig([]byte(`{"properties": {"a": {"items": {"type": "number"}}}}`))
	if more.HasErrors() || string(value.JSON) != `{"a":[1,2]}` {
		t.Errorf("config = %v, %v", value, more)
	}
	if _, diags = config.Load([]string{t.TempDir()}, config.Options{}); !diags.HasErrors() {
		t.Error("an empty folder is a config")
	}
	if _, diags = config.Load([]string{dir + "/none.hcl"}, config.Options{}); !diags.HasErrors() {
		t.Error("a missing file is a config")
	}
}

func TestPlaces(t *testing.T) {
	cfg, _ := load(t, `local "x" {
  command = ["./bin/tool"]
  env     = {
    A = "b"
  }
}`, config.Options{})
	p := cfg.Plugins[0]
	tests := map[string]struct {
		got  config.Range
		line int
	}{
		"block":            {p.Block, 1},
		"argument":         {p.At("command"), 2},
		"item":             {p.At("command", "0"), 2},
		"no such item":     {p.At("command", "7"), 2},
		"key":              {p.At("env", "A"), 4},
		"not written":      {p.At("sha256"), 1},
		"absent block":     {p.Sandbox.At("require"), 1},
		"absent tools":     {cfg.Locals[0].Tools.At("include"), 1},
		"endpoint's place": {cfg.Locals[0].At("plugins", "0"), 1},
	}
	for name, test := range tests {
		if test.got.Start.Line != test.line {
			t.Errorf("%s is at line %d, want %d", name, test.got.Start.Line, test.line)
		}
	}
	d := cfg.Report(config.NewError(p.At("command"), "Refused", "It is refused."))
	if want := "2:   command = [\"./bin/tool\"]"; !strings.Contains(d.String(), want) {
		t.Errorf("the report has no line %q:\n%s", want, d)
	}
}

func TestSecretsDoNotShow(t *testing.T) {
	cfg, _ := load(t, `
variable "v" {
  sensitive = true
  default   = "hunter1"
}
local "x" {
  command = ["./bin/tool"]
  secrets = { a = var.v, b = "hunter2", "${"c"}" = <<END
hunter3
hunter4
END
  }
}`, config.Options{})
	p := cfg.Plugins[0]
	if got := p.Secrets["a"].Reveal(); got != "hunter1" {
		t.Errorf("secret = %q", got)
	}
	encoded, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	all := []*config.Diagnostic{config.NewError(p.At("secrets"), "Bad", "It is bad.")}
	var asJSON bytes.Buffer
	if err := cfg.Report(all...).WriteJSON(&asJSON); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"%v": fmt.Sprintf("%v", p.Secrets), "%+v": fmt.Sprintf("%+v", p.Secrets), "%#v": fmt.Sprintf("%#v", p.Secrets),
		"JSON": string(encoded), "diagnostics": cfg.Report(all...).String(), "diagnostics as JSON": asJSON.String(),
	} {
		if strings.Contains(text, "hunter") {
			t.Errorf("%s shows a secret: %s", name, text)
		}
	}
}

func TestDiagnosticsAsJSON(t *testing.T) {
	_, diags := config.Load([]string{"testdata/unknown_plugin.hcl"}, options(t, "testdata/unknown_plugin.hcl"))
	var b bytes.Buffer
	if err := diags.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	want := `{
  "valid": false,
  "error_count": 2,
  "warning_count": 0,
  "diagnostics": [
    {
      "severity": "error",
      "summary": "Unknown plugin",
      "detail": "There is no plugin \"fils\". Did you mean \"files\"?",
      "range": {
        "filename": "testdata/unknown_plugin.hcl",
        "start": {
          "line": 6,
          "column": 14,
          "byte": 75
        },
        "end": {
          "line": 6,
          "column": 20,
          "byte": 81
        }
      },
      "snippet": "  plugins = [\"fils\"]"
    },
`
	if !strings.HasPrefix(b.String(), want) {
		t.Errorf("JSON (-want +got):\n%s", cmp.Diff(want, b.String()))
	}
}

func TestDeepNestingIsRefused(t *testing.T) {
	for name, src := range map[string]string{
		"lists":        "x = " + strings.Repeat("[", 20_000),
		"blocks":       strings.Repeat("a {\n", 20_000),
		"minus":        "x = " + strings.Repeat("-", 20_000),
		"conditionals": "x = " + strings.Repeat("true ? ", 20_000),
		"sum":          "x = 1" + strings.Repeat("+1", 20_000),
		"templates":    "x = " + strings.Repeat(`"${`, 20_000),
		"directives":   `x = "` + strings.Repeat(`%{ if true }`, 20_000),
		"indexes":      "x = a" + strings.Repeat("[b]", 60_000),
		"too large":    strings.Repeat("#", 2<<20),
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, map[string]string{"c.hcl": src})
			if _, diags := config.Load([]string{dir}, config.Options{Env: lookupIn(nil)}); !diags.HasErrors() {
				t.Error("it was accepted")
			}
		})
	}
}

func TestGlobs(t *testing.T) {
	tests := []struct {
		glob, name string
		want       bool
	}{
		{"*", "", true},
		{"a", "a", true},
		{"a", "ab", false},
		{"a*", "a", true},
		{"a*", "ba", false},
		{"*_x", "a_x", true},
		{"*_x", "_y", false},
		{"a*b*c", "a-b-b-c", true},
		{"a*b*c", "acb", false},
		{"ab*ba", "aba", false},
		{"file:///s/*", "file:///s/a/b", true},
		{"**", "x", true},
	}
	for _, test := range tests {
		if got := config.MatchGlob(test.glob, test.name); got != test.want {
			t.Errorf("MatchGlob(%q, %q) = %v", test.glob, test.name, got)
		}
	}
}

func TestShape(t *testing.T) {
	s := config.Shape{Include: []string{"a*"}, Exclude: []string{"ab*"}, Prefix: "p_", Rename: map[string]string{"ac": "other"}}
	for own, want := range map[string]string{"a": "p_a", "ab": "", "ac": "other", "b": ""} {
		got := ""
		if s.Serves(own) {
			got = s.Name(own, own)
		}
		if got != want {
			t.Errorf("%q is served as %q, want %q", own, got, want)
		}
	}
}

func FuzzLoad(f *testing.F) {
	files, err := filepath.Glob("testdata/*.hcl*")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src, strings.HasSuffix(file, ".json"))
	}
	f.Fuzz(func(t *testing.T, src []byte, asJSON bool) {
		name := "c.hcl"
		if asJSON {
			name = "c.hcl.json"
		}
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, src, 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, diags := config.Load([]string{path}, config.Options{Env: lookupIn(map[string]string{"HOME": t.TempDir()})})
		if (cfg == nil) != diags.HasErrors() {
			t.Errorf("config %v with diagnostics\n%s", cfg, diags)
		}
		_ = diags.String()
	})
}
