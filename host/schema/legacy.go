package schema

import (
	"github.com/mcphost/mcphost/host/jsonrpc"
)

// Legacy returns b, a valid JSON Schema, as the wire schemas of the legacy
// revisions allow it: a boolean under the root's properties becomes the object
// that means the same. Everything else stays byte for byte; if there is nothing
// to change, it is b itself.
func Legacy(b []byte) []byte {
	if !jsonrpc.IsObject(b) {
		return b
	}
	var out []byte
	done := 0 // bytes of b that are in out
	jsonrpc.Members(b, func(key, props []byte) bool {
		if string(key) != "properties" || props[0] != '{' {
			return true
		}
		jsonrpc.Members(props, func(_, v []byte) bool {
			if v[0] != 't' && v[0] != 'f' {
				return true
			}
			// Both are parts of b, so their capacities tell where.
			at := cap(b) - cap(v)
			out = append(append(out, b[done:at]...), object(v[0] == 't')...)
			done = at + len(v)
			return true
		})
		return true
	})
	if done == 0 {
		return b
	}
	return append(out, b[done:]...)
}

func object(always bool) string {
	if always {
		return `{}`
	}
	return `{"not":{}}`
}

// IsObjectRoot reports whether b, a valid JSON Schema, has "type": "object" at
// its root, as legacy revisions demand.
func IsObjectRoot(b []byte) bool {
	typ, _ := jsonrpc.String(jsonrpc.Lookup(b, "type"))
	return typ == "object"
}
