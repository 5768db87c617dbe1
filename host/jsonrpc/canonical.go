package jsonrpc

import (
	"bytes"
	"slices"
)

// AppendCanonical appends v, a valid JSON value, in one form for all texts that
// say the same: members sorted by name, strings escaped one way, no space.
// Numbers keep their digits. It is for digests, not for the wire.
func AppendCanonical(dst, v []byte) []byte {
	switch first(v) {
	case '{':
		return appendCanonicalObject(dst, v)
	case '[':
		dst = append(dst, '[')
		n := 0
		Elements(v, func(e []byte) bool {
			if n > 0 {
				dst = append(dst, ',')
			}
			n++
			dst = AppendCanonical(dst, e)
			return true
		})
		return append(dst, ']')
	case '"':
		s, _ := String(bytes.TrimSpace(v))
		return AppendString(dst, s)
	}
	return append(dst, bytes.TrimSpace(v)...)
}

func appendCanonicalObject(dst, v []byte) []byte {
	type member struct{ key, value []byte }
	var members []member
	Members(v, func(key, value []byte) bool {
		members = append(members, member{key, value})
		return true
	})
	slices.SortStableFunc(members, func(a, b member) int { return bytes.Compare(a.key, b.key) })
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, string(m.key))
		dst = append(dst, ':')
		dst = AppendCanonical(dst, m.value)
	}
	return append(dst, '}')
}
