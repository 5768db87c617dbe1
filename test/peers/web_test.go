package peers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

func TestWebNegotiates(t *testing.T) {
	t.Parallel()
	w := serve(t, "examples/everything.hcl")
	for asked, got := range map[string]string{r2024: r2024, r2503: r2503, r2506: r2506, r2511: r2511, r2026: r2511, "1999-01-01": r2511} {
		t.Run("asked for "+asked, func(t *testing.T) {
			p := w.post(initialize(`"i"`, asked, `{}`))
			p.is(t, 200, 0)
			want(t, p.last(t), `"id":"i","result"`, `"protocolVersion":"`+got+`"`)
			s := &session{web: w, id: p.header.Get("Mcp-Session-Id"), revision: got}
			for _, c := range []byte(s.id) {
				if c < 0x21 || c > 0x7e {
					t.Errorf("session id %q", s.id)
				}
			}
			p = s.send(legacy("1", "ping", ""))
			want(t, p.last(t), `"id":1,"result":{}`)
			p = s.send(legacy("2", "logging/setLevel", `"level":"info"`))
			want(t, p.last(t), `"result":{}`)
			p = s.send(legacy("3", "no/such", ""))
			p.is(t, 200, -32601) // 404 would end the session (trap 1)
			for _, method := range []string{"server/discover", "subscriptions/listen"} {
				p = s.send(legacy("4", method, ""))
				p.is(t, 200, -32601)
			}
			p = s.send(initialize("5", got, `{}`))
			p.is(t, 400, -32600)
			p = s.send(legacy("6", "resources/read", `"uri":"test://none"`))
			p.is(t, 200, -32002)
			p = s.send(legacy("7", "tools/list", ""))
			lacks(t, p.last(t), "resultType", "ttlMs", "cacheScope")
			p = w.do(w.verb(http.MethodDelete, s.headers()))
			if p.status != 204 && p.status != 200 {
				t.Errorf("DELETE: %d", p.status)
			}
			p = s.send(legacy("8", "ping", ""))
			p.is(t, 404, -32600)
		})
	}
}

// TestWebClassifies walks the table of docs/design/protocol.md that says which
// rules a POST is served by, with its amendments.
func TestWebClassifies(t *testing.T) {
	t.Parallel()
	w := serve(t, "examples/everything.hcl")
	s3, s11 := w.open(r2503, `{}`), w.open(r2511, `{}`)
	const version, session = "Mcp-Protocol-Version", "Mcp-Session-Id"
	ping, list := legacy("1", "ping", ""), legacy("1", "tools/list", "")
	modernList := modern("1", "tools/list", "", `{}`)
	method := func(name string) []string { return []string{"Mcp-Method", name} }
	const notification, response = `{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`
	tagged := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"_meta":{"` + metaVersion + `":"` + r2026 + `"}}}`
	tests := map[string]struct {
		body         string
		headers      []string
		status, code int
	}{
		"1: a batch with a modern claim":                {`[` + modernList + `]`, []string{session, s3.id}, 400, -32600},
		"1: without a session":                          {`[` + modernList + `]`, []string{version, r2026}, 400, -32600},
		"2: a batch of 2025-11-25":                      {`[` + ping + `]`, []string{session, s11.id, version, r2511}, 400, -32600},
		"2: a batch without a session":                  {`[` + ping + `]`, nil, 400, -32600},
		"2: a batch of a session that is none":          {`[` + ping + `]`, []string{session, "none"}, 404, -32600},
		"2: an empty batch":                             {`[]`, []string{session, s3.id}, 400, -32600},
		"2: only notifications and responses":           {`[` + notification + `,` + response + `]`, []string{session, s3.id}, 202, 0},
		"3: a response":                                 {response, []string{session, s11.id, version, r2511}, 202, 0},
		"3: a response without a session":               {response, nil, 400, -32600},
		"3: a response of a session that is none":       {response, []string{session, "none"}, 404, -32600},
		"3: a response with a modern header":            {response, []string{version, r2026}, 400, -32600},
		"4: initialize with a legacy header":            {initialize("1", r2511, `{}`), []string{version, r2511}, 200, 0},
		"4: initialize with a legacy claim":             {claiming(r2506, "1", "initialize", `"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}`, `{}`), nil, 200, 0},
		"4: initialize in a session":                    {initialize("1", r2511, `{}`), []string{session, s11.id}, 400, -32600},
		"5: initialize with a modern header":            {initialize("1", r2511, `{}`), []string{version, r2026}, 400, -32020},
		"6: initialize with a modern claim":             {modern("1", "initialize", "", `{}`), append(method("initialize"), version, r2026), 404, -32601},
		"6: initialize with an unknown claim":           {claiming("v9", "1", "initialize", "", `{}`), append(method("initialize"), version, "v9"), 400, -32022},
		"7: no header":                                  {modernList, method("tools/list"), 400, -32020},
		"7: another header":                             {modernList, append(method("tools/list"), version, r2511), 400, -32020},
		"7: an unknown claim with another header":       {claiming("v999.0.0", "1", "tools/list", "", `{}`), append(method("tools/list"), version, r2026), 400, -32020},
		"7: an unknown claim":                           {claiming("v999.0.0", "1", "tools/list", "", `{}`), []string{version, "v999.0.0"}, 400, -32022},
		"7: two headers":                                {modernList, append(method("tools/list"), version, r2026, version, r2026), 400, -32020},
		"7: header with space":                          {modernList, append(method(" tools/list\t"), version, " "+r2026+" "), 200, 0},
		"8: a legacy claim in a session":                {claiming(r2511, "1", "tools/list", "", `{}`), []string{session, s11.id, version, r2511}, 200, 0},
		"8: a legacy claim with another header":         {claiming(r2511, "1", "tools/list", "", `{}`), []string{session, s11.id, version, r2506}, 400, -32020},
		"8: a legacy claim without a session":           {claiming(r2511, "1", "tools/list", "", `{}`), []string{version, r2511}, 400, -32600},
		"9: a modern header without a claim":            {list, append(method("tools/list"), version, r2026), 400, -32602},
		"9: with a session":                             {list, append(method("tools/list"), version, r2026, session, s11.id), 400, -32602},
		"9: with _meta":                                 {legacy("1", "tools/list", `"_meta":{}`), append(method("tools/list"), version, r2026), 400, -32602},
		"10: no session":                                {list, nil, 400, -32600},
		"10: a legacy header and no session":            {list, []string{version, r2511}, 400, -32600},
		"10: a session that is none":                    {list, []string{session, "none", version, r2511}, 404, -32600},
		"10: two session ids":                           {list, []string{session, s11.id, session, s11.id}, 404, -32600},
		"10: a session":                                 {list, []string{session, s11.id}, 200, 0},
		"11: discover without a claim":                  {legacy("1", "server/discover", ""), nil, 400, -32602},
		"11: listen without a claim":                    {legacy("1", "subscriptions/listen", ""), nil, 400, -32602},
		"12: a modern notification":                     {tagged, []string{version, r2026}, 202, 0},
		"12: with a modern header alone":                {notification, []string{version, r2026}, 202, 0},
		"12: with another method in the header":         {tagged, append(method("tools/list"), version, r2026), 400, -32020},
		"12: without a session":                         {notification, nil, 400, -32600},
		"12: in a session":                              {notification, []string{session, s11.id}, 202, 0},
		"12: in a session that is none":                 {notification, []string{session, "none"}, 404, -32600},
		"14: a modern request with a session":           {modernList, append(method("tools/list"), version, r2026, session, s11.id), 200, 0},
		"14: a modern request with one that is none":    {modernList, append(method("tools/list"), version, r2026, session, "none"), 200, 0},
		"0a: an unknown header and initialize":          {initialize("1", r2511, `{}`), []string{version, "v9"}, 400, -32022},
		"0a: an unknown header and a notification":      {notification, []string{version, "v9", session, s11.id}, 400, -32022},
		"0a: an unknown header in a session":            {list, []string{version, "v9", session, s11.id}, 400, -32022},
		"0a: a claim that is no string":                 {strings.Replace(modernList, `"`+r2026+`"`, `7`, 1), append(method("tools/list"), version, r2026), 400, -32602},
		"0a: a claim that is no string, another header": {strings.Replace(modernList, `"`+r2026+`"`, `7`, 1), []string{version, r2511}, 400, -32602},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := w.post(test.body, test.headers...)
			p.is(t, test.status, test.code)
			if test.status == 202 && len(p.body) > 0 {
				t.Errorf("a body with 202: %s", p.body)
			}
			if id := p.header.Get(session); id != "" && (test.status != 200 || !strings.Contains(test.body, "initialize")) {
				t.Errorf("a session %q for what opens none", id)
			}
		})
	}
	t.Run("0a: a sessionless legacy claim is told to initialize", func(t *testing.T) {
		p := w.post(claiming(r2511, "1", "tools/list", "", `{}`))
		want(t, p.last(t), "send initialize first")
	})
}

func TestWebVerbs(t *testing.T) {
	t.Parallel()
	w := serve(t, "examples/everything.hcl")
	s := w.open(r2511, `{}`)
	tests := map[string]struct {
		verb    string
		headers headers
		status  int
	}{
		"GET of a modern client":           {http.MethodGet, headers{"Mcp-Protocol-Version", r2026}, 405},
		"DELETE of a modern client":        {http.MethodDelete, headers{"Mcp-Protocol-Version", r2026}, 405},
		"GET without a session":            {http.MethodGet, nil, 400},
		"DELETE without a session":         {http.MethodDelete, nil, 400},
		"GET of a session that is none":    {http.MethodGet, headers{"Mcp-Session-Id", "none"}, 404},
		"DELETE of a session that is none": {http.MethodDelete, headers{"Mcp-Session-Id", "none"}, 404},
		"GET with an unknown version":      {http.MethodGet, headers{"Mcp-Session-Id", s.id, "Mcp-Protocol-Version", "v9"}, 400},
		"DELETE with an unknown version":   {http.MethodDelete, headers{"Mcp-Session-Id", s.id, "Mcp-Protocol-Version", "v9"}, 400},
		"GET that takes JSON":              {http.MethodGet, headers{"Mcp-Session-Id", s.id, "Accept", absent, "Accept", "application/json"}, 406},
		"PUT":                              {http.MethodPut, nil, 405},
		"PATCH":                            {http.MethodPatch, nil, 405},
		"OPTIONS":                          {http.MethodOptions, nil, 405},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := w.do(w.verb(test.verb, test.headers))
			if p.status != test.status {
				t.Errorf("%d, want %d: %s", p.status, test.status, p.body)
			}
			if allow := p.header.Get("Allow"); (test.status == 405) != strings.Contains(allow, "POST") {
				t.Errorf("Allow %q with %d", allow, p.status)
			}
		})
	}
}

// TestWebOrigin changes Origin alone and Host alone; they win over everything else (§0a).
func TestWebOrigin(t *testing.T) {
	t.Parallel()
	w := serve(t, "examples/everything.hcl", "--var", "origin=https://app.example.com")
	port := w.base[strings.LastIndexByte(w.base, ':'):]
	tests := map[string]struct {
		headers headers
		status  int
	}{
		"no Origin":               {nil, 200},
		"the one allowed":         {headers{"Origin", "https://app.example.com"}, 200},
		"another scheme":          {headers{"Origin", "http://app.example.com"}, 403},
		"a port":                  {headers{"Origin", "https://app.example.com:443"}, 403},
		"a sub-domain":            {headers{"Origin", "https://x.app.example.com"}, 403},
		"a suffix":                {headers{"Origin", "https://app.example.com.evil.com"}, 403},
		"upper case":              {headers{"Origin", "https://APP.example.com"}, 403},
		"null":                    {headers{"Origin", "null"}, 403},
		"empty":                   {headers{"Origin", ""}, 403},
		"two":                     {headers{"Origin", "https://app.example.com", "Origin", "https://app.example.com"}, 403},
		"its own":                 {headers{"Origin", w.base}, 403},
		"a Host that is not ours": {headers{"Host", "evil.example.com"}, 403},
		"a name that looks local": {headers{"Host", "localhost.evil.com"}, 403},
		"localhost":               {headers{"Host", "localhost" + port}, 200},
		"IPv6 loopback":           {headers{"Host", "[::1]" + port}, 200},
		"another IPv6 address":    {headers{"Host", "[2001:db8::1]" + port}, 403},
		"another loopback":        {headers{"Host", "127.0.0.2"}, 200},
	}
	body := modern("1", "server/discover", "", `{}`)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if p := w.modern(body, test.headers...); p.status != test.status {
				t.Errorf("POST: %d, want %d: %s", p.status, test.status, p.body)
			}
			if test.status != 403 {
				return
			}
			for _, verb := range []string{http.MethodGet, http.MethodDelete, http.MethodOptions, http.MethodPut} {
				if p := w.do(w.verb(verb, test.headers)); p.status != 403 {
					t.Errorf("%s: %d, want 403", verb, p.status)
				}
			}
			if p := w.post("garbage", append(test.headers, "Content-Type", absent)...); p.status != 403 {
				t.Errorf("garbage: %d, want 403", p.status)
			}
		})
	}
}

func TestWebBatches(t *testing.T) {
	t.Parallel()
	w := serve(t, "examples/everything.hcl")
	s := w.open(r2503, `{}`)
	p := s.send(`[` + legacy("1", "ping", "") + `,` + legacy(`"b"`, "tools/call", call("test_simple_text", `{}`)) + `,` + initialize("3", r2503, `{}`) + `,{"jsonrpc":"2.0","method":"notifications/x"}]`)
	var seen []string
	for _, msg := range p.messages { // one array, or one after the other on a stream
		for _, m := range split(msg) {
			seen = append(seen, string(m.ID))
			if (m.Error != nil) != (string(m.ID) == "3") {
				t.Errorf("%s", msg)
			}
		}
	}
	if p.status != 200 || len(seen) != 3 {
		t.Errorf("%d, answered %v: %s", p.status, seen, p.body)
	}
	for _, revision := range []string{r2024, r2506, r2511} {
		p := w.open(revision, `{}`).send(`[` + legacy("1", "ping", "") + `]`)
		p.is(t, 400, -32600)
	}
}

// TestWebIDsOfManyClients: ids are unique for each sender alone. Two modern
// clients, and two sessions, use one id at once, and one cancels only its own.
func TestWebIDsOfManyClients(t *testing.T) {
	t.Parallel()
	w := serve(t, "examples/everything.hcl")
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			body := modern("1", "tools/call", call("test_x_mcp_header", fmt.Sprintf(`{"region":"r%d"}`, i)), `{}`)
			p := w.modern(body, "Mcp-Param-Region", fmt.Sprintf("r%d", i))
			p.is(t, 200, 0)
			want(t, p.last(t), `"id":1,`, fmt.Sprintf("region=r%d", i))
		})
	}
	wg.Wait()
	a, b := w.open(r2511, elicits), w.open(r2511, elicits)
	ask := legacy("1", "tools/call", call("test_elicitation", `{"message":"m"}`))
	first, second := a.stream(a.request(ask, a.headers())), b.stream(b.request(ask, b.headers()))
	questions := [][]byte{first.must(), second.must()}
	p := a.send(legacy("1", "ping", ""))
	p.is(t, 400, -32600) // in flight in this session
	p = a.send(cancelled("1"))
	p.is(t, 202, 0)
	if msg, more := first.next(); more {
		t.Errorf("said after its cancellation: %s", msg)
	}
	m, err := parse(questions[1])
	if err != nil {
		t.Fatal(err)
	}
	p = b.send(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"action":"accept","content":{"username":"b"}}}`)
	p.is(t, 202, 0)
	want(t, second.must(), `"id":1,"result"`, "b")
}

func TestWebBodies(t *testing.T) {
	t.Parallel()
	w := serve(t, "examples/everything.hcl")
	list := modern("1", "tools/list", "", `{}`)
	const kind, accept = "Content-Type", "Accept"
	tests := map[string]struct {
		body         string
		headers      headers
		status, code int
	}{
		"not JSON":              {"{", nil, 400, -32700},
		"nothing":               {"", nil, 400, -32700},
		"not UTF-8":             {"\"\xff\"", nil, 400, -32700},
		"no message":            {"7", nil, 400, -32600},
		"a null id":             {modern("null", "tools/list", "", `{}`), nil, 400, -32600},
		"a fraction as an id":   {modern("1.5", "tools/list", "", `{}`), nil, 400, -32600},
		"two ids":               {`{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}`, nil, 400, -32600},
		"no version":            {`{"id":1,"method":"tools/list"}`, nil, 400, -32600},
		"too large":             {modern("1", "tools/list", `"x":"`+strings.Repeat("x", 2<<20)+`"`, `{}`), nil, 413, -32600},
		"text":                  {list, headers{kind, absent, kind, "text/plain"}, 415, -32600},
		"no type":               {list, headers{kind, absent}, 415, -32600},
		"JSON of another code":  {list, headers{kind, absent, kind, "application/json; charset=latin1"}, 415, -32600},
		"JSON with a code":      {list, headers{kind, absent, kind, `Application/JSON; Charset="utf-8"`}, 200, 0},
		"compressed":            {list, headers{"Content-Encoding", "gzip"}, 415, -32600},
		"no JSON accepted":      {list, headers{accept, absent, accept, "text/event-stream"}, 406, -32600},
		"everything accepted":   {list, headers{accept, absent, accept, "*/*"}, 200, 0},
		"no streams for listen": {modern("1", "subscriptions/listen", `"notifications":{}`, `{}`), headers{accept, absent, accept, "application/json"}, 406, -32600},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := w.modern(test.body, test.headers...)
			p.is(t, test.status, test.code)
		})
	}
}

// TestWebAnswersAtOnce: what needs no stream is JSON, in one line, and what has
// notifications is a stream without ids, which no proxy buffers (H-05, H-12 to H-14).
func TestWebForms(t *testing.T) {
	t.Parallel()
	w := serve(t, "examples/everything.hcl")
	p := w.modern(modern("1", "tools/call", call("test_simple_text", `{}`), `{}`))
	if got := p.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("a plain call: %s", got)
	}
	body := strings.Replace(modern("1", "tools/call", call("test_tool_with_progress", `{}`), `{}`), `"_meta":{`, `"_meta":{"progressToken":"t",`, 1)
	p = w.modern(body, "Last-Event-Id", "1/1")
	if got := p.header.Get("Content-Type"); !strings.HasPrefix(got, "text/event-stream") || len(p.messages) != 4 {
		t.Errorf("a call with progress: %s, %d messages", got, len(p.messages))
	}
	if got := p.header.Get("X-Accel-Buffering"); got != "no" {
		t.Errorf("X-Accel-Buffering: %q", got)
	}
	if bytes.Contains(p.body, []byte("\nid:")) || bytes.HasPrefix(p.body, []byte("id:")) {
		t.Errorf("event ids on a modern stream: %s", p.body)
	}
	// Lazy commit: progress is asked for, and the error still has its status.
	body = strings.Replace(modern("1", "tools/call", call("test_missing_capability", `{}`), `{}`), `"_meta":{`, `"_meta":{"progressToken":"t",`, 1)
	p = w.modern(body)
	p.is(t, 400, -32021)
	want(t, p.last(t), `"requiredCapabilities":{"sampling":{}}`)
}

// TestWebListens: on HTTP a listen is always a stream; two clients use one id.
func TestWebListens(t *testing.T) {
	t.Parallel()
	w := serve(t, "examples/everything.hcl")
	listen := modern("7", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, `{}`)
	a, b := w.stream(w.request(listen, modernHeaders(listen))), w.stream(w.request(listen, modernHeaders(listen)))
	for _, s := range []*stream{a, b} {
		want(t, s.must(), "notifications/subscriptions/acknowledged", `"`+metaSubscription+`":7`)
	}
	change := modern("7", "tools/call", call("test_trigger_tool_change", `{}`), `{}`)
	p := w.modern(change)
	p.is(t, 200, 0)
	want(t, a.must(), "notifications/tools/list_changed", `"`+metaSubscription+`":7`)
	want(t, b.must(), "notifications/tools/list_changed")
	a.close()
	p = w.modern(change)
	p.is(t, 200, 0)
	want(t, b.must(), "notifications/tools/list_changed")
}

// TestWebDisconnects: a modern client that goes away cancels its call, so that
// the slot is free; a legacy one does not, and comes back for the result.
func TestWebDisconnects(t *testing.T) {
	t.Parallel()
	config := write(t, fmt.Sprintf(`
plugin "everything" { command = [%q] }
http {}
limits {
  max_concurrent_requests = 1
}
web "/mcp" { plugins = ["everything"] }
`, house+"/bin/plugin-everything"))
	w := serve(t, config)
	slow := strings.Replace(modern("1", "tools/call", call("test_tool_with_progress", `{}`), `{}`), `"_meta":{`, `"_meta":{"progressToken":"t",`, 1)
	for range 5 { // five calls of which each would take 150 ms
		s := w.stream(w.request(slow, modernHeaders(slow)))
		s.must()
		s.close()
	}
	p := w.modern(modern("2", "tools/call", call("test_simple_text", `{}`), `{}`)) // there is one slot
	p.is(t, 200, 0)

	s := w.open(r2511, `{}`)
	body := `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"test_reconnection","arguments":{}}}`
	r := s.request(body, s.headers())
	res, err := w.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	// The priming event tells that the call runs and how to come back.
	buf, id := make([]byte, 1), ""
	for text := ""; id == ""; text += string(buf) {
		if _, err := io.ReadFull(res.Body, buf); err != nil {
			t.Fatalf("no priming event: %v, %q", err, text)
		}
		if _, rest, ok := strings.Cut(text, "id: "); ok {
			if line, _, ended := strings.Cut(rest, "\n"); ended {
				id = line
			}
		}
	}
	res.Body.Close()
	back := s.get("Last-Event-ID", id)
	want(t, back.must(), `"id":3,"result"`, "you came back")
}

// TestWebPair: the HTTP+SSE pair of 2024-11-05 beside the rest.
func TestWebPair(t *testing.T) {
	t.Parallel()
	w := serve(t, "examples/everything.hcl")
	r := w.verb(http.MethodGet, nil)
	r.URL.Path += "/sse"
	res, err := w.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	stream := json.NewDecoder(&eventData{body: res.Body, t: t})
	var next json.RawMessage
	if err := stream.Decode(&next); err != nil {
		t.Fatal(err)
	}
	var path string
	if err := json.Unmarshal(next, &path); err != nil {
		t.Fatalf("endpoint %s: %v", next, err)
	}
	post := func(body string) reply {
		r := w.request(body, nil)
		target, err := r.URL.Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		r.URL = target
		return w.do(r)
	}
	p := post(initialize("0", r2024, `{}`))
	if p.status != 202 {
		t.Errorf("a message: %d", p.status)
	}
	if err := stream.Decode(&next); err != nil {
		t.Fatal(err)
	}
	want(t, next, `"id":0`, `"protocolVersion":"2024-11-05"`)
	post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	post(legacy("1", "tools/call", call("test_audio_content", `{}`)))
	if err := stream.Decode(&next); err != nil {
		t.Fatal(err)
	}
	want(t, next, `"id":1`, `"type":"resource"`)
	lacks(t, next, `"type":"audio"`)
}

// eventData reads the data of events; that which is no JSON, as a JSON string.
type eventData struct {
	body io.Reader
	t    *testing.T
	rest []byte
}

// Read implements [io.Reader].
func (e *eventData) Read(b []byte) (int, error) {
	for {
		line, rest, ok := bytes.Cut(e.rest, []byte("\n"))
		if ok {
			e.rest = rest
			data, found := bytes.CutPrefix(line, []byte("data: "))
			if !found {
				continue
			}
			if data[0] != '{' {
				data, _ = json.Marshal(string(data))
			}
			return copy(b, append(data, ' ')), nil // of a decoder, whose buffer is larger
		}
		n, err := e.body.Read(b)
		if e.rest = append(e.rest, b[:n]...); err != nil {
			return 0, err
		}
	}
}
