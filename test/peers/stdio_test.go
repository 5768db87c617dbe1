package peers

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

const elicits = `{"elicitation":{}}`

// everything starts the fixture on stdio.
func everything(t *testing.T) *pipe {
	t.Helper()
	t.Parallel()
	return start(t, "everything", "examples/everything.hcl")
}

func TestPipeNegotiates(t *testing.T) {
	tests := map[string]string{
		r2024: r2024, r2503: r2503, r2506: r2506, r2511: r2511,
		r2026: r2511, "1999-01-01": r2511, "": r2511, "v999.0.0": r2511,
	}
	for asked, got := range tests {
		t.Run("asked for "+asked, func(t *testing.T) {
			c := everything(t)
			answer := c.initialize(asked, `{}`)
			want(t, answer, `"protocolVersion":"`+got+`"`, `"serverInfo":{`)
			lacks(t, answer, "resultType", "ttlMs", "supportedVersions")
			want(t, c.ask("1", legacy("1", "ping", "")), `"result":{}`)
			want(t, c.ask("2", legacy("2", "logging/setLevel", `"level":"error"`)), `"result":{}`)
			for _, method := range []string{"server/discover", "subscriptions/listen", "no/such", "tasks/list"} {
				want(t, c.ask("3", legacy("3", method, "")), `"code":-32601`)
			}
			want(t, c.ask("4", initialize("4", r2511, `{}`)), `"code":-32600`)
			want(t, c.ask("5", legacy("5", "resources/read", `"uri":"test://none"`)), `"code":-32002`, `"uri":"test://none"`)
			want(t, c.ask("6", legacy("6", "tools/call", call("none", `{}`))), `"code":-32602`)
		})
	}
}

// TestPipeBothLineages: a probe and modern calls do not pin a pipe (§2.2), and legacy results stay bare.
func TestPipeBothLineages(t *testing.T) {
	c := everything(t)
	discovered := c.ask("1", modern("1", "server/discover", "", `{}`))
	want(t, discovered, `"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]`, `"resultType":"complete"`)
	want(t, c.ask("2", modern("2", "tools/call", call("test_simple_text", `{}`), `{}`)), `"resultType":"complete"`)
	want(t, c.ask("3", legacy("3", "tools/list", "")), `"code":-32600`) // no claim and no session yet
	want(t, c.ask("4", legacy("4", "server/discover", "")), `"code":-32602`)
	want(t, c.ask("5", legacy("5", "ping", "")), `"result":{}`)
	c.initialize(r2511, `{}`)
	for i, method := range []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list"} {
		id := fmt.Sprint(10 + i)
		lacks(t, c.ask(id, legacy(id, method, "")), "resultType", "ttlMs", "cacheScope", "serverInfo")
		want(t, c.ask(id, modern(id, method, "", `{}`)), `"resultType":"complete"`, `"ttlMs":`, `"cacheScope":`, "serverInfo")
	}
	// A claim that names a legacy revision is legacy, whatever the method.
	want(t, c.ask("20", claiming(r2503, "20", "server/discover", "", `{}`)), `"code":-32601`)
	lacks(t, c.ask("21", claiming(r2511, "21", "tools/list", "", `{}`)), "resultType")
	// Removed methods with a modern claim.
	for i, method := range []string{"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "notifications/initialized"} {
		id := fmt.Sprint(30 + i)
		want(t, c.ask(id, modern(id, method, "", `{}`)), `"code":-32601`)
	}
	unsupported := c.ask("40", claiming("v999.0.0", "40", "server/discover", "", `{}`))
	want(t, unsupported, `"code":-32022`, `"requested":"v999.0.0"`, `"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]`)
	if rest := c.finish(); len(rest) > 0 {
		t.Errorf("what nobody asked for was said: %q", rest)
	}
}

func TestPipeIDs(t *testing.T) {
	c := everything(t)
	for _, id := range []string{`0`, `""`, `-1`, `9007199254740993`, `123456789012345678901234567890`, `"1"`, `1`, `"\u00e9\\\""`, `"é"`, `"null"`} {
		want(t, c.ask(id, modern(id, "tools/call", call("test_simple_text", `{}`), `{}`)), `"id":`+id+`,`)
	}
	for _, id := range []string{`null`, `1.5`, `1e3`, `true`, `{}`, `[]`} {
		c.send(modern(id, "tools/list", "", `{}`))
		answer := c.next()
		want(t, answer, `"code":-32600`)
		lacks(t, answer, `"id"`)
	}
}

// TestPipeIDsInFlight: an id is free once it is answered and not before, and "1" is not 1.
func TestPipeIDsInFlight(t *testing.T) {
	c := everything(t)
	c.initialize(r2511, elicits)
	c.send(legacy("1", "tools/call", call("test_elicitation", `{"message":"m"}`)))
	question := c.await("question", func(m *message) bool { return m.Method == "elicitation/create" })
	q, err := parse(question)
	if err != nil {
		t.Fatal(err)
	}
	want(t, c.ask("1", legacy("1", "ping", "")), `"code":-32600`)
	want(t, c.ask(`"1"`, legacy(`"1"`, "ping", "")), `"result":{}`)
	want(t, c.ask(`1`, modern(`1`, "tools/list", "", `{}`)), `"code":-32600`)
	c.send(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"result":{"action":"accept","content":{"username":"ada"}}}`)
	want(t, c.answer("1"), "ada")
	want(t, c.ask("1", legacy("1", "ping", "")), `"result":{}`)
}

func TestPipeSurvivesGarbage(t *testing.T) {
	lines := map[string]string{
		"not JSON": "-32700", "{": "-32700", `{"jsonrpc":"2.0","id":1,"method":"ping"} {}`: "-32700", "\xff\xfe": "-32700",
		`{"jsonrpc":"2.0","id":1,"method":"a` + "\x01" + `"}`: "-32700", `"text"`: "-32600", "7": "-32600", "[]": "-32600",
		`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`: "-32600", `{}`: "-32600", `{"jsonrpc":"2.0","id":{},"method":"x"}`: "-32600",
		strings.Repeat("[", 1000): "-32700", strings.Repeat("[", 1000) + strings.Repeat("]", 1000): "-32700",
		`{"jsonrpc":"2.0","method":"a","method":"b"}`: "-32600", strings.Repeat("x", 2<<20): "-32600",
	}
	c := everything(t)
	for line, code := range lines {
		c.send(line)
		if answer := c.next(); !bytes.Contains(answer, []byte(`"code":`+code)) || bytes.Contains(answer, []byte(`"id"`)) {
			t.Errorf("%.60q: %s, want code %s and no id", line, answer, code)
		}
	}
	c.send("")     // an empty line is none
	c.send("  \t") // nor is this
	want(t, c.ask("1", modern("1", "server/discover", "", `{}`)+"\r"), `"result"`)
	// Never an answer to a notification or a response, good or bad.
	c.send(`{"jsonrpc":"2.0","method":"no/such"}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/x","params":{"_meta":{"` + metaVersion + `":"v9"}}}`)
	c.send(`{"jsonrpc":"2.0","id":5,"result":{}}`)
	c.send(`{"jsonrpc":"2.0","id":6,"error":{"code":1,"message":"m"}}`)
	want(t, c.ask("2", modern("2", "server/discover", "", `{}`)), `"result"`)
	if rest := c.finish(); len(rest) > 0 {
		t.Errorf("said %q to what needs no answer", rest)
	}
}

func TestPipeBatches(t *testing.T) {
	c := everything(t)
	c.initialize(r2503, `{}`)
	c.send(`[` + legacy("1", "ping", "") + `,` + legacy(`"a"`, "tools/call", call("test_simple_text", `{}`)) + `,{"jsonrpc":"2.0","method":"notifications/x"},` +
		legacy("3", "no/such", "") + `,` + initialize("4", r2503, `{}`) + `]`)
	batch := c.line(t, '[')
	want(t, batch, `{"jsonrpc":"2.0","id":1,"result":{}}`, `"id":"a","result"`, `"id":3,"error":{"code":-32601`, `"id":4,"error":{"code":-32600`)
	c.send(`[{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":9,"result":{}}]`) // no answer
	c.send(`[` + modern("5", "tools/list", "", `{}`) + `]`)
	want(t, c.next(), `"code":-32600`)
	c.send(`[]`)
	want(t, c.next(), `"code":-32600`)
	if rest := c.finish(); len(rest) > 0 {
		t.Errorf("said %q", rest)
	}
}

// line returns the next line, which starts with this byte.
func (c *pipe) line(t *testing.T, first byte) []byte {
	t.Helper()
	line, ok := <-c.lines
	if !ok || line[0] != first {
		t.Fatalf("got %q", line)
	}
	return line
}

// TestPipeCancelRaces cancels requests at every moment of their life: there is
// at most one answer, none after a cancellation that came in time, and the id
// is free again.
func TestPipeCancelRaces(t *testing.T) {
	c := everything(t)
	c.initialize(r2511, elicits)
	for i := range 50 {
		id := fmt.Sprint(i)
		c.send(modern(id, "tools/call", call("test_simple_text", `{}`), `{}`))
		if i%2 == 0 {
			c.answer(id)
		}
		c.send(cancelled(id))
	}
	c.send(legacy(`"slow"`, "tools/call", `"name":"test_reconnection","arguments":{}`))
	c.send(cancelled(`"slow"`))
	c.send(legacy(`"asks"`, "tools/call", call("test_elicitation", `{"message":"m"}`)))
	question := c.await("question", func(m *message) bool { return m.Method == "elicitation/create" })
	q, err := parse(question)
	if err != nil {
		t.Fatal(err)
	}
	c.send(cancelled(`"asks"`))
	c.send(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"result":{"action":"accept","content":{}}}`) // too late
	want(t, c.ask(`"slow"`, legacy(`"slow"`, "ping", "")), `"result":{}`)
	want(t, c.ask(`"asks"`, legacy(`"asks"`, "ping", "")), `"result":{}`)
	answered := map[string]int{}
	for _, line := range c.finish() {
		m, err := parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if m.Method != "" { // the host gives its question up, or not: it is a legacy session
			continue
		}
		if answered[string(m.ID)]++; answered[string(m.ID)] > 1 || strings.HasPrefix(string(m.ID), `"`) {
			t.Errorf("an answer too many: %s", line)
		}
	}
}

// TestPipeListens: two subscriptions and a legacy session on one pipe, while
// lists change. Each list_changed comes once to each, tagged with the id as it
// was written, after the acknowledgement, and when the new list is there.
func TestPipeListens(t *testing.T) {
	c := everything(t)
	c.initialize(r2511, `{}`)
	const key = `"_meta":{"` + metaSubscription + `":`
	c.send(modern("41", "subscriptions/listen", `"notifications":{"toolsListChanged":true,"promptsListChanged":true,"unknown":1}`, `{}`))
	want(t, c.notification("notifications/subscriptions/acknowledged"), key+`41}`, `"notifications":{"toolsListChanged":true,"promptsListChanged":true}`)
	c.send(modern(`"41"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true,"resourceSubscriptions":["test://watched-resource"]}`, `{}`))
	want(t, c.notification("notifications/subscriptions/acknowledged"), key+`"41"}`, `"resourceSubscriptions":["test://watched-resource"]`)

	want(t, c.ask("1", modern("1", "tools/call", call("test_trigger_tool_change", `{}`), `{}`)), `"result"`)
	tags := []string{"", "", ""}
	for i := range tags {
		m, err := parse(c.notification("notifications/tools/list_changed"))
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 { // never before the new list is visible
			want(t, c.ask("2", modern("2", "tools/list", "", `{}`)), `"test_transient_tool"`)
		}
		tags[i] = string(m.Params.Meta[metaSubscription])
	}
	slices.Sort(tags)
	if !slices.Equal(tags, []string{"", `"41"`, "41"}) {
		t.Errorf("tags %q, want one of each and one without", tags)
	}
	want(t, c.notification("notifications/resources/updated"), key+`"41"}`, `"uri":"test://watched-resource"`)

	c.send(cancelled("41"))
	want(t, c.ask("41", modern("41", "tools/list", "", `{}`)), `"result"`) // the id is free
	c.ask("3", modern("3", "tools/call", call("test_trigger_prompt_change", `{}`), `{}`))
	lacks(t, c.notification("notifications/prompts/list_changed"), metaSubscription) // the session's
	rest := c.finish()
	var ends []string
	for _, line := range rest {
		m, err := parse(line)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case string(m.Params.Meta[metaSubscription]) == "41", string(m.ID) == "41":
			t.Errorf("said after the client ended it: %s", line)
		case string(m.ID) == `"41"`:
			want(t, line, `"resultType":"complete"`, key+`"41"`)
			ends = append(ends, "result")
		case m.Method == "notifications/cancelled":
			want(t, line, `"requestId":"41"`, key+`"41"`)
			ends = append(ends, "cancelled")
		}
	}
	if !slices.Equal(ends, []string{"result", "cancelled"}) {
		t.Errorf("the host ended its subscription by %q: %q", ends, rest)
	}
}

// TestPipeListensWhileListsChange opens and ends subscriptions while lists
// change: the acknowledgement is the first message of each, and all that comes is of one that is open.
func TestPipeListensWhileListsChange(t *testing.T) {
	c := everything(t)
	for i := range 20 {
		id := fmt.Sprint(100 + i)
		c.send(modern(fmt.Sprint(i), "tools/call", call("test_trigger_tool_change", `{}`), `{}`))
		c.send(modern(id, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, `{}`))
		if i%3 == 0 {
			c.send(cancelled(id))
		}
	}
	for i := range 20 {
		c.answer(fmt.Sprint(i))
	}
	acknowledged := map[string]bool{}
	for _, line := range c.finish() {
		m, err := parse(line)
		if err != nil {
			t.Fatal(err)
		}
		tag := string(m.Params.Meta[metaSubscription])
		if m.Method == "notifications/subscriptions/acknowledged" {
			if acknowledged[tag] {
				t.Errorf("acknowledged twice: %s", line)
			}
			acknowledged[tag] = true
		} else if m.Method != "" && !acknowledged[tag] {
			t.Errorf("before its acknowledgement, or without a tag: %s", line)
		}
	}
	if len(acknowledged) < 13 {
		t.Errorf("%d subscriptions were acknowledged, 13 were never cancelled", len(acknowledged))
	}
}

// TestPipeProgressAndLogs: tokens keep their type and digits, logs come only to
// who asked, and a bad level is said to be one.
func TestPipeProgressAndLogs(t *testing.T) {
	c := everything(t)
	for _, token := range []string{`"t"`, `0`, `9007199254740993`, `""`} {
		request := modern("1", "tools/call", call("test_tool_with_progress", `{}`), `{}`)
		c.send(strings.Replace(request, `"_meta":{`, `"_meta":{"progressToken":`+token+`,`, 1))
		for _, progress := range []string{"0", "50", "100"} {
			want(t, c.next(), `"method":"notifications/progress"`, `"progressToken":`+token+`,"progress":`+progress+`,"total":100,"message":"`)
		}
		want(t, c.next(), `"id":1,"result"`)
	}
	logging := modern("2", "tools/call", call("test_tool_with_logging", `{}`), `{}`)
	want(t, c.ask("2", logging), `"result"`)
	at := func(level string) string {
		return strings.Replace(logging, `"_meta":{`, `"_meta":{"`+metaLevel+`":`+level+`,`, 1)
	}
	c.send(at(`"info"`))
	for range 3 {
		want(t, c.next(), `"method":"notifications/message"`, `"level":"info"`)
	}
	want(t, c.next(), `"id":2,"result"`)
	c.send(at(`"error"`))
	want(t, c.next(), `"id":2,"result"`)
	for _, level := range []string{`"loud"`, `"INFO"`, `7`, `null`} {
		want(t, c.ask("2", at(level)), `"code":-32602`)
	}
	for _, token := range []string{`1.5`, `null`, `{}`, `true`} {
		want(t, c.ask("3", strings.Replace(modern("3", "tools/list", "", `{}`), `"_meta":{`, `"_meta":{"progressToken":`+token+`,`, 1)), `"code":-32602`)
	}
}

// TestPipeCapabilitiesArePerRequest: what one request declares is not known of the next (trap 6).
func TestPipeCapabilitiesArePerRequest(t *testing.T) {
	c := everything(t)
	ask := func(capabilities string) []byte {
		return c.ask("1", modern("1", "tools/call", call("test_input_required_result_elicitation", `{}`), capabilities))
	}
	want(t, ask(elicits), `"resultType":"input_required"`, `"elicitation/create"`)
	want(t, ask(`{}`), `"code":-32021`, `"requiredCapabilities":{"elicitation":`)
	want(t, ask(`{"sampling":{}}`), `"code":-32021`)
	want(t, ask(`{"elicitation":{"url":{}}}`), `"code":-32021`)
	want(t, ask(`{"elicitation":{"form":{}}}`), `"resultType":"input_required"`)
	c.initialize(r2511, elicits)
	want(t, ask(`{}`), `"code":-32021`) // the session's are not this request's
}
