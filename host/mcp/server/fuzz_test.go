package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/mcp/legacy"
	"github.com/mcphost/mcphost/host/mcp/modern"
	"github.com/mcphost/mcphost/host/mcp/server"
	"github.com/mcphost/mcphost/host/primitive"
	"github.com/mcphost/mcphost/host/registry"
)

// replies counts what is said to one message.
type replies struct {
	t        *testing.T
	body     []byte
	answers  [][]byte
	replied  int
	statuses []int
}

func (r *replies) Notify(msg []byte) error {
	if r.replied > 0 {
		r.t.Errorf("%q: said after the reply: %s", r.body, msg)
	}
	r.check(msg)
	return nil
}

func (r *replies) Reply(msg []byte, status int) {
	r.replied++
	r.statuses = append(r.statuses, status)
	if msg != nil {
		r.check(msg)
		r.answers = append(r.answers, bytes.Clone(msg))
	}
}

func (r *replies) check(msg []byte) {
	for line := range bytes.SplitSeq(msg, []byte("\n")) {
		if !json.Valid(line) {
			r.t.Errorf("%q: said %q", r.body, msg)
		}
	}
}

type headerMap map[string][]string

func (h headerMap) Values(name string) []string { return h[name] }

// The cases that a message may come in.
const (
	overHTTP = 1 << iota
	inSession
	unknownSession
	batching
	twoVersions
)

// FuzzAccept gives the front bodies and headers of any kind: it never panics,
// whatever it says is JSON, a request is answered once, and what is none is
// not answered on a pipe and once over HTTP.
func FuzzAccept(f *testing.F) {
	bodies := []string{
		call("1", "tools/list", "", `{}`), call(`"a"`, "server/discover", "", `{}`), tool("0", "echo", `{"text":"a"}`), initialize("2025-11-25", `{}`), initialized,
		call("7", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, `{}`), `{"jsonrpc":"2.0","id":1,"method":"ping"}`, tool("1", "panic", `{}`),
		tool("1", "ask", `{}`), call("1", "tools/call", `"name":"ask"`, `{"elicitation":{}}`), `{"jsonrpc":"2.0","id":1,"result":{}}`, `[]`, `[7,{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `{`, ``,
		call("1", "resources/read", `"uri":"test://a"`, `{}`), call("1", "prompts/get", `"name":"p","arguments":{"x":"y"}`, `{}`), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		call("1", "completion/complete", `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"x","value":"a"}`, `{}`), strings.Replace(call("1", "tools/list", "", `{}`), "2026-07-28", "v9", 1),
		`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://a"}}`, `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"info"}}`,
	}
	for i, body := range bodies {
		for mode := range uint8(8) {
			f.Add([]byte(body), mode|uint8(i%2)*batching, "2026-07-28", "tools/list", "echo", "a")
		}
		f.Add([]byte(body), uint8(overHTTP|twoVersions), "2025-11-25", "", "=?base64?ZWNobw==?=", "")
	}
	reg := registry.New(hclog.NewNullLogger(), nil)
	plugin := &fake{started: make(chan string, 1)}
	offer := newOffer(plugin)
	for i, t := range offer.Tools { // it waits to be cancelled, which nothing here does
		if t.Own == "hang" {
			offer.Tools = append(offer.Tools[:i:i], offer.Tools[i+1:]...)
			break
		}
	}
	reg.SetOffer("fake", offer)
	catalog := reg.NewEndpoint(registry.Options{Name: "test", Plugins: []registry.Member{{Handle: "fake"}}})

	f.Fuzz(func(t *testing.T, body []byte, mode uint8, version, method, name, param string) {
		ep := &mcp.Endpoint{
			Name: "test", Transport: "stdio", Catalog: catalog, Limits: mcp.DefaultLimits(),
			Sealer: &plainSealer{spent: map[string]bool{}}, Log: hclog.NewNullLogger(),
		}
		ep.Limits.InputTimeout = time.Millisecond
		ep.Close() // so that a subscription ends by itself
		front := server.New(legacy.New(), modern.New(), ep.Limits, hclog.NewNullLogger())
		said := &replies{t: t, body: body}
		conn := &mcp.Conn{Send: func(msg []byte) error { return nil }}
		x := &mcp.Exchange{Endpoint: ep, Conn: conn, Out: said}
		open := func(s *mcp.Session) error {
			s.Send = conn.Send
			t.Cleanup(s.Close)
			return nil
		}
		if mode&inSession != 0 {
			revision := mcp.LatestLegacy
			if mode&batching != 0 {
				revision = mcp.R20250326
			}
			session := mcp.NewSession(context.Background(), revision)
			session.Capabilities = []byte(`{"elicitation":{}}`)
			_ = open(session)
			conn.Open(session)
			x.State = mcp.SessionLive
		}
		if mode&overHTTP != 0 {
			ep.Transport = "http"
			h := headerMap{"Mcp-Protocol-Version": {version}, "Mcp-Method": {method}, "Mcp-Name": {name}, "Mcp-Param-Text": {param}}
			if mode&twoVersions != 0 {
				h["Mcp-Protocol-Version"] = append(h["Mcp-Protocol-Version"], version)
			}
			x.Headers, x.NewSession = h, open
			if mode&unknownSession != 0 && mode&inSession == 0 {
				x.State = mcp.SessionUnknown
			}
		}
		defer func() {
			if s := conn.Session(); s != nil {
				s.Close()
			}
		}()
		if work := front.Accept(x, body); work != nil {
			work.Run(context.Background())
		}
		judge(t, said, x, body)
	})
}

// judge holds what was said to what the body is.
func judge(t *testing.T, said *replies, x *mcp.Exchange, body []byte) {
	t.Helper()
	m, fault := jsonrpc.Parse(body)
	if said.replied > 1 || x.Headers != nil && said.replied != 1 {
		t.Fatalf("%q: %d replies, %q", body, said.replied, said.answers)
	}
	for _, status := range said.statuses {
		if x.Headers != nil && (status < 200 || status > 599) {
			t.Errorf("%q: status %d", body, status)
		}
	}
	switch {
	case jsonrpc.IsArray(body):
		return
	case fault != nil || m.IsRequest():
		if len(said.answers) != 1 {
			t.Fatalf("%q: %d answers", body, len(said.answers))
		}
	case x.Headers == nil && len(said.answers) > 0:
		t.Errorf("%q is no request and was answered: %s", body, said.answers)
	}
	if fault == nil && m.IsRequest() {
		last := said.answers[0][bytes.LastIndexByte(said.answers[0], '\n')+1:]
		if id := jsonrpc.Lookup(said.answers[0], "id"); !bytes.Equal(id, m.ID) && !bytes.Contains(last, []byte("notifications/cancelled")) {
			t.Errorf("%q was answered with id %q: %s", body, id, said.answers[0])
		}
	}
}

var _ primitive.Source = (*fake)(nil)
