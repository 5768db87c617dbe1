package jsonrpc_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcphost/mcphost/host/jsonrpc"
)

var seeds = []string{
	`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{}}}`, `{"jsonrpc":"2.0","id":"a","result":{}}`,
	`{"jsonrpc":"2.0","error":{"code":-32700,"message":"m","data":[1]}}`, `{"jsonrpc":"2.0","method":"n"}`, "[]", `[{"id":1}]`, "null", `""`, "0", "-0.5e+7",
	`{"a":1,"a":2}`, `{"\u0061":1,"a":2}`, `"\ud800"`, "{\n\"a\" : [ 1 ,\r\n 2 ] }", "\xff", `{"id":1e3}`, `{"id":null}`, `{"id":9007199254740993}`, "01", "1.", "+1",
	strings.Repeat("[", 129) + strings.Repeat("]", 129), strings.Repeat("[", 128) + strings.Repeat("]", 128), `{"a":{"b":{"c":[{}, {"d":"\\\""}]}}}`,
}

// FuzzParse holds Parse to encoding/json: it accepts nothing that is no JSON,
// calls nothing a parse error that is, and finds what encoding/json finds.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		valid := json.Valid(b) && utf8.Valid(b)
		m, fault := jsonrpc.Parse(b)
		if m.ID != nil && (!json.Valid(m.ID) || m.ID[0] != '"' && bytes.ContainsAny(m.ID, ".eE{}[]tfn")) {
			t.Errorf("id %q", m.ID)
		}
		if fault != nil {
			if fault.Code == jsonrpc.ParseError && valid {
				t.Errorf("%q is JSON, said to be none", b)
			}
			if fault.Code != jsonrpc.ParseError && fault.Code != jsonrpc.InvalidRequest || m.Method != "" || m.Params != nil {
				t.Errorf("%v with message %+v", fault, m)
			}
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(b, &want); err != nil || !valid {
			t.Fatalf("%q was accepted: %v", b, err)
		}
		for name, got := range map[string][]byte{"id": m.ID, "params": m.Params, "result": m.Result, "error": m.Err} {
			if !bytes.Equal(got, want[name]) {
				t.Errorf("%s of %q is %q, want %q", name, b, got, want[name])
			}
		}
		var method string
		if raw := want["method"]; raw != nil && (json.Unmarshal(raw, &method) != nil || method != m.Method) {
			t.Errorf("method %q, want %s", m.Method, raw)
		}
		kinds := 0
		for _, is := range []bool{m.IsRequest(), m.IsNotification(), m.IsResponse()} {
			if is {
				kinds++
			}
		}
		if kinds != 1 {
			t.Errorf("%q is of %d kinds", b, kinds)
		}
		m.Error() // whatever is in it
	})
}

// FuzzValues holds what reads and rewrites values to encoding/json.
func FuzzValues(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		valid := json.Valid(b) && utf8.Valid(b)
		if err := jsonrpc.Check(b); (err == nil) != (valid && depth(b) <= jsonrpc.MaxDepth) {
			t.Fatalf("%q: %v, encoding/json says %v, depth %d", b, err, valid, depth(b))
		} else if err != nil {
			return
		}
		want := decode(t, b)
		line := jsonrpc.AppendLine([]byte("x"), b)[1:]
		if bytes.ContainsAny(line, "\r\n") || !reflect.DeepEqual(decode(t, line), want) {
			t.Errorf("as a line %q is %q", b, line)
		}
		canonical := jsonrpc.AppendCanonical(nil, b)
		if !reflect.DeepEqual(decode(t, canonical), want) {
			t.Errorf("the canonical form of %q is %q", b, canonical)
		}
		if again := jsonrpc.AppendCanonical(nil, canonical); !bytes.Equal(again, canonical) {
			t.Errorf("the canonical form of %q is not canonical: %q", canonical, again)
		}
		text, isString := jsonrpc.String(bytes.TrimSpace(b))
		if s, ok := want.(string); ok != isString || s != text {
			t.Errorf("the string %q is %q, %v", b, text, isString)
		}
		if isString && !reflect.DeepEqual(decode(t, jsonrpc.AppendString(nil, text)), want) {
			t.Errorf("%q does not survive", text)
		}
		checkMembers(t, b, want)
	})
}

// checkMembers compares members and elements, and what is in them.
func checkMembers(t *testing.T, b []byte, want any) {
	t.Helper()
	object, isObject := want.(map[string]any)
	array, isArray := want.([]any)
	if isObject != jsonrpc.IsObject(b) || isArray != jsonrpc.IsArray(b) {
		t.Errorf("%q: object %v, array %v", b, jsonrpc.IsObject(b), jsonrpc.IsArray(b))
	}
	members := map[string]any{}
	jsonrpc.Members(b, func(k, v []byte) bool {
		if jsonrpc.Lookup(b, string(k)) == nil {
			t.Errorf("%q has %q and has it not", b, k)
		}
		members[string(k)] = decode(t, v)
		return true
	})
	if isObject && !reflect.DeepEqual(members, object) {
		t.Errorf("members of %q are %v", b, members)
	}
	elements := []any{}
	jsonrpc.Elements(b, func(v []byte) bool {
		elements = append(elements, decode(t, v))
		return true
	})
	if isArray && !reflect.DeepEqual(elements, array) {
		t.Errorf("elements of %q are %v", b, elements)
	}
	if !isObject && len(members) > 0 || !isArray && len(elements) > 0 {
		t.Errorf("%q has %v and %v", b, members, elements)
	}
}

func decode(t *testing.T, b []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q: %v", b, err)
	}
	return v
}

// depth is how deeply objects and arrays nest in b, if b is JSON.
func depth(b []byte) (deepest int) {
	d, n := json.NewDecoder(bytes.NewReader(b)), 0
	for {
		token, err := d.Token()
		if err != nil {
			return deepest
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			n++
			deepest = max(deepest, n)
		case json.Delim('}'), json.Delim(']'):
			n--
		}
	}
}
