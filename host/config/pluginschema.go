package config

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Bounds of a plugin's schema, which is not trusted.
const (
	maxSchemaSize     = 1 << 20
	maxSchemaDepth    = 64
	maxSchemaSteps    = 200_000 // subschemas tried on one config
	maxDependents     = 4       // dependentSchemas and dependencies: their failures cost steps that are not counted
	maxSchemaInPlace  = 200     // subschemas looked at for one place
	schemaURL         = "mcphost:config"
	schemaVocabulary  = "mcphost:steps"
	secretKeyword     = "x-mcphost-secret"
	secretKeywordSpec = "writeOnly"
	pathKeyword       = "x-mcphost-path"
)

var errTooCostly = errors.New("checking the configuration against it takes too long")

// A schema is the compiled form and the raw one, which guides how blocks are read.
type schema struct {
	compiled *jsonschema.Schema
	steps    *steps
	root     map[string]any
}

// compileSchema takes JSON Schema 2020-12, or what dialect it declares, and
// never looks beyond the document itself.
func compileSchema(src []byte) (*schema, error) {
	if len(src) > maxSchemaSize {
		return nil, fmt.Errorf("it has %d bytes, and at most %d are allowed", len(src), maxSchemaSize)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(src))
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	root, ok := doc.(map[string]any)
	if !ok {
		return nil, errors.New("it is not a JSON object")
	}
	if dependents, deep := survey(doc, maxSchemaDepth); deep {
		return nil, fmt.Errorf("it nests more than %d deep", maxSchemaDepth)
	} else if dependents > maxDependents {
		return nil, fmt.Errorf("it has more than %d dependentSchemas", maxDependents)
	}
	s := &schema{root: root, steps: &steps{}}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // knows no scheme: nothing is loaded
	c.RegisterVocabulary(&jsonschema.Vocabulary{URL: schemaVocabulary, Compile: s.steps.compile})
	c.AssertVocabs()
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, err
	}
	s.compiled, err = c.Compile(schemaURL)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// survey counts the keywords whose cost is not counted, and says whether the
// document is too deep.
func survey(v any, depth int) (dependents int, deep bool) {
	if depth == 0 {
		return 0, true
	}
	var children []any
	switch v := v.(type) {
	case map[string]any:
		for _, key := range []string{"dependentSchemas", "dependencies"} {
			if _, ok := v[key]; ok {
				dependents++
			}
		}
		children = slices.Collect(maps.Values(v))
	case []any:
		children = v
	}
	for _, child := range children {
		n, tooDeep := survey(child, depth-1)
		dependents += n
		deep = deep || tooDeep
	}
	return dependents, deep
}

// steps stands in every subschema and counts how often one is tried: a few
// hundred bytes of schema can ask for more work than there is time.
type steps struct{ left int }

func (s *steps) compile(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) {
	return s, nil
}

// Validate counts; the panic is caught in [schema.validate], since the library has no other way out.
func (s *steps) Validate(*jsonschema.ValidatorContext, any) {
	if s.left--; s.left < 0 {
		panic(errTooCostly)
	}
}

// validate returns what is wrong with v, or errTooCostly.
func (s *schema) validate(v any) (_ *jsonschema.ValidationError, err error) {
	defer func() {
		if r := recover(); r != nil {
			if r != any(errTooCostly) {
				panic(r)
			}
			err = errTooCostly
		}
	}()
	s.steps.left = maxSchemaSteps
	var invalid *jsonschema.ValidationError
	if err := s.compiled.Validate(v); errors.As(err, &invalid) {
		return invalid, nil
	} else if err != nil {
		return nil, err
	}
	return nil, nil
}

// A node is a place in the raw schema. The zero node knows nothing.
type node struct {
	schema *schema
	raw    map[string]any
}

func (s *schema) node() node { return node{s, s.root} }

// inPlace returns the schemas that speak of the same value: the node's own,
// and through $ref and allOf; through anyOf and oneOf too if branches is set.
func (n node) inPlace(branches bool) []map[string]any {
	if n.raw == nil {
		return nil
	}
	out := []map[string]any{n.raw}
	refs := map[string]bool{}
	for i := 0; i < len(out) && len(out) < maxSchemaInPlace; i++ {
		raw := out[i]
		if ref, ok := raw["$ref"].(string); ok && !refs[ref] {
			refs[ref] = true
			out = appendObjects(out, n.schema.resolve(ref))
		}
		out = appendObjects(out, list(raw["allOf"])...)
		if branches {
			out = appendObjects(out, list(raw["anyOf"])...)
			out = appendObjects(out, list(raw["oneOf"])...)
		}
	}
	return out
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func appendObjects(out []map[string]any, in ...any) []map[string]any {
	for _, v := range in {
		if m, ok := v.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// resolve follows a reference within the document by JSON pointer; nil for any other.
func (s *schema) resolve(ref string) any {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok || pointer != "" && pointer[0] != '/' {
		return nil
	}
	var v any = s.root
	for _, token := range splitPointer(pointer) {
		switch at := v.(type) {
		case map[string]any:
			v = at[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(at) {
				return nil
			}
			v = at[i]
		default:
			return nil
		}
	}
	return v
}

// property returns the schema of a property, declared or additional.
func (n node) property(name string) node {
	all := n.inPlace(true)
	for _, raw := range all {
		props, _ := raw["properties"].(map[string]any)
		if p, ok := props[name].(map[string]any); ok {
			return node{n.schema, p}
		}
	}
	for _, raw := range all {
		if p, ok := raw["additionalProperties"].(map[string]any); ok {
			return node{n.schema, p}
		}
	}
	return node{}
}

// items returns the schema of the items of an array.
func (n node) items() node {
	for _, raw := range n.inPlace(true) {
		if p, ok := raw["items"].(map[string]any); ok {
			return node{n.schema, p}
		}
	}
	return node{}
}

// names returns the properties that are declared, sorted.
func (n node) names() []string {
	all := map[string]bool{}
	for _, raw := range n.inPlace(true) {
		props, _ := raw["properties"].(map[string]any)
		for name := range props {
			all[name] = true
		}
	}
	return keys(all)
}

// isArray reports whether the value is an array and cannot be an object:
// blocks of this name are its items.
func (n node) isArray() bool { return n.takes("array") && !n.takes("object") }

// isMap reports whether the value is an object with keys of the operator's
// choice: the labels of blocks are keys.
func (n node) isMap() bool {
	for _, raw := range n.inPlace(true) {
		if _, ok := raw["additionalProperties"].(map[string]any); ok {
			return true
		}
	}
	return false
}

func (n node) takes(typ string) bool {
	for _, raw := range n.inPlace(true) {
		if raw["type"] == typ || slices.Contains(list(raw["type"]), any(typ)) {
			return true
		}
	}
	return false
}

// isSecret reports whether the value must not be shown.
func (n node) isSecret() bool { return n.says(secretKeyword) || n.says(secretKeywordSpec) }

// says reports whether a keyword is true.
func (n node) says(keyword string) bool {
	for _, raw := range n.inPlace(true) {
		if raw[keyword] == true {
			return true
		}
	}
	return false
}

// rewritePaths makes the strings that are paths absolute, and returns v.
func (n node) rewritePaths(v any, absolute func(string) string) any {
	switch at := v.(type) {
	case string:
		if at != "" && n.says(pathKeyword) {
			return absolute(at)
		}
	case map[string]any:
		for name, child := range at {
			at[name] = n.property(name).rewritePaths(child, absolute)
		}
	case []any:
		for i, child := range at {
			at[i] = n.items().rewritePaths(child, absolute)
		}
	}
	return v
}

// fill puts the defaults of absent properties into an object, and into the
// objects inside of it that are there.
func (n node) fill(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, raw := range n.inPlace(false) {
			props, _ := raw["properties"].(map[string]any)
			for name, p := range props {
				p, _ := p.(map[string]any)
				if fallback, ok := p["default"]; ok {
					if _, given := v[name]; !given {
						v[name] = clone(fallback)
					}
				}
			}
		}
		for name, child := range v {
			n.property(name).fill(child)
		}
	case []any:
		for _, child := range v {
			n.items().fill(child)
		}
	}
}

func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, child := range v {
			out[key] = clone(child)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, child := range v {
			out[i] = clone(child)
		}
		return out
	}
	return v
}
