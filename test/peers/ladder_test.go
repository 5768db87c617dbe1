package peers

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// TestWebLadder climbs the checks of a modern request in their order
// (docs/design/protocol.md §1.8): each request is wrong in one thing and in all
// that is checked after it, so that the status and code show who won.
func TestWebLadder(t *testing.T) {
	t.Parallel()
	w := serve(t, "examples/everything.hcl")
	const version, name, param = "Mcp-Protocol-Version", "Mcp-Name", "Mcp-Param-Region"
	const tool = `"name":"test_x_mcp_header","arguments":{"region":"a","level":"no integer"}`
	noCapabilities := legacy("1", "tools/call", tool+`,"_meta":{"`+metaVersion+`":"`+r2026+`"}`)
	full := func(method, params string) string { return modern("1", method, params, `{}`) }
	tests := []struct {
		name         string
		body         string
		headers      headers
		status, code int
	}{
		{"1 Origin", "{", headers{"Origin", "https://evil.example.com", "Content-Type", absent}, 403, -32600},
		{"1 Content-Type", "{", headers{"Content-Type", absent}, 415, -32600},
		{"1 Accept", "{", headers{"Accept", absent, "Accept", "text/html"}, 406, -32600},
		{"2 JSON", "{", headers{version, "v9"}, 400, -32700},
		{"2 envelope", `{"jsonrpc":"2.0","id":null,"method":"x"}`, headers{version, r2026}, 400, -32600},
		{"3 no claim", legacy("1", "no/such", ""), headers{version, r2026}, 400, -32602},
		{"4 no version header", claiming("v9", "1", "no/such", "", `7`), nil, 400, -32020},
		{"5 another version header", claiming("v9", "1", "no/such", "", `7`), headers{version, r2026}, 400, -32020},
		{"6 an unknown version", claiming("v9", "1", "no/such", "", `7`), headers{version, "v9"}, 400, -32022},
		{"7 no capabilities", noCapabilities, headers{version, r2026}, 400, -32602},
		{"7 capabilities that are none", modern("1", "no/such", "", `[]`), headers{version, r2026}, 400, -32602},
		{"7 clientInfo that is none", strings.Replace(full("no/such", ""), `{"name":"t","version":"1"}`, `{"name":1}`, 1), headers{version, r2026}, 400, -32602},
		{"8 no method header", full("no/such", tool), headers{version, r2026}, 400, -32020},
		{"8 another method header", full("no/such", tool), headers{version, r2026, "Mcp-Method", "tools/call"}, 400, -32020},
		{"8 method header in another case", full("tools/list", ""), headers{version, r2026, "Mcp-Method", "TOOLS/LIST"}, 400, -32020},
		{"8 two method headers", full("tools/list", ""), headers{version, r2026, "Mcp-Method", "tools/list", "Mcp-Method", "tools/list"}, 400, -32020},
		{"9 unknown method", full("no/such", tool), headers{version, r2026, "Mcp-Method", "no/such", name, "x"}, 404, -32601},
		{"9 removed method", full("resources/subscribe", `"uri":"test://x"`), headers{version, r2026, "Mcp-Method", "resources/subscribe"}, 404, -32601},
		{"10 no name header", full("tools/call", tool), headers{version, r2026, "Mcp-Method", "tools/call"}, 400, -32020},
		{"10 another name header", full("tools/call", tool), headers{version, r2026, "Mcp-Method", "tools/call", name, "x"}, 400, -32020},
		{"10 two name headers", full("tools/call", tool), headers{version, r2026, "Mcp-Method", "tools/call", name, "test_x_mcp_header", name, "test_x_mcp_header"}, 400, -32020},
		{"10 bad sentinel", full("tools/call", tool), headers{version, r2026, "Mcp-Method", "tools/call", name, "=?base64?!?="}, 400, -32020},
		{"10 no name at all", full("tools/call", ""), headers{version, r2026, "Mcp-Method", "tools/call"}, 200, -32602},
		{"10 the URI of a resource", full("resources/read", `"uri":"test://static-text"`), headers{version, r2026, "Mcp-Method", "resources/read", name, "test://static-binary"}, 400, -32020},
		{"10 the name of a prompt", full("prompts/get", `"name":"test_simple_prompt"`), headers{version, r2026, "Mcp-Method", "prompts/get", name, "Test_simple_prompt"}, 400, -32020},
		{"11 no param header", full("tools/call", tool), headers{version, r2026, "Mcp-Method", "tools/call", name, "test_x_mcp_header"}, 400, -32020},
		{"11 another param header", full("tools/call", tool), headers{version, r2026, "Mcp-Method", "tools/call", name, "test_x_mcp_header", param, "A"}, 400, -32020},
		{"11 an unknown tool has none", full("tools/call", `"name":"none"`), headers{version, r2026, "Mcp-Method", "tools/call", name, "none"}, 200, -32602},
		{"12 capability", full("tools/call", call("test_missing_capability", `{}`)), headers{version, r2026, "Mcp-Method", "tools/call", name, "test_missing_capability"}, 400, -32021},
		{"13 arguments are a result", full("tools/call", tool), headers{version, r2026, "Mcp-Method", "tools/call", name, "test_x_mcp_header", param, "a"}, 200, 0},
		{"13 arguments that are no object", full("tools/call", `"name":"test_simple_text","arguments":[]`), headers{version, r2026, "Mcp-Method", "tools/call", name, "test_simple_text"}, 200, -32602},
		{"13 a cursor", full("tools/list", `"cursor":"x"`), headers{version, r2026, "Mcp-Method", "tools/list"}, 200, -32602},
		{"13 a resource that is none", full("resources/read", `"uri":"test://none"`), headers{version, r2026, "Mcp-Method", "resources/read", name, "test://none"}, 200, -32602},
		{"13 a prompt that is none", full("prompts/get", `"name":"none"`), headers{version, r2026, "Mcp-Method", "prompts/get", name, "none"}, 200, -32602},
		{"13 a filter that is none", full("subscriptions/listen", ""), headers{version, r2026, "Mcp-Method", "subscriptions/listen"}, 200, -32602},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := w.post(test.body, test.headers...)
			p.is(t, test.status, test.code)
			if test.status != 200 && p.header.Get("Content-Type") != "application/json" {
				t.Errorf("Content-Type %q", p.header.Get("Content-Type"))
			}
			switch test.name {
			case "13 arguments are a result":
				want(t, p.last(t), `"isError":true`, "level")
			case "13 a resource that is none":
				want(t, p.last(t), `"data":{"uri":"test://none"}`)
			case "6 an unknown version":
				want(t, p.last(t), `"id":1`, `"requested":"v9"`, `"2024-11-05"]`)
			}
		})
	}
}

// TestWebParamHeaders, and the sentinel (trap 13).
func TestWebParamHeaders(t *testing.T) {
	t.Parallel()
	w := serve(t, "examples/everything.hcl")
	encode := func(text string) string { return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?=" }
	const param = "Mcp-Param-Region"
	tests := map[string]struct {
		region  string // JSON; empty is absent
		headers headers
		ok      bool
	}{
		"absent":                        {"", nil, true},
		"null":                          {"null", nil, true},
		"absent, with a header":         {"", headers{param, "a"}, false},
		"null, with a header":           {"null", headers{param, "null"}, false},
		"plain":                         {`"eu-north"`, headers{param, "eu-north"}, true},
		"escaped in JSON":               {`"\u0065u"`, headers{param, "eu"}, true},
		"another name's case":           {`"a"`, headers{"MCP-PARAM-REGION", "a"}, true},
		"another value's case":          {`"a"`, headers{param, "A"}, false},
		"missing":                       {`"a"`, nil, false},
		"twice":                         {`"a"`, headers{param, "a", param, "a"}, false},
		"space around":                  {`"a"`, headers{param, "  a\t"}, true},
		"space within":                  {`"a b"`, headers{param, "a b"}, true},
		"empty":                         {`""`, headers{param, ""}, true},
		"empty, missing":                {`""`, nil, false},
		"encoded":                       {`"Hello"`, headers{param, "=?base64?SGVsbG8=?="}, true},
		"no padding":                    {`"Hello"`, headers{param, "=?base64?SGVsbG8?="}, false},
		"foreign characters":            {`"Hello"`, headers{param, "=?base64?SGVs!!!bG8=?="}, false},
		"the URL alphabet":              {`"\u00ff\u00fe>?"`, headers{param, "=?base64?w7_Dvj4_?="}, false},
		"loose bits at the end":         {`"a"`, headers{param, "=?base64?YR==?="}, false},
		"not UTF-8":                     {`"\ufffd"`, headers{param, "=?base64?/w==?="}, false},
		"no start":                      {`"SGVsbG8=?="`, headers{param, "SGVsbG8=?="}, true},
		"no end":                        {`"=?base64?SGVsbG8="`, headers{param, "=?base64?SGVsbG8="}, true},
		"upper case is literal":         {`"=?BASE64?SGVsbG8=?="`, headers{param, "=?BASE64?SGVsbG8=?="}, true},
		"upper case does not decode":    {`"Hello"`, headers{param, "=?BASE64?SGVsbG8=?="}, false},
		"what looks encoded, literally": {`"=?base64?x?="`, headers{param, "=?base64?x?="}, false},
		"what looks encoded, encoded":   {`"=?base64?x?="`, headers{param, encode("=?base64?x?=")}, true},
		"encoded emptiness":             {`""`, headers{param, "=?base64??="}, true},
		"letters beyond ASCII":          {`"nørd"`, headers{param, encode("nørd")}, true},
		"letters beyond ASCII, raw":     {`"nørd"`, headers{param, "nørd"}, false},
		"a tab":                         {`"a\tb"`, headers{param, encode("a\tb")}, true},
		"a raw tab":                     {`"a\tb"`, headers{param, "a\tb"}, false},
		"a line end":                    {`"a\r\nb"`, headers{param, encode("a\r\nb")}, true},
		"outer space":                   {`" a "`, headers{param, encode(" a ")}, true},
		"outer space, trimmed away":     {`" a "`, headers{param, " a "}, false},
		"an unknown param":              {`"a"`, headers{param, "a", "Mcp-Param-Unknown", "x", "Mcp-Param-Level", "y"}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			arguments := `{}`
			if test.region != "" {
				arguments = `{"region":` + test.region + `}`
			}
			p := w.modern(modern("1", "tools/call", call("test_x_mcp_header", arguments), `{}`), test.headers...)
			if test.ok {
				p.is(t, 200, 0)
			} else {
				p.is(t, 400, -32020)
			}
		})
	}
	t.Run("not on legacy", func(t *testing.T) {
		p := w.open(r2511, `{}`).send(legacy("1", "tools/call", call("test_x_mcp_header", `{"region":"a"}`)), param, "b")
		p.is(t, 200, 0)
	})
	t.Run("an encoded name", func(t *testing.T) {
		body := modern("1", "tools/call", call("test_simple_text", `{}`), `{}`)
		p := w.post(body, "Mcp-Protocol-Version", r2026, "Mcp-Method", "tools/call", "Mcp-Name", encode("test_simple_text"))
		p.is(t, 200, 0)
	})
}

// sealing is a configuration of hosts that share a key and page by three.
func sealing(t *testing.T, key string) string {
	t.Helper()
	keys := ""
	if key != "" {
		keys = fmt.Sprintf("seal_keys = [%q]", base64.StdEncoding.EncodeToString([]byte(strings.Repeat(key, 32))))
	}
	return write(t, fmt.Sprintf(`
%s
plugin "everything" { command = [%q] }
local "everything" { plugins = ["everything"] }
limits { default_page_size = 3 }
http {}
web "/mcp" { plugins = ["everything"] }
web "/other" { plugins = ["everything"] }
`, keys, house+"/bin/plugin-everything"))
}

// TestStateIsBound replays a sealed state where it does not belong (trap 8).
func TestStateIsBound(t *testing.T) {
	t.Parallel()
	one, other, stranger := serve(t, sealing(t, "k")), serve(t, sealing(t, "k")), serve(t, sealing(t, ""))
	const tool, similar = "test_input_required_result_request_state", "test_input_required_result_tampered_state"
	const answer = `"inputResponses":{"confirm":{"action":"accept","content":{"ok":true}}}`
	retry := func(w *web, name, arguments, state string) reply {
		return w.modern(modern("2", "tools/call", call(name, arguments)+","+answer+`,"requestState":`+state, elicits))
	}
	first := one.modern(modern("1", "tools/call", call(tool, `{}`), elicits))
	want(t, first.last(t), `"resultType":"input_required"`, `"confirm"`)
	lacks(t, first.last(t), "ttlMs", "cacheScope")
	sealed, _ := result(t, first.last(t), "requestState").(string)
	state := `"` + sealed + `"`
	flip := []byte(sealed)
	flip[len(flip)/2] ^= 1
	refused := map[string]reply{
		"another tool":        retry(one, similar, `{}`, state),
		"other arguments":     retry(one, tool, `{"x":1}`, state),
		"changed":             retry(one, tool, `{}`, `"`+string(flip)+`"`),
		"cut":                 retry(one, tool, `{}`, `"`+sealed[:len(sealed)-1]+`"`),
		"longer":              retry(one, tool, `{}`, `"`+sealed+`A"`),
		"empty":               retry(one, tool, `{}`, `""`),
		"no string":           retry(one, tool, `{}`, `7`),
		"the plugin's own":    retry(one, tool, `{}`, `"confirm"`),
		"a host without keys": retry(stranger, tool, `{}`, state),
	}
	for name, p := range refused {
		t.Run(name, func(t *testing.T) {
			p.is(t, 200, -32602)
			want(t, p.last(t), "requestState")
		})
	}
	t.Run("another endpoint", func(t *testing.T) {
		elsewhere := *one
		elsewhere.url = one.base + "/other"
		p := retry(&elsewhere, tool, `{}`, state)
		p.is(t, 200, -32602)
	})
	for name, w := range map[string]*web{"the same host": one, "a host with the same keys": other} {
		t.Run(name, func(t *testing.T) {
			p := retry(w, tool, `{ }`, state) // the same arguments, written another way
			p.is(t, 200, 0)
			want(t, p.last(t), `"resultType":"complete"`, "state-ok")
		})
	}
	t.Run("without answers", func(t *testing.T) {
		p := one.modern(modern("3", "tools/call", call(tool, `{}`)+`,"inputResponses":{"unknown":{}},"requestState":`+state, elicits))
		want(t, p.last(t), `"resultType":"input_required"`)
	})
}

// TestCursorsTravel: any replica reads a cursor; nobody else's is one.
func TestCursorsTravel(t *testing.T) {
	t.Parallel()
	one, other, stranger := serve(t, sealing(t, "c")), serve(t, sealing(t, "c")), serve(t, sealing(t, ""))
	list := func(w *web, method, cursor string) reply {
		return w.modern(modern("1", method, `"cursor":`+cursor, `{}`))
	}
	first := one.modern(modern("1", "tools/list", "", `{}`))
	sealed, _ := result(t, first.last(t), "nextCursor").(string)
	here, there := list(one, "tools/list", `"`+sealed+`"`), list(other, "tools/list", `"`+sealed+`"`)
	for _, p := range []reply{here, there} {
		p.is(t, 200, 0)
		if tools, _ := result(t, p.last(t), "tools").([]any); len(tools) != 3 {
			t.Errorf("a page of %d: %s", len(tools), p.body)
		}
	}
	for name, p := range map[string]reply{
		"a stranger's": list(stranger, "tools/list", `"`+sealed+`"`), "of another list": list(one, "prompts/list", `"`+sealed+`"`),
		"changed": list(one, "tools/list", `"x`+sealed[1:]+`"`), "empty": list(one, "tools/list", `""`), "a number": list(one, "tools/list", `1`),
		"null": list(one, "tools/list", `null`),
	} {
		t.Run(name, func(t *testing.T) { p.is(t, 200, -32602) })
	}
}
