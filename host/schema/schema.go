package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/mcphost/mcphost/host/jsonrpc"
)

// Bounds of a schema; its depth is bounded by [jsonrpc.MaxDepth].
const (
	maxBytes   = 256 << 10 // of its text
	maxObjects = 4096      // in it, subschemas among them
	maxPattern = 4096      // bytes of a regular expression
	maxDigits  = 400       // of a number in it, and the largest exponent
)

// base is the address of every document, for references to resolve against.
const base = "mcphost:///schema"

// dialects are the values of $schema that are supported, less scheme and an empty fragment.
var dialects = map[string]bool{
	"json-schema.org/schema":               true,
	"json-schema.org/draft/2020-12/schema": true,
	"json-schema.org/draft/2019-09/schema": true,
	"json-schema.org/draft-07/schema":      true,
	"json-schema.org/draft-06/schema":      true,
	"json-schema.org/draft-04/schema":      true,
}

// ErrDialect says that $schema names a dialect that is not supported.
var ErrDialect = errors.New("dialect not supported")

// A Schema is a compiled JSON Schema. It may be used concurrently.
type Schema struct {
	root      *node
	unchecked []string
}

// Compile compiles b, a JSON Schema. Its error is for whoever wrote the schema.
func Compile(b []byte) (s *Schema, err error) {
	if err := bounded(b); err != nil {
		return nil, err
	}
	if err := dialect(b); err != nil {
		return nil, err
	}
	// The library has been seen to panic on odd input; a plugin's schema must not end the host.
	defer func() {
		if p := recover(); p != nil {
			s, err = nil, fmt.Errorf("compiling the schema: %v", p)
		}
	}()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(compilePattern)
	if err := c.AddResource(base, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(base)
	if err != nil {
		return nil, plainer(err)
	}
	return build(compiled, doc)
}

// Unchecked lists the patterns that are not enforced, because they use a feature
// of ECMAScript (lookaround, back-references) that has no bound on its time.
func (s *Schema) Unchecked() []string { return s.unchecked }

// noLoader loads nothing (MCP server/tools: a host MUST NOT fetch a network $ref by itself).
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("a reference leaves the document: %.200q", url)
}

// plainer returns err on one line of bounded length, without the address that we made up.
func plainer(err error) error {
	text := err.Error()
	var broken *jsonschema.SchemaValidationError
	var verdict *jsonschema.ValidationError
	if errors.As(err, &broken) && errors.As(broken.Err, &verdict) {
		text = "not a valid schema: " + strings.Join(leaves(verdict, nil), "; ")
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, base, ""), "\n", " ")
	return errors.New(cut(text, maxText))
}

// leaves appends what is wrong at the ends of v, at most a few.
func leaves(v *jsonschema.ValidationError, list []string) []string {
	for _, cause := range v.Causes {
		list = leaves(cause, list)
	}
	if len(v.Causes) > 0 || len(list) >= maxComplaints {
		return list
	}
	text := v.ErrorKind.LocalizedString(message.NewPrinter(language.English))
	if f, ok := v.ErrorKind.(*kind.Format); ok {
		text = fmt.Sprintf("not a valid %s: %v", f.Want, f.Err)
	}
	return append(list, fmt.Sprintf("at %q: %s", "/"+strings.Join(v.InstanceLocation, "/"), cut(text, 4*maxShort)))
}

// dialect checks the root's $schema.
func dialect(b []byte) error {
	if !jsonrpc.IsObject(b) {
		return nil
	}
	v := jsonrpc.Lookup(b, "$schema")
	if v == nil {
		return nil
	}
	name, ok := jsonrpc.String(v)
	if !ok {
		return fmt.Errorf("%w: $schema is not a string", ErrDialect)
	}
	plain := strings.TrimPrefix(strings.TrimPrefix(name, "http://"), "https://")
	if !dialects[strings.TrimSuffix(plain, "#")] {
		return fmt.Errorf("%w: %.200q", ErrDialect, name)
	}
	return nil
}

// bounded checks the form and the bounds of a schema's text.
func bounded(b []byte) error {
	if len(b) > maxBytes {
		return fmt.Errorf("the schema has %d bytes, at most %d are allowed", len(b), maxBytes)
	}
	if err := jsonrpc.Check(b); err != nil {
		return fmt.Errorf("reading the schema: %w", err)
	}
	objects := 0
	return walk(trim(b), func(v []byte) error {
		switch {
		case v[0] == '{':
			if objects++; objects > maxObjects {
				return fmt.Errorf("the schema has more than %d objects", maxObjects)
			}
		case isNumber(v):
			if d := parseDecimal(v); len(d.digits) > maxDigits || d.exp > maxDigits || d.exp < -maxDigits {
				return fmt.Errorf("the schema has a number that is too large: %.40s", v)
			}
		}
		return nil
	})
}

// walk calls f with v, a valid JSON value, and with every value in it.
func walk(v []byte, f func(v []byte) error) error {
	err := f(v)
	each := func(v []byte) bool {
		err = walk(v, f)
		return err == nil
	}
	switch {
	case err != nil:
	case v[0] == '{':
		jsonrpc.Members(v, func(_, v []byte) bool { return each(v) })
	case v[0] == '[':
		jsonrpc.Elements(v, each)
	}
	return err
}

// trim returns b, a valid JSON text, without the white space around its value.
func trim(b []byte) []byte { return bytes.Trim(b, " \t\r\n") }

func isNumber(v []byte) bool { return v[0] == '-' || v[0] >= '0' && v[0] <= '9' }

// marshal returns v, which was JSON, as JSON.
func marshal(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return []byte("null") // not reached: v was decoded from JSON
	}
	return trim(buf.Bytes())
}
