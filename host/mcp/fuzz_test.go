package mcp_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/primitive"
	"github.com/mcphost/mcphost/host/seal"
)

// realSealer seals as the host does.
type realSealer struct{ *seal.Sealer }

func (s realSealer) Seal(purpose string, binding, payload []byte, expires time.Time) string {
	if expires.IsZero() {
		expires = time.Now().Add(time.Hour)
	}
	return s.Sealer.Seal(purpose, binding, payload, expires)
}

func (s realSealer) Open(purpose string, binding []byte, token string) ([]byte, bool) {
	b, err := s.Sealer.Open(purpose, binding, token, time.Now())
	return b, err == nil
}

func (realSealer) Spend(string, time.Time) bool { return true }

// FuzzCursor asks for pages with cursors that a client made up, and with sealed
// ones of any content: a page is what comes after that content, no less, no
// more, and never what the caller must not see.
func FuzzCursor(f *testing.F) {
	for _, s := range []string{`""`, `null`, `7`, `"AQ"`, `"\u0000"`, `{}`, `"tool-03"`} {
		f.Add([]byte(s), "tool-03")
	}
	f.Add([]byte(`"x"`), "")
	f.Add([]byte(`"x"`), "\xff")
	sealer, err := seal.New(nil)
	if err != nil {
		f.Fatal(err)
	}
	s := &primitive.Snapshot{}
	for i := range 10 {
		name := fmt.Sprintf("tool-%02d", i)
		s.Tools = append(s.Tools, &primitive.Primitive{Kind: primitive.KindTool, Key: name, Own: name, Definition: []byte(`{"name":"` + name + `","inputSchema":{"type":"object"}}`)})
	}
	ep := &mcp.Endpoint{Name: "fuzz", Transport: "http", Sealer: realSealer{sealer}, Limits: mcp.DefaultLimits()}
	ep.Limits.DefaultPageSize = 3
	view := mcp.View{Snapshot: s, Hidden: func(_ primitive.Kind, i int) bool { return i == 5 }}
	e := mcp.Encoder{Revision: mcp.R20260728, ServerInfo: []byte(`{"name":"n","version":"1"}`)}

	f.Fuzz(func(t *testing.T, cursor []byte, content string) {
		if !jsonrpc.Valid(cursor) {
			return
		}
		// Nobody seals a cursor by chance.
		if b, fault := ep.AppendPage(nil, e, view, primitive.KindTool, cursor); fault == nil || fault.Code != jsonrpc.InvalidParams {
			t.Fatalf("cursor %s: %v and %s, want -32602", cursor, fault, b)
		}
		binding := append([]byte(ep.Name), 0, byte(primitive.KindTool))
		token := jsonrpc.AppendString(nil, ep.Sealer.Seal("cursor", binding, []byte(content), time.Time{}))
		b, fault := ep.AppendPage(nil, e, view, primitive.KindTool, token)
		if fault != nil {
			t.Fatalf("a sealed cursor: %v", fault)
		}
		var page struct{ Tools []struct{ Name string } }
		if err := json.Unmarshal(b, &page); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		var want, got []string
		for i, p := range s.Tools {
			if p.Key > content && i != 5 && len(want) < 3 {
				want = append(want, p.Key)
			}
		}
		for _, tool := range page.Tools {
			got = append(got, tool.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("after %q: %v, want %v", content, got, want)
		}
	})
}
