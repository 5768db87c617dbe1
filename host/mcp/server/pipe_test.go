package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcphost/mcphost/host/mcp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// call returns a modern request; caps are the client's capabilities.
func call(id, method, params, caps string) string {
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + caps + `}`
	if params != "" {
		params += ","
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + params + meta + `}}`
}

func tool(id, name, args string) string {
	return call(id, "tools/call", `"name":"`+name+`","arguments":`+args, `{}`)
}

func initialize(version, caps string) string {
	return `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":` + caps + `,"clientInfo":{"name":"t","version":"1"}}}`
}

const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// want fails unless line holds all parts.
func want(t *testing.T, line []byte, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(string(line), part) {
			t.Errorf("line %s lacks %s", line, part)
		}
	}
}

func TestCancelledRequestIsSilent(t *testing.T) {
	c := newPipe(t)
	c.send(tool("1", "hang", `{}`))
	<-c.plugin.started
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}`) // another id: a string
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}`)
	c.send(tool("1", "echo", `{}`)) // the id may be used again once the first is gone, or is refused while it ends
	want(t, c.await(), `"id":1`)
	if rest := c.finish(); strings.Count(string(rest), "\n") != 1 {
		t.Errorf("the cancelled request was answered: %s", rest)
	}
}

func TestIDsAreScopedByTypeAndUniqueInFlight(t *testing.T) {
	c := newPipe(t)
	c.send(tool("1", "hang", `{}`))
	<-c.plugin.started
	c.send(tool(`"1"`, "echo", `{}`))
	want(t, c.await(), `"id":"1","result"`)
	c.send(tool("1", "echo", `{}`))
	want(t, c.await(), `"id":1,"error":{"code":-32600`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	c.finish()
}

func TestListensAreTaggedAndEndInOrder(t *testing.T) {
	c := newPipe(t)
	c.send(initialize("2025-11-25", `{}`))
	c.await()
	c.send(initialized)
	c.send(call("41", "subscriptions/listen", `"notifications":{"toolsListChanged":true,"resourceSubscriptions":["test://a","test://none","test://a"],"x":1}`, `{}`))
	want(t, c.await(), `notifications/subscriptions/acknowledged`, `"io.modelcontextprotocol/subscriptionId":41}`, `{"toolsListChanged":true,"resourceSubscriptions":["test://a"]}`)
	c.send(call(`"b"`, "subscriptions/listen", `"notifications":{"promptsListChanged":true}`, `{}`))
	want(t, c.await(), `"io.modelcontextprotocol/subscriptionId":"b"`, `{"promptsListChanged":true}`)

	c.registry.SetOffer("fake", newOffer(c.plugin, "more"))
	tagged, untagged := 0, 0
	for range 2 {
		line := string(c.await())
		if !strings.Contains(line, "notifications/tools/list_changed") {
			t.Errorf("got %s", line)
		}
		if strings.Contains(line, `subscriptionId":41}`) {
			tagged++
		} else if !strings.Contains(line, "subscriptionId") {
			untagged++
		}
	}
	if tagged != 1 || untagged != 1 {
		t.Errorf("%d tagged and %d untagged notifications, want one of each", tagged, untagged)
	}
	c.registry.ResourceUpdated("fake", "test://a")
	want(t, c.await(), `"notifications/resources/updated","params":{"uri":"test://a","_meta":{"io.modelcontextprotocol/subscriptionId":41}`)

	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"b"}}`)
	c.send(call("5", "tools/list", "", `{}`))
	want(t, c.await(), `"id":5`)
	before := len(c.said)
	c.finish()
	if got := c.said[before:]; len(got) != 2 {
		t.Fatalf("said %q at the end", got)
	}
	want(t, c.said[before], `"id":41,"result":{"resultType":"complete"`, `subscriptionId":41`)
	want(t, c.said[before+1], `notifications/cancelled`, `"requestId":41`)
}

func TestListenRefusesAFilterThatIsNone(t *testing.T) {
	c := newPipe(t)
	for _, params := range []string{``, `"notifications":7`, `"notifications":{"toolsListChanged":1}`, `"notifications":{"resourceSubscriptions":[7]}`} {
		c.send(call("1", "subscriptions/listen", params, `{}`))
		want(t, c.await(), `"code":-32602`)
	}
	c.finish()
}

func TestInputRoundsOfAModernClient(t *testing.T) {
	const caps = `{"elicitation":{}}`
	c := newPipe(t)
	c.send(call("1", "tools/call", `"name":"ask","arguments":{"a":1,"b":2}`, caps))
	first := c.await()
	want(t, first, `"resultType":"input_required"`, `"name":{"method":"elicitation/create"`)
	var r struct{ Result struct{ RequestState string } }
	if err := json.Unmarshal(first, &r); err != nil {
		t.Fatal(err)
	}
	state, err := json.Marshal(r.Result.RequestState)
	if err != nil {
		t.Fatal(err)
	}
	again := func(name, args, responses string) string {
		return call("2", "tools/call", fmt.Sprintf(`"name":%q,"arguments":%s,"inputResponses":%s,"requestState":%s`, name, args, responses, state), caps)
	}
	const answer = `{"name":{"action":"accept"},"extra":{}}`
	c.send(again("ask", `{"a":2}`, answer))
	want(t, c.await(), `"code":-32602`, `requestState`)
	c.send(again("talk", `{"a":1,"b":2}`, answer))
	want(t, c.await(), `"code":-32602`, `requestState`)
	c.send(again("ask", `{ "b":2, "a":1 }`, answer)) // the same arguments, written another way
	want(t, c.await(), `mine {\"action\":\"accept\"}`, `"resultType":"complete"`)
	c.send(again("ask", `{"a":1,"b":2}`, answer)) // the plugin asked for single use
	want(t, c.await(), `"code":-32602`, `requestState`)
	c.finish()
}

func TestMissingAnswersAreAskedForAgain(t *testing.T) {
	c := newPipe(t)
	for _, responses := range []string{`{}`, `{"other":{}}`, `{"name":12345}`, `{"name":null}`} {
		c.send(call("1", "tools/call", `"name":"ask","arguments":{},"inputResponses":`+responses, `{"elicitation":{"form":{}}}`))
		want(t, c.await(), `"resultType":"input_required"`)
	}
	c.finish()
}

func TestLegacyClientIsAsked(t *testing.T) {
	c := newPipe(t)
	c.send(initialize("2025-06-18", `{"elicitation":{}}`))
	c.await()
	c.send(initialized)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}`)
	question := c.await()
	// mode came with 2025-11-25, titled choices and defaults of strings too.
	want(t, question, `"method":"elicitation/create"`, `"enum":["a"],"enumNames":["A"]`)
	if strings.Contains(string(question), `"mode"`) || strings.Contains(string(question), `"default"`) {
		t.Errorf("%s holds what 2025-06-18 does not know", question)
	}
	c.send(`{"jsonrpc":"2.0","id":99,"result":{}}`) // an answer to nothing
	c.send(`{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}`)
	want(t, c.await(), `"id":1,"result"`, `mine {\"action\":\"decline\"}`)
	c.finish()
}

func TestLegacyClientThatRefuses(t *testing.T) {
	c := newPipe(t)
	c.send(initialize("2025-11-25", `{"elicitation":{}}`))
	c.await()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}`)
	want(t, c.await(), `"mode":"form"`)
	c.send(`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}`)
	want(t, c.await(), `"id":1,"result"`, `"isError":true`, `the client refused elicitation/create: no`)
	c.finish()
}

func TestProgressAndLogs(t *testing.T) {
	c := newPipe(t)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"talk","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"warning","progressToken":9007199254740993}}}`)
	want(t, c.await(), `"progressToken":9007199254740993,"progress":0.5,"total":1,"message":"half"`)
	want(t, c.await(), `"progressToken":9007199254740993,"progress":1}`)
	want(t, c.await(), `"notifications/message","params":{"level":"error","logger":"l","data":{"loud":1}}`)
	want(t, c.await(), `"id":1,"result"`)
	c.finish()
}

func TestOversizedLineIsSkipped(t *testing.T) {
	c := newPipe(t, func(l *mcp.Limits) { l.MaxRequestSize = 1000 })
	c.send(strings.Repeat("x", 200_000))
	want(t, c.await(), `"code":-32600`, `1000 bytes`)
	c.send(tool("1", "echo", `{}`))
	want(t, c.await(), `"id":1,"result"`)
	c.finish()
}

func TestLargeMetaIsRefused(t *testing.T) {
	c := newPipe(t, func(l *mcp.Limits) { l.MaxMetadataSize = 300 })
	c.send(strings.Replace(tool("1", "echo", `{}`), `"_meta":{`, `"_meta":{"x.y/z":"`+strings.Repeat("x", 300)+`",`, 1))
	want(t, c.await(), `"code":-32602`, `300`)
	c.finish()
}

func TestLargeResultIsRefused(t *testing.T) {
	c := newPipe(t, func(l *mcp.Limits) { l.MaxResponseSize = 500 })
	c.send(tool("1", "echo", `{"x":"`+strings.Repeat("x", 500)+`"}`))
	want(t, c.await(), `"code":-32603`, `the limit is 500`)
	c.finish()
}

func TestFullHostRefusesAndPingPasses(t *testing.T) {
	c := newPipe(t, func(l *mcp.Limits) { l.MaxConcurrentRequests, l.MaxQueuedRequests = 1, 1 })
	c.send(initialize("2025-11-25", `{}`))
	c.await()
	c.send(tool("1", "hang", `{}`))
	<-c.plugin.started
	c.send(tool("2", "echo", `{}`)) // waits
	c.send(tool("3", "echo", `{}`)) // finds no place
	want(t, c.await(), `"id":3,"error":{"code":-31429`)
	c.send(`{"jsonrpc":"2.0","id":4,"method":"ping"}`)
	want(t, c.await(), `"id":4,"result":{}`)
	c.send(call("5", "subscriptions/listen", `"notifications":{}`, `{}`)) // does not count
	want(t, c.await(), `acknowledged`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	want(t, c.await(), `"id":2,"result"`)
	c.finish()
}

func TestWaitingForAPersonHoldsNoSlot(t *testing.T) {
	c := newPipe(t, func(l *mcp.Limits) { l.MaxConcurrentRequests = 1 })
	c.send(initialize("2025-11-25", `{"elicitation":{}}`))
	c.await()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}`)
	want(t, c.await(), `"elicitation/create"`)
	c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}`)
	want(t, c.await(), `"id":2,"result"`)
	c.send(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`)
	want(t, c.await(), `"id":1,"result"`)
	c.finish()
}

func TestEndOfInputCancelsWhatRuns(t *testing.T) {
	c := newPipe(t)
	c.send(tool("1", "hang", `{}`))
	<-c.plugin.started
	start := time.Now()
	if rest := c.finish(); len(rest) != 0 {
		t.Logf("said %s", rest)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("the end took %v", d)
	}
}

func TestRequestsAreServedAtOnce(t *testing.T) {
	c := newPipe(t)
	for i := range 10 {
		c.send(tool(fmt.Sprint(i), "hang", `{}`))
	}
	for range 10 {
		<-c.plugin.started
	}
	for i := range 10 {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i))
	}
	c.finish()
}

func TestRequestThatFindsNoSlotInTimeIsAnswered(t *testing.T) {
	c := newPipe(t, func(l *mcp.Limits) { l.MaxConcurrentRequests, l.RequestTimeout = 1, 200*time.Millisecond })
	c.plugin.stubborn = make(chan struct{})
	c.send(tool("1", "hang", `{}`))
	<-c.plugin.started
	c.send(tool("2", "echo", `{}`))
	want(t, c.await(), `"id":2,"error":{"code":-31429`)
	close(c.plugin.stubborn)
	want(t, c.await(), `"id":1,"result"`)
	c.finish()
}

func TestWaitingForPersonsDoesNotFillTheQueue(t *testing.T) {
	c := newPipe(t, func(l *mcp.Limits) { l.MaxConcurrentRequests, l.MaxQueuedRequests = 1, 1 })
	c.send(initialize("2025-11-25", `{"elicitation":{}}`))
	c.await()
	for i := range 5 {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"ask"}}`, i))
		want(t, c.await(), `"elicitation/create"`)
	}
	c.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo"}}`)
	want(t, c.await(), `"id":5,"result"`)
	for i := range 5 {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"action":"accept"}}`, i+1))
		want(t, c.await(), fmt.Sprintf(`"id":%d,"result"`, i))
	}
	c.finish()
}

// A response carries an id of ours. To answer it, or under that id, would be
// an answer to another request of the client, or the start of a quarrel.
func TestResponsesAreNeverAnswered(t *testing.T) {
	c := newPipe(t)
	for _, response := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`,
		`{"jsonrpc":"1.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","result":{}}`,
		`{"jsonrpc":"2.0","id":1,"error":7}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`,
		`{"jsonrpc":"2.0","id":[1],"error":{}}`,
	} {
		c.send(response)
	}
	c.send(tool("2", "echo", `{}`))
	want(t, c.await(), `"id":2,"result"`)
	if said := c.finish(); strings.Count(string(said), "\n") != 1 {
		t.Errorf("said %s", said)
	}
}

func TestBatchesAreBounded(t *testing.T) {
	c := newPipe(t, func(l *mcp.Limits) { l.MaxResponseSize = 1000 })
	c.send(initialize("2025-03-26", `{}`))
	c.await()
	c.send("[" + strings.Repeat("1,", 100_000) + "1]")
	if line := c.await(); len(line) > 1000 || !strings.HasPrefix(string(line), `{"jsonrpc":"2.0","error":{"code":-32600`) {
		t.Errorf("100001 elements got %d bytes: %.200s", len(line), line)
	}
	echo := func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"echo","arguments":{"x":"` + strings.Repeat("y", 400) + `"}}}`
	}
	c.send("[" + echo("1") + "," + echo("2") + "," + echo("3") + "]")
	line := c.await()
	want(t, line, `"id":1,`, `"id":2,`, `"id":3,`, `larger than the limit`)
	if results := strings.Count(string(line), `"result"`); results != 2 {
		t.Errorf("%d results of some 500 bytes in a batch of at most 1000", results)
	}
	c.finish()
}

func TestWhatIsKeptForAClientIsBounded(t *testing.T) {
	c := newPipe(t, func(l *mcp.Limits) { l.MaxMetadataSize = 1000 })
	long := strings.Repeat("x", 5000)
	c.send(initialize("2025-11-25", `{"experimental":{"x":{"y":"`+long+`"}}}`))
	want(t, c.await(), `"id":"init","error":{"code":-32602`)
	c.send(initialize("2025-11-25", `{}`))
	want(t, c.await(), `"id":"init","result"`)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://t/` + long + `"}}`)
	want(t, c.await(), `"id":1,"error":{"code":-32602`)
	c.send(call("2", "subscriptions/listen", `"notifications":{"resourceSubscriptions":["test://t/`+long+`","test://t/a"]}`, `{}`))
	want(t, c.await(), `"notifications":{"resourceSubscriptions":["test://t/a"]}`)
	c.finish()
}

func TestARequestThatStaysOpenMustBeSmall(t *testing.T) {
	c := newPipe(t)
	c.send(call("1", "subscriptions/listen", `"notifications":{},"x":"`+strings.Repeat("x", 200<<10)+`"`, `{}`))
	want(t, c.await(), `"id":1,"error":{"code":-32600`)
	c.send(call("1", "subscriptions/listen", `"notifications":{},"x":"`+strings.Repeat("x", 100<<10)+`"`, `{}`))
	want(t, c.await(), `acknowledged`)
	c.finish()
}

func TestPluginsTellLegacySessionsApart(t *testing.T) {
	seen := make(map[string]int)
	for range 2 {
		c := newPipe(t)
		c.plugin.sessions = make(chan string, 3)
		c.send(initialize("2025-11-25", `{}`))
		c.await()
		for _, request := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}`,
			tool("3", "echo", `{}`),
		} {
			c.send(request)
			c.await()
			seen[<-c.plugin.sessions]++
		}
		c.finish()
	}
	if len(seen) != 3 || seen[""] != 2 {
		t.Errorf("calls by session: %v, want two in each of two sessions and two modern ones in none", seen)
	}
}
