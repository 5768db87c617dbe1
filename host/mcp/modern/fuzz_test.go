package modern

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/primitive"
	"github.com/mcphost/mcphost/host/seal"
)

// realSealer seals as the host does.
type realSealer struct{ *seal.Sealer }

func (s realSealer) Open(purpose string, binding []byte, token string) ([]byte, bool) {
	b, err := s.Sealer.Open(purpose, binding, token, time.Now())
	return b, err == nil
}

func (realSealer) Spend(string, time.Time) bool { return true }

func newSealed(tb testing.TB) *mcp.Endpoint {
	tb.Helper()
	s, err := seal.New(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return &mcp.Endpoint{Name: "e", Transport: "http", Sealer: realSealer{s}, Limits: mcp.DefaultLimits()}
}

// retry is a request that brings state back, a JSON value or nil.
func retry(ep *mcp.Endpoint, subject, tool string, arguments, state []byte) *request {
	x := &mcp.Exchange{Endpoint: ep, Message: &jsonrpc.Message{ID: []byte("1"), Method: "tools/call"}}
	x.Caller = &primitive.Caller{Principal: primitive.Principal{Subject: subject}}
	x.Params.Arguments, x.Params.RequestState = arguments, state
	return &request{Exchange: x, name: tool}
}

func FuzzState(f *testing.F) {
	for _, s := range []*state{
		{},
		{callID: "c", round: 3, expires: time.Unix(1, 0), hasPlugin: true, plugin: []byte{}},
		{callID: strings.Repeat("x", 300), round: 1 << 20, expires: time.Unix(-1, 0), singleUse: true, hasPlugin: true, plugin: []byte("p")},
	} {
		f.Add(s.encode(), `"x"`)
	}
	f.Add([]byte{}, `7`)
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, `null`)
	f.Add([]byte{0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, `{}`)
	ep := newSealed(f)
	f.Fuzz(func(t *testing.T, b []byte, token string) {
		s, err := decodeState(b)
		if err == nil {
			again, err := decodeState(s.encode())
			if err != nil || !reflect.DeepEqual(again, s) {
				t.Errorf("%+v became %+v, %v", s, again, err)
			}
		}
		// What we sealed is opened, whatever is in it.
		r := retry(ep, "ada", "tool", []byte(`{"a":1}`), nil)
		sealed := ep.Sealer.Seal(statePurpose, r.stateBinding(), b, time.Now().Add(time.Hour))
		r.Params.RequestState = jsonrpc.AppendString(nil, sealed)
		u := &primitive.Use{}
		if f := r.openState(u); (f == nil) != (err == nil) {
			t.Errorf("a sealed %x: %+v, decoding says %v", b, f, err)
		}
		if err == nil && (u.CallID != s.callID || u.Round != s.round || s.hasPlugin != (u.State != nil) || !bytes.Equal(u.State, s.plugin)) {
			t.Errorf("%+v became %+v", s, u)
		}
		// What a client made up is not.
		if jsonrpc.Valid([]byte(token)) {
			r.Params.RequestState = bytes.TrimSpace([]byte(token))
			r.Params.InputResponses = r.Params.RequestState
			if f := r.openState(&primitive.Use{}); f == nil || f.err.Code != jsonrpc.InvalidParams {
				t.Errorf("state %s: %+v, want -32602", token, f)
			}
		}
	})
}

// TestStateIsRefused: by another user, for another tool or other arguments, and after its end.
func TestStateIsRefused(t *testing.T) {
	ep := newSealed(t)
	arguments := []byte(`{"a":1}`)
	sealed := func(expires time.Time) []byte {
		r := retry(ep, "ada", "tool", arguments, nil)
		return jsonrpc.AppendString(nil, ep.Sealer.Seal(statePurpose, r.stateBinding(), (&state{expires: expires}).encode(), expires))
	}
	good := sealed(time.Now().Add(time.Hour))
	other := newSealed(t)
	other.Sealer, other.Name = ep.Sealer, "other"
	prompt := retry(ep, "ada", "tool", arguments, good)
	prompt.Message.Method = "prompts/get"
	tests := map[string]struct {
		r  *request
		ok bool
	}{
		"as it was":            {retry(ep, "ada", "tool", arguments, good), true},
		"arguments respelt":    {retry(ep, "ada", "tool", []byte(`{ "\u0061" : 1 }`), good), true},
		"another user":         {retry(ep, "bob", "tool", arguments, good), false},
		"another tool":         {retry(ep, "ada", "tools", arguments, good), false},
		"other arguments":      {retry(ep, "ada", "tool", []byte(`{"a":2}`), good), false},
		"without arguments":    {retry(ep, "ada", "tool", nil, good), false},
		"another number":       {retry(ep, "ada", "tool", []byte(`{"a":1.0}`), good), false},
		"another endpoint":     {retry(other, "ada", "tool", arguments, good), false},
		"another method":       {prompt, false},
		"after its end":        {retry(ep, "ada", "tool", arguments, sealed(time.Now().Add(-time.Second))), false},
		"another host's state": {retry(newSealed(t), "ada", "tool", arguments, good), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if f := test.r.openState(&primitive.Use{}); (f == nil) != test.ok {
				t.Errorf("%+v, want it to pass: %v", f, test.ok)
			}
		})
	}
}

func FuzzHeader(f *testing.F) {
	for _, s := range []string{"", "a", "=?base64?SGVsbG8=?=", "=?base64??=", "=?base64?=", "=?base64?SGVsbG8?=", "=?BASE64?SGVsbG8=?=", "=?base64?/w==?=", "\t", "é", "42", "42.0", "1e999999999", "-0", "true"} {
		for _, arg := range []string{`"a"`, `42`, `42.0`, `true`, `null`, `{}`, `"=?base64??="`, `1e999999999`, `-0`} {
			f.Add(s, []byte(arg))
		}
	}
	f.Fuzz(func(t *testing.T, header string, arg []byte) {
		v, ok := decodeHeader(header)
		inner, start := strings.CutPrefix(header, sentinelStart)
		encoded := start && strings.HasSuffix(inner, sentinelEnd)
		switch {
		case !ok:
		case !utf8.ValidString(v):
			t.Errorf("%q gave %q", header, v)
		case encoded && sentinelStart+base64.StdEncoding.EncodeToString([]byte(v))+sentinelEnd != header:
			t.Errorf("%q is not the code of %q", header, v)
		case !encoded && (v != header || strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r > '~' })):
			t.Errorf("%q gave %q", header, v)
		}
		if arg = bytes.TrimSpace(arg); !jsonrpc.Valid(arg) {
			return
		}
		equal := equalHeader(v, arg)
		var text string
		switch arg[0] {
		case '"':
			if err := json.Unmarshal(arg, &text); err != nil || equal != (text == v) {
				t.Errorf("%q equals %s: %v", v, arg, equal)
			}
			again, ok := decodeHeader(sentinelStart + base64.StdEncoding.EncodeToString([]byte(text)) + sentinelEnd)
			if !ok || !equalHeader(again, arg) {
				t.Errorf("%s does not survive its encoding", arg)
			}
		case '{', '[', 'n':
			if equal {
				t.Errorf("%q equals %s", v, arg)
			}
		default:
			if !equalHeader(string(arg), arg) {
				t.Errorf("%s is not itself", arg)
			}
			if equal && jsonrpc.Valid([]byte(v)) && !equalHeader(string(arg), []byte(v)) {
				t.Errorf("%q equals %s, but not the other way round", v, arg)
			}
		}
	})
}
