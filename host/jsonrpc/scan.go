package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// MaxDepth is how deeply objects and arrays may nest in a message.
const MaxDepth = 128

var (
	errSyntax    = errors.New("not JSON")
	errDepth     = errors.New("JSON nested too deeply")
	errDuplicate = errors.New("duplicate member")
)

// A scanner checks JSON text in one pass without decoding it.
type scanner struct {
	b      []byte
	unique bool     // refuse objects that name a member twice
	keys   [][]byte // of the objects that are open, innermost last
}

// plain[c] is true for bytes that need no attention inside a string.
var plain = func() (t [256]bool) {
	for i := range t {
		t[i] = i >= 0x20 && i != '"' && i != '\\'
	}
	return
}()

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// value returns the end of the value at i.
func (s *scanner) value(i, depth int) (int, error) {
	if i >= len(s.b) {
		return i, errSyntax
	}
	switch s.b[i] {
	case '"':
		return s.str(i)
	case '{':
		return s.object(i, depth+1, nil)
	case '[':
		return s.array(i, depth+1)
	case 't':
		return s.literal(i, "true")
	case 'f':
		return s.literal(i, "false")
	case 'n':
		return s.literal(i, "null")
	default:
		return s.number(i)
	}
}

func (s *scanner) str(i int) (int, error) {
	b := s.b
	i++
	for {
		for i < len(b) && plain[b[i]] {
			i++
		}
		if i >= len(b) || b[i] < 0x20 {
			return i, errSyntax
		}
		if b[i] == '"' {
			return i + 1, nil
		}
		n := escapeLen(b[i:])
		if n == 0 {
			return i, errSyntax
		}
		i += n
	}
}

// escapeLen returns the length of the escape sequence that b starts with, 0 if it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, c := range b[2:6] {
			if !isHex(c) {
				return 0
			}
		}
		return 6
	}
	return 0
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func (s *scanner) literal(i int, word string) (int, error) {
	if len(s.b)-i >= len(word) && string(s.b[i:i+len(word)]) == word {
		return i + len(word), nil
	}
	return i, errSyntax
}

func (s *scanner) digits(i int) int {
	for i < len(s.b) && s.b[i] >= '0' && s.b[i] <= '9' {
		i++
	}
	return i
}

func (s *scanner) number(i int) (int, error) {
	b := s.b
	if b[i] == '-' {
		i++
	}
	start := i
	if i = s.digits(i); i == start || b[start] == '0' && i > start+1 {
		return i, errSyntax
	}
	if i < len(b) && b[i] == '.' {
		start = i + 1
		if i = s.digits(start); i == start {
			return i, errSyntax
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		start = i
		if i = s.digits(i); i == start {
			return i, errSyntax
		}
	}
	return i, nil
}

func (s *scanner) array(i, depth int) (int, error) {
	if depth > MaxDepth {
		return i, errDepth
	}
	b := s.b
	if i = space(b, i+1); i < len(b) && b[i] == ']' {
		return i + 1, nil
	}
	for {
		var err error
		if i, err = s.value(i, depth); err != nil {
			return i, err
		}
		if i = space(b, i); i >= len(b) {
			return i, errSyntax
		}
		switch b[i] {
		case ']':
			return i + 1, nil
		case ',':
			i = space(b, i+1)
		default:
			return i, errSyntax
		}
	}
}

// object returns the end of the object at i and shows each member to member, if that is not nil.
func (s *scanner) object(i, depth int, member func(key, value []byte)) (int, error) {
	if depth > MaxDepth {
		return i, errDepth
	}
	b, first := s.b, len(s.keys)
	if i = space(b, i+1); i < len(b) && b[i] == '}' {
		return i + 1, nil
	}
	var seen map[string]struct{}
	for {
		if i >= len(b) || b[i] != '"' {
			return i, errSyntax
		}
		start := i
		var err error
		if i, err = s.str(i); err != nil {
			return i, err
		}
		key := b[start+1 : i-1]
		if s.unique {
			if key, seen, err = s.note(key, first, seen); err != nil {
				return i, err
			}
		}
		if i = space(b, i); i >= len(b) || b[i] != ':' {
			return i, errSyntax
		}
		start = space(b, i+1)
		if i, err = s.value(start, depth); err != nil {
			return i, err
		}
		if member != nil {
			member(key, b[start:i])
		}
		if i = space(b, i); i >= len(b) {
			return i, errSyntax
		}
		switch b[i] {
		case '}':
			s.keys = s.keys[:first]
			return i + 1, nil
		case ',':
			i = space(b, i+1)
		default:
			return i, errSyntax
		}
	}
}

// manyKeys is the size from which an object's members are compared by a map.
const manyKeys = 16

// note remembers key, decoded, as one of the object whose keys start at first,
// and fails if the object has it already.
func (s *scanner) note(key []byte, first int, seen map[string]struct{}) ([]byte, map[string]struct{}, error) {
	if bytes.IndexByte(key, '\\') >= 0 {
		key = unescape(key)
	}
	if seen == nil && len(s.keys)-first >= manyKeys {
		seen = make(map[string]struct{}, 2*manyKeys)
		for _, k := range s.keys[first:] {
			seen[string(k)] = struct{}{}
		}
	}
	if seen != nil {
		if _, dup := seen[string(key)]; dup {
			return key, seen, errDuplicate
		}
		seen[string(key)] = struct{}{}
		return key, seen, nil
	}
	for _, k := range s.keys[first:] {
		if bytes.Equal(k, key) {
			return key, nil, errDuplicate
		}
	}
	s.keys = append(s.keys, key)
	return key, nil, nil
}

// Check reports what is wrong with b as one JSON text: syntax, encoding, or
// depth beyond [MaxDepth]. Members that an object names twice are allowed.
func Check(b []byte) error {
	if !utf8.Valid(b) {
		return errSyntax
	}
	s := scanner{b: b}
	i, err := s.value(space(b, 0), 0)
	if err == nil && space(b, i) != len(b) {
		err = errSyntax
	}
	return err
}

// Valid reports whether b is one JSON text; see [Check].
func Valid(b []byte) bool { return Check(b) == nil }

// IsObject reports whether b, a valid JSON text, is an object.
func IsObject(b []byte) bool { return first(b) == '{' }

// IsArray reports whether b, a valid JSON text, is an array.
func IsArray(b []byte) bool { return first(b) == '[' }

func first(b []byte) byte {
	if i := space(b, 0); i < len(b) {
		return b[i]
	}
	return 0
}

// skip returns the end of the value at i of a valid text.
func skip(b []byte, i int) int {
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] > ' ' {
		i++
	}
	return i
}

func skipString(b []byte, i int) int {
	i++
	for {
		for plain[b[i]] {
			i++
		}
		if b[i] == '"' {
			return i + 1
		}
		i += 2
	}
}

func skipNested(b []byte, i int) int {
	for depth := 0; ; {
		switch b[i] {
		case '"':
			i = skipString(b, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
}

// Members calls f with each member of obj, a valid JSON object, until f returns
// false. The key is decoded; the value is the bytes as received. Both may alias obj.
func Members(obj []byte, f func(key, value []byte) bool) {
	i := space(obj, 0)
	if i >= len(obj) || obj[i] != '{' {
		return
	}
	for i = space(obj, i+1); obj[i] == '"'; {
		end := skipString(obj, i)
		key := obj[i+1 : end-1]
		if bytes.IndexByte(key, '\\') >= 0 {
			key = unescape(key)
		}
		start := space(obj, space(obj, end)+1)
		end = skip(obj, start)
		if !f(key, obj[start:end]) {
			return
		}
		if i = space(obj, end); obj[i] != ',' {
			return
		}
		i = space(obj, i+1)
	}
}

// Elements calls f with each element of arr, a valid JSON array, until f returns false.
func Elements(arr []byte, f func(value []byte) bool) {
	i := space(arr, 0)
	if i >= len(arr) || arr[i] != '[' {
		return
	}
	for i = space(arr, i+1); arr[i] != ']'; {
		end := skip(arr, i)
		if !f(arr[i:end]) {
			return
		}
		if i = space(arr, end); arr[i] == ',' {
			i = space(arr, i+1)
		}
	}
}

// Lookup returns the value of the member key of obj, a valid JSON object, or nil.
func Lookup(obj []byte, key string) (value []byte) {
	Members(obj, func(k, v []byte) bool {
		if string(k) == key {
			value = v
			return false
		}
		return true
	})
	return value
}

// String decodes v, a valid JSON value, if it is a string.
func String(v []byte) (string, bool) {
	if len(v) < 2 || v[0] != '"' {
		return "", false
	}
	v = v[1 : len(v)-1]
	if bytes.IndexByte(v, '\\') >= 0 {
		v = unescape(v)
	}
	return string(v), true
}

// unescape decodes the inside of a valid JSON string that has escapes.
func unescape(in []byte) []byte {
	quoted := make([]byte, 0, len(in)+2)
	quoted = append(quoted, '"')
	quoted = append(quoted, in...)
	quoted = append(quoted, '"')
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		return in // not reached: the scanner has accepted it
	}
	return []byte(s)
}

const hex = "0123456789abcdef"

// AppendString appends s as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if plain[c] {
				i++
				continue
			}
			dst = append(dst, s[start:i]...)
			dst = appendEscape(dst, c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(dst, s[start:i]...)
			dst = append(dst, "\ufffd"...)
			start = i + size
		}
		i += size
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// AppendLine appends v, a valid JSON value, without line breaks, which JSON
// allows between tokens only. All other bytes stay as they are.
func AppendLine(dst, v []byte) []byte {
	for {
		i := bytes.IndexAny(v, "\n\r")
		if i < 0 {
			return append(dst, v...)
		}
		dst = append(dst, v[:i]...)
		v = v[i+1:]
	}
}
