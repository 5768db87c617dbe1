package sdk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// A decoder turns JSON objects into values of one type. Everything that needs reflection beyond
// encoding/json's own is worked out when it is made.
type decoder[T any] struct {
	defaults T
	checked  bool // whether fields are those of the schema
	open     bool // whether other fields are taken, and ignored
	fields   map[string]fieldRule
	required []string
}

// fieldRule is what decoding alone does not see: encoding/json takes null for anything.
type fieldRule struct {
	nullable bool
	kind     string
	bit      uint64 // of a field that must be there; 0 for others, and past the 64th
}

// newDecoder returns the decoder for T, and the schema that it was made from.
func newDecoder[T any]() (*decoder[T], *jsonschema.Schema, error) {
	t := reflect.TypeFor[T]()
	if t.Kind() == reflect.Interface || t == reflect.TypeFor[json.RawMessage]() {
		return &decoder[T]{}, &jsonschema.Schema{Type: "object"}, nil
	}
	schema, err := inputSchema(t)
	if err != nil {
		return nil, nil, err
	}
	if schema.Type != "object" {
		return nil, nil, fmt.Errorf("%s is not a JSON object", t)
	}
	d := &decoder[T]{required: schema.Required}
	if t.Kind() != reflect.Struct {
		return d, schema, nil
	}
	d.checked = true
	d.fields = make(map[string]fieldRule, len(schema.Properties))
	defaults := map[string]json.RawMessage{}
	for name, property := range schema.Properties {
		rule := fieldRule{kind: property.Type, nullable: property.Type == "" && len(property.Types) == 0}
		if i := slices.Index(schema.Required, name); i >= 0 && i < 64 {
			rule.bit = 1 << i
		}
		if len(property.Types) > 0 {
			rule.nullable = slices.Contains(property.Types, "null")
			rule.kind = strings.Join(property.Types, " or ")
		}
		d.fields[name] = rule
		if property.Default != nil {
			defaults[name] = property.Default
		}
	}
	return d, schema, d.setDefaults(defaults)
}

func (d *decoder[T]) setDefaults(defaults map[string]json.RawMessage) error {
	if len(defaults) == 0 {
		return nil
	}
	raw, err := json.Marshal(defaults)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, &d.defaults)
}

// A fieldError says which field of an object is wrong, and how.
type fieldError struct {
	path   []string // from the root; empty is the root itself
	reason string
}

func (e *fieldError) Error() string {
	if len(e.path) == 0 {
		return e.reason
	}
	return fmt.Sprintf("%q %s", strings.Join(e.path, "."), e.reason)
}

// decode decodes raw, strictly enough that a wrong, missing or unknown field is an error that names it;
// absent fields have their defaults. Deeper rules of the schema are the host's to check.
func (d *decoder[T]) decode(raw []byte) (T, error) {
	value := d.defaults
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	if err := json.Unmarshal(raw, &value); err != nil {
		return value, d.explain(raw, err)
	}
	if !d.checked {
		if first := bytes.TrimLeft(raw, " \t\r\n"); first[0] != '{' {
			return value, &fieldError{reason: "must be an object"}
		}
		return value, nil
	}
	return value, d.check(raw)
}

// check looks at the names that raw, which is valid JSON, has at its top.
func (d *decoder[T]) check(raw []byte) error {
	var seen uint64
	var problem error
	object := eachMember(raw, func(key []byte, first byte) {
		rule, known := d.fields[string(key)]
		seen |= rule.bit
		switch {
		case problem != nil:
		case !known && d.open:
		case !known:
			problem = &fieldError{path: []string{string(key)}, reason: "is unknown"}
		case first == 'n' && !rule.nullable:
			problem = &fieldError{path: []string{string(key)}, reason: "must be " + rule.kind + ", not null"}
		}
	})
	if !object {
		return &fieldError{reason: "must be an object"}
	}
	if problem != nil {
		return problem
	}
	for _, name := range d.required {
		if d.fields[name].bit&^seen != 0 {
			return &fieldError{path: []string{name}, reason: "is missing"}
		}
	}
	return nil
}

// explain turns an error of encoding/json into one that names the field.
func (d *decoder[T]) explain(raw []byte, err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		e := &fieldError{reason: fmt.Sprintf("must be %s, not %s", jsonKind(wrong.Type), wrong.Value)}
		if wrong.Field != "" {
			e.path = strings.Split(wrong.Field, ".")
		}
		return e
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok || !d.checked {
		return &fieldError{reason: err.Error()}
	}
	return &fieldError{path: d.culprit(raw), reason: err.Error()}
}

// culprit finds the field that a type's own decoder did not like: those errors do not say.
func (d *decoder[T]) culprit(raw []byte) []string {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		member, ok := members[jsonName(field)]
		if ok && !field.Anonymous && json.Unmarshal(member, reflect.New(field.Type).Interface()) != nil {
			return []string{jsonName(field)}
		}
	}
	return nil
}

// jsonKind returns the word of JSON Schema for a Go type.
func jsonKind(t reflect.Type) string {
	switch t.Kind() { //nolint:exhaustive // the integers are the rest
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Struct, reflect.Map:
		return "object"
	default:
		return "integer"
	}
}

// eachMember calls fn with each name at the top of the object raw, which must be valid JSON, and the first byte
// of its value. It returns false if raw is no object.
func eachMember(raw []byte, fn func(key []byte, first byte)) bool {
	i := skipSpace(raw, 0)
	if i >= len(raw) || raw[i] != '{' {
		return false
	}
	depth, expectKey := 0, false
	for i < len(raw) {
		switch raw[i] {
		case '{', '[':
			depth++
			expectKey = depth == 1
		case '}', ']':
			depth--
		case ',':
			expectKey = depth == 1
		case '"':
			end := stringEnd(raw, i)
			if expectKey {
				expectKey = false
				colon := skipSpace(raw, end)
				value := skipSpace(raw, colon+1)
				fn(unquote(raw[i:end]), raw[value])
				i = value
				continue
			}
			i = end
			continue
		}
		i++
	}
	return true
}

func skipSpace(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\n' || raw[i] == '\r') {
		i++
	}
	return i
}

// stringEnd returns the index after the string that starts at i.
func stringEnd(raw []byte, i int) int {
	for i++; raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func unquote(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return quoted
	}
	return []byte(s)
}
