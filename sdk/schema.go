package sdk

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// typeSchemas holds the types whose JSON is not what their Go kind suggests.
var typeSchemas = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[json.RawMessage](): {},
	reflect.TypeFor[[]byte]():          {Type: "string", ContentEncoding: "base64"},
}

// inputSchema returns the schema of what is decoded into t. A slice that is absent is left out, not null, so
// it is plainly an array: models and clients do better with one type than with two.
func inputSchema(t reflect.Type) (*jsonschema.Schema, error) {
	s, err := typeSchema(t)
	if err != nil {
		return nil, err
	}
	return s, mend(t, s, true)
}

// outputSchema returns the schema of what t is encoded to, in which a nil slice is null.
func outputSchema(t reflect.Type) (*jsonschema.Schema, error) {
	s, err := typeSchema(t)
	if err != nil {
		return nil, err
	}
	return s, mend(t, s, false)
}

// typeSchema infers the schema of t, or of what it points to.
func typeSchema(t reflect.Type) (*jsonschema.Schema, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: typeSchemas})
}

// mend walks t and its schema s together and applies the struct tags that jsonschema-go does not know.
func mend(t reflect.Type, s *jsonschema.Schema, input bool) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() { //nolint:exhaustive // the other kinds have nothing inside of them
	case reflect.Slice, reflect.Array:
		if input && slices.Equal(s.Types, []string{"null", "array"}) {
			s.Type, s.Types = "array", nil
		}
		if s.Items != nil {
			return mend(t.Elem(), s.Items, input)
		}
	case reflect.Map:
		if s.AdditionalProperties != nil {
			return mend(t.Elem(), s.AdditionalProperties, input)
		}
	case reflect.Struct:
		return mendStruct(t, s, input)
	default:
	}
	return nil
}

func mendStruct(t reflect.Type, s *jsonschema.Schema, input bool) error {
	for _, field := range reflect.VisibleFields(t) {
		property := s.Properties[jsonName(field)]
		if field.Anonymous || property == nil {
			continue
		}
		if err := mend(field.Type, property, input); err != nil {
			return err
		}
		if err := applyTags(field, property); err != nil {
			return fmt.Errorf("field %s of %s: %w", field.Name, t, err)
		}
		if property.Default != nil {
			s.Required = slices.DeleteFunc(s.Required, func(name string) bool { return name == jsonName(field) })
		}
	}
	return nil
}

// applyTags reads the tags default, enum, minimum, maximum, format, pattern, header, secret and path of a field.
func applyTags(field reflect.StructField, s *jsonschema.Schema) error {
	scalar := field.Type
	for scalar.Kind() == reflect.Pointer || scalar.Kind() == reflect.Slice {
		scalar = scalar.Elem()
	}
	if text, ok := field.Tag.Lookup("default"); ok {
		value, err := literal(field.Type, text)
		if err != nil {
			return fmt.Errorf("default: %w", err)
		}
		s.Default = value
	}
	if text, ok := field.Tag.Lookup("enum"); ok {
		target := s
		if s.Items != nil {
			target = s.Items
		}
		for word := range strings.SplitSeq(text, ",") {
			value, err := literal(scalar, word)
			if err != nil {
				return fmt.Errorf("enum: %w", err)
			}
			target.Enum = append(target.Enum, value)
		}
	}
	for tag, place := range map[string]**float64{"minimum": &s.Minimum, "maximum": &s.Maximum} {
		if text, ok := field.Tag.Lookup(tag); ok {
			f, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return fmt.Errorf("%s: %w", tag, err)
			}
			*place = &f
		}
	}
	if text, ok := field.Tag.Lookup("format"); ok {
		s.Format = text
	}
	if text, ok := field.Tag.Lookup("pattern"); ok {
		s.Pattern = text
	}
	if text, ok := field.Tag.Lookup("header"); ok {
		s.Extra = map[string]any{"x-mcp-header": text}
	}
	s.WriteOnly = field.Tag.Get("secret") == "true"
	if field.Tag.Get("path") == "true" {
		target := s
		if s.Items != nil {
			target = s.Items
		}
		target.Extra = map[string]any{"x-mcphost-path": true}
	}
	return nil
}

// literal returns text as JSON that decodes into t: a string needs no quotes in a tag.
func literal(t reflect.Type, text string) (json.RawMessage, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	raw := json.RawMessage(text)
	if t.Kind() == reflect.String {
		quoted, err := json.Marshal(text)
		if err != nil {
			return nil, err
		}
		raw = quoted
	}
	if err := json.Unmarshal(raw, reflect.New(t).Interface()); err != nil {
		return nil, fmt.Errorf("%q is no %s: %w", text, t, err)
	}
	return raw, nil
}

// jsonName returns the name of a field in JSON, or "-" for one that has none.
func jsonName(field reflect.StructField) string {
	if !field.IsExported() {
		return "-"
	}
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	if name == "" {
		return field.Name
	}
	return name
}
