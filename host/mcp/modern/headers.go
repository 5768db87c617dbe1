package modern

import (
	"encoding/base64"
	"math/big"
	"net/textproto"
	"strings"
	"unicode/utf8"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
)

func canonical(name string) string { return textproto.CanonicalMIMEHeaderKey(name) }

// one returns the value of a header that must be there once, without the space around it.
func one(h mcp.Headers, name string) (string, bool) {
	v := h.Values(name)
	if len(v) != 1 {
		return "", false
	}
	return strings.Trim(v[0], " \t"), true
}

// The sentinel of an encoded header value; it is exact on both ends.
const (
	sentinelStart = "=?base64?"
	sentinelEnd   = "?="
)

// decodeHeader decodes a header value that may be a sentinel. A value without
// the exact start or end is literal; one with both must be standard base64 of
// UTF-8, padding included. A literal holds visible ASCII and inner spaces only.
func decodeHeader(v string) (string, bool) {
	if inner, ok := strings.CutPrefix(v, sentinelStart); ok && strings.HasSuffix(inner, sentinelEnd) {
		b, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSuffix(inner, sentinelEnd))
		if err != nil || !utf8.Valid(b) || strings.ContainsAny(inner, "\r\n") {
			return "", false
		}
		return string(b), true
	}
	for i := range len(v) {
		if v[i] < ' ' || v[i] > '~' {
			return "", false
		}
	}
	return v, true
}

// equalHeader compares a decoded header with an argument, a JSON value: strings
// as they are, integers by value (42 is 42.0), booleans as "true" and "false".
func equalHeader(header string, arg []byte) bool {
	switch c := arg[0]; {
	case c == '"':
		s, _ := jsonrpc.String(arg)
		return s == header
	case c == 't' || c == 'f':
		return string(arg) == header
	case c == '-' || c >= '0' && c <= '9':
		return equalNumber(header, string(arg))
	}
	return false // an object or array breaks the schema, which says so better than a header can
}

// maxNumber bounds the length of a number that is compared: an annotated
// integer lies within 2^53, and an exponent must not cost memory.
const maxNumber = 32

func equalNumber(a, b string) bool {
	if a == b {
		return true
	}
	if len(a) > maxNumber || len(b) > maxNumber || strings.ContainsAny(a+b, "eE") || !jsonrpc.Valid([]byte(a)) {
		return false
	}
	x, okX := new(big.Rat).SetString(a)
	y, okY := new(big.Rat).SetString(b)
	return okX && okY && x.Cmp(y) == 0
}
