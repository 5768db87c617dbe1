package peers

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The revisions, oldest first. They compare as text because they are dates.
const (
	r2024 = "2024-11-05"
	r2503 = "2025-03-26"
	r2506 = "2025-06-18"
	r2511 = "2025-11-25"
	r2026 = "2026-07-28"
)

var legacyRevisions = []string{r2024, r2503, r2506, r2511}

// npm returns the folder in which the pinned packages are installed.
var npm = sync.OnceValues(func() (string, error) {
	dir, err := filepath.Abs("../../.cache/peers")
	if err != nil {
		return "", err
	}
	lock, err := os.ReadFile("npm/package-lock.json")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	held, err := os.Create(filepath.Join(dir, "lock"))
	if err != nil {
		return "", err
	}
	defer held.Close()
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX); err != nil { // another run may be installing
		return "", err
	}
	// The stamp is written last, so an install that was cut short is done again.
	stamp := filepath.Join(dir, "installed.json")
	if have, err := os.ReadFile(stamp); err == nil && bytes.Equal(have, lock) {
		return dir, nil
	}
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile("npm/" + name)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return "", err
		}
	}
	c := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return dir, os.WriteFile(stamp, lock, 0o644)
})

// script copies a script of the folder npm to where it finds the installed packages.
func script(t *testing.T, name string) string {
	t.Helper()
	path, err := placeScript(t.TempDir(), name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func placeScript(dir, name string) (string, error) {
	packages, err := npm()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile("npm/" + name)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	return path, errors.Join(
		os.Symlink(filepath.Join(packages, "node_modules"), filepath.Join(dir, "node_modules")),
		os.WriteFile(path, text, 0o644))
}

// A schema is the published one of a revision.
type schema struct {
	compiler *jsonschema.Compiler
	url      string
	defs     map[string]map[string]any
	byMethod map[string]string // the definition of a message with that method
	results  map[string]string // the definition of the result of that method
	byCode   map[int]string    // the definition of an error response with that code

	mu       sync.Mutex // guards compiled
	compiled map[string]*jsonschema.Schema
}

// schemas returns the schemas by revision. That of 2024-11-05 is in no
// package: what it says of a host's messages is what 2025-03-26 says, less
// audio content and all else that came with that revision.
var schemas = sync.OnceValues(func() (map[string]*schema, error) {
	dir, err := os.MkdirTemp(house, "schemas")
	if err != nil {
		return nil, err
	}
	path, err := placeScript(dir, "schemas.mjs")
	if err != nil {
		return nil, err
	}
	var stderr bytes.Buffer
	c := exec.Command("node", path)
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("node schemas.mjs: %w\n%s", err, stderr.Bytes())
	}
	var docs map[string]json.RawMessage
	if err := json.Unmarshal(out, &docs); err != nil {
		return nil, err
	}
	all := make(map[string]*schema)
	for revision, doc := range docs {
		if all[revision], err = newSchema(revision, doc); err != nil {
			return nil, fmt.Errorf("schema of %s: %w", revision, err)
		}
	}
	if all[r2024] = all[r2503]; len(all) != 5 {
		return nil, fmt.Errorf("%d schemas", len(all))
	}
	return all, nil
})

func newSchema(revision string, text []byte) (*schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	root, _ := doc.(map[string]any)
	key := "$defs"
	if root[key] == nil {
		key = "definitions"
	}
	s := &schema{
		url: "mcp://" + revision + "/schema.json", compiler: jsonschema.NewCompiler(),
		defs: map[string]map[string]any{}, byMethod: map[string]string{}, results: map[string]string{}, byCode: map[int]string{},
		compiled: map[string]*jsonschema.Schema{},
	}
	defs, _ := root[key].(map[string]any)
	for name, def := range defs {
		s.defs[name], _ = def.(map[string]any)
	}
	s.index()
	if revision == r2506 || revision == r2511 {
		// As the suite does: the generator wrote integer where schema.ts says number.
		for _, member := range []string{"minimum", "maximum", "default"} {
			if p, ok := at(s.defs["NumberSchema"], "properties", member).(map[string]any); ok && p["type"] == "integer" {
				p["type"] = "number"
			}
		}
	}
	s.compiler.AssertFormat()
	s.compiler.RegisterFormat(&jsonschema.Format{Name: "byte", Validate: isBase64})
	return s, errors.Join(s.compiler.AddResource(s.url, doc))
}

func isBase64(v any) error {
	text, ok := v.(string)
	if !ok {
		return nil
	}
	_, err := base64.StdEncoding.Strict().DecodeString(text)
	return err
}

// at walks into objects.
func at(v any, path ...string) any {
	for _, name := range path {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

// unions are definitions that are no message of their own.
var unions = []string{"ClientRequest", "ClientNotification", "ClientResult", "ServerRequest", "ServerNotification", "ServerResult"}

func (s *schema) index() {
	for name, def := range s.defs {
		if slices.Contains(unions, name) {
			continue
		}
		if method, ok := at(def, "properties", "method", "const").(string); ok {
			s.byMethod[method] = name
			if request, ok := strings.CutSuffix(name, "Request"); ok && s.defs[request+"Result"] != nil {
				s.results[method] = request + "Result"
			}
		}
		all, _ := at(def, "properties", "error", "allOf").([]any)
		for _, part := range all {
			if code, ok := at(part, "properties", "code", "const").(json.Number); ok {
				n, _ := code.Int64()
				s.byCode[int(n)] = name
			}
		}
	}
}

// is validates v against the first of the definitions that the revision has.
func (s *schema) is(v any, names ...string) error {
	name := names[len(names)-1]
	for _, n := range names {
		if s.defs[n] != nil {
			name = n
			break
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	compiled := s.compiled[name]
	if compiled == nil {
		key := "$defs"
		if s.url < "mcp://"+r2511 {
			key = "definitions"
		}
		var err error
		if compiled, err = s.compiler.Compile(s.url + "#/" + key + "/" + name); err != nil {
			return err
		}
		s.compiled[name] = compiled
	}
	if err := compiled.Validate(v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// check validates one message of a host. method is that of the request which
// the message answers, if it is a response.
func check(revision, method string, msg []byte) error {
	all, err := schemas()
	if err != nil {
		return err
	}
	s := all[revision]
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(msg))
	if err != nil {
		return err
	}
	m, ok := v.(map[string]any)
	switch {
	case !ok:
		return errors.New("no object")
	case revision == r2024 && bytes.Contains(msg, []byte(`"type":"audio"`)):
		return errors.New("2024-11-05 has no audio content")
	case m["method"] != nil:
		name, _ := m["method"].(string)
		def, known := s.byMethod[name]
		if !known {
			return fmt.Errorf("the revision has no method %q", name)
		}
		return s.is(v, def)
	case m["error"] != nil:
		if _, has := m["id"]; !has && revision <= r2506 {
			m["id"] = "unknown" // docs/errors.md: JSON-RPC's null is no id of these schemas, which know no error without one
		}
		code, _ := at(m, "error", "code").(json.Number)
		n, _ := code.Int64()
		if def := s.byCode[int(n)]; def != "" {
			return s.is(v, def)
		}
		return s.is(v, "JSONRPCErrorResponse", "JSONRPCError")
	}
	result := m["result"]
	def := s.results[method]
	switch {
	case at(result, "resultType") == "input_required":
		def = "InputRequiredResult"
	case def == "":
		def = "EmptyResult"
	}
	return errors.Join(s.is(result, def), s.is(v, "JSONRPCResultResponse", "JSONRPCResponse"))
}

func TestSchemasRefuse(t *testing.T) {
	tests := map[string]struct{ revision, method, msg, want string }{
		"a result without its type":        {r2026, "tools/list", `{"jsonrpc":"2.0","id":1,"result":{"tools":[],"ttlMs":0,"cacheScope":"public"}}`, "resultType"},
		"a list without a cache hint":      {r2026, "tools/list", `{"jsonrpc":"2.0","id":1,"result":{"tools":[],"resultType":"complete"}}`, "ttlMs"},
		"a version error without versions": {r2026, "", `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"m"}}`, "data"},
		"a null id":                        {r2511, "", `{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m"}}`, "id"},
		"an unknown method":                {r2506, "", `{"jsonrpc":"2.0","method":"notifications/none"}`, "no method"},
		"audio before there was any":       {r2024, "tools/call", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"audio","data":"","mimeType":"a/b"}]}}`, "audio"},
		"content that is none":             {r2503, "tools/call", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text"}]}}`, "content"},
		"something in an empty result":     {r2511, "ping", `{"jsonrpc":"2.0","id":1,"result":[]}`, "object"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if err := check(test.revision, test.method, []byte(test.msg)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want something of %q", err, test.want)
			}
		})
	}
}
