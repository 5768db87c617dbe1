package schema

import (
	"bytes"
	"slices"
	"strings"

	"github.com/mcphost/mcphost/host/jsonrpc"
)

// A typeSet is a set of JSON types.
type typeSet uint8

const (
	nullType typeSet = 1 << iota
	booleanType
	numberType
	integerType
	stringType
	arrayType
	objectType
)

var typeNames = [...]string{"null", "boolean", "number", "integer", "string", "array", "object"}

func typesOf(names []string) (t typeSet) {
	for i, name := range typeNames {
		if slices.Contains(names, name) {
			t |= 1 << i
		}
	}
	return t
}

func (t typeSet) String() string {
	var names []string
	for i, name := range typeNames {
		if t&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}

// typeOf returns the type of v; every number is a number.
func typeOf(v []byte) typeSet {
	switch v[0] {
	case 'n':
		return nullType
	case 't', 'f':
		return booleanType
	case '"':
		return stringType
	case '[':
		return arrayType
	case '{':
		return objectType
	}
	return numberType
}

// has reports whether v is of one of the types t.
func (t typeSet) has(v []byte) bool {
	is := typeOf(v)
	return t&is != 0 || t&integerType != 0 && is == numberType && isInteger(v)
}

// A value is one that a schema names, in const or enum.
type value struct {
	text      []byte // as JSON, for complaints
	canonical []byte
}

func valueOf(v any) value {
	text := marshal(v)
	return value{text: text, canonical: appendCanonical(nil, text)}
}

// is reports whether v, a valid JSON value, equals the value.
func (w *value) is(v []byte) bool {
	switch v[0] {
	case 'n', 't', 'f':
		return bytes.Equal(v, w.canonical)
	case '"':
		if bytes.IndexByte(v, '\\') < 0 {
			return bytes.Equal(v, w.canonical)
		}
	}
	return w.canonical[0] == v[0] && bytes.Equal(appendCanonical(nil, v), w.canonical) ||
		isNumber(v) && bytes.Equal(parseDecimal(v).append(nil), w.canonical)
}

// appendCanonical appends v in one form for all the ways to write it: two
// values are equal to JSON Schema if and only if their forms are.
func appendCanonical(dst, v []byte) []byte {
	switch v[0] {
	case '"':
		if bytes.IndexByte(v, '\\') < 0 {
			return append(dst, v...)
		}
		s, _ := jsonrpc.String(v)
		return jsonrpc.AppendString(dst, s)
	case '[':
		dst = append(dst, '[')
		jsonrpc.Elements(v, func(e []byte) bool {
			dst = append(appendCanonical(dst, e), ',')
			return true
		})
		return append(dst, ']')
	case '{':
		return appendCanonicalObject(dst, v)
	case 'n', 't', 'f':
		return append(dst, v...)
	}
	return parseDecimal(v).append(dst)
}

func appendCanonicalObject(dst, v []byte) []byte {
	type member struct{ key, value []byte }
	var members []member
	jsonrpc.Members(v, func(key, value []byte) bool {
		members = append(members, member{key, value})
		return true
	})
	slices.SortStableFunc(members, func(a, b member) int { return bytes.Compare(a.key, b.key) })
	dst = append(dst, '{')
	for _, m := range members {
		dst = append(jsonrpc.AppendString(dst, string(m.key)), ':')
		dst = append(appendCanonical(dst, m.value), ',')
	}
	return append(dst, '}')
}
