package mcp_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/primitive"
)

// hexSealer seals with nothing, for tests of what is around it.
type hexSealer struct{}

func (hexSealer) Seal(purpose string, binding, payload []byte, _ time.Time) string {
	return purpose + hex.EncodeToString(binding) + "." + hex.EncodeToString(payload)
}

func (hexSealer) Open(purpose string, binding []byte, token string) ([]byte, bool) {
	rest, ok := strings.CutPrefix(token, purpose+hex.EncodeToString(binding)+".")
	payload, err := hex.DecodeString(rest)
	return payload, ok && err == nil
}

func (hexSealer) Spend(string, time.Time) bool { return true }

func snapshot(names ...string) *primitive.Snapshot {
	s := &primitive.Snapshot{}
	slices.Sort(names)
	for _, n := range names {
		s.Tools = append(s.Tools, &primitive.Primitive{Kind: primitive.KindTool, Key: n, Own: n, Definition: fmt.Appendf(nil, `{"name":%q}`, n)})
	}
	return s
}

func newEndpoint(page int, size int64) *mcp.Endpoint {
	ep := &mcp.Endpoint{Name: "e", Limits: mcp.DefaultLimits(), Sealer: hexSealer{}}
	ep.Limits.DefaultPageSize, ep.Limits.MaxResponseSize = page, size
	return ep
}

// page returns the names on a page and the cursor of the next one.
func page(t *testing.T, ep *mcp.Endpoint, v mcp.View, cursor string) (names []string, next string) {
	t.Helper()
	var raw []byte
	if cursor != "" {
		raw = jsonrpc.AppendString(nil, cursor)
	}
	b, e := ep.AppendPage(nil, mcp.Encoder{Revision: mcp.R20251125}, v, primitive.KindTool, raw)
	if e != nil {
		t.Fatal(e)
	}
	var r struct {
		Tools      []struct{ Name string }
		NextCursor string
	}
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	for _, tool := range r.Tools {
		names = append(names, tool.Name)
	}
	return names, r.NextCursor
}

// all follows the cursors.
func all(t *testing.T, ep *mcp.Endpoint, v mcp.View) (names []string, pages int) {
	t.Helper()
	cursor := ""
	for range 1000 {
		var some []string
		some, cursor = page(t, ep, v, cursor)
		names = append(names, some...)
		pages++
		if cursor == "" {
			return names, pages
		}
	}
	t.Fatal("the pages have no end")
	return nil, 0
}

func TestPagesHoldEverythingOnce(t *testing.T) {
	want := []string{"a", "b", "c", "d", "e", "f", "g"}
	v := mcp.View{Snapshot: snapshot(want...)}
	for size, pages := range map[int]int{1: 7, 3: 3, 7: 1, 100: 1} {
		got, n := all(t, newEndpoint(size, 1<<20), v)
		if !slices.Equal(got, want) || n != pages {
			t.Errorf("size %d: %v on %d pages, want %v on %d", size, got, n, want, pages)
		}
	}
	if got, n := all(t, newEndpoint(3, 1<<20), mcp.View{Snapshot: snapshot()}); len(got) != 0 || n != 1 {
		t.Errorf("an empty list has %v on %d pages", got, n)
	}
}

func TestPagesFitIntoAResponse(t *testing.T) {
	v := mcp.View{Snapshot: snapshot(strings.Repeat("a", 3000), strings.Repeat("b", 3000), strings.Repeat("c", 9000), "d")}
	got, pages := all(t, newEndpoint(50, 4<<10+6100), v)
	if len(got) != 4 || pages != 3 {
		t.Errorf("%d tools on %d pages, want 4 on 3", len(got), pages)
	}
}

func TestHiddenEntriesLeaveNoTrace(t *testing.T) {
	s := snapshot("a", "b", "c", "d", "e")
	v := mcp.View{Snapshot: s, Hidden: func(_ primitive.Kind, i int) bool { return i == 0 || i >= 3 }}
	got, pages := all(t, newEndpoint(2, 1<<20), v)
	if want := []string{"b", "c"}; !slices.Equal(got, want) || pages != 1 {
		t.Errorf("%v on %d pages, want %v on 1: a cursor that leads to nothing tells of what is hidden", got, pages, want)
	}
	if _, ok := v.Lookup(primitive.KindTool, "a"); ok {
		t.Error("a hidden tool is found")
	}
	if _, ok := v.Lookup(primitive.KindTool, "b"); !ok {
		t.Error("a visible tool is not found")
	}
}

func TestCursorsSurviveChangesOfTheList(t *testing.T) {
	ep := newEndpoint(2, 1<<20)
	_, cursor := page(t, ep, mcp.View{Snapshot: snapshot("a", "c", "e", "g")}, "")
	got, _ := page(t, ep, mcp.View{Snapshot: snapshot("a", "b", "d", "e", "g")}, cursor) // c, the last seen, is gone
	if want := []string{"d", "e"}; !slices.Equal(got, want) {
		t.Errorf("after the change: %v, want %v", got, want)
	}
}

func TestCursorsOfElsewhereAreRefused(t *testing.T) {
	ep, other := newEndpoint(1, 1<<20), newEndpoint(1, 1<<20)
	other.Name = "other"
	v := mcp.View{Snapshot: snapshot("a", "b")}
	_, foreign := page(t, other, v, "")
	_, own := page(t, ep, v, "")
	for _, cursor := range []string{`"` + foreign + `"`, `""`, `"x"`, `7`, `null`, `"` + own[1:] + `"`} {
		if _, e := ep.AppendPage(nil, mcp.Encoder{Revision: mcp.R20260728}, v, primitive.KindTool, []byte(cursor)); e == nil || e.Code != jsonrpc.InvalidParams {
			t.Errorf("cursor %s: %v, want code -32602", cursor, e)
		}
	}
	if _, e := ep.AppendPage(nil, mcp.Encoder{Revision: mcp.R20260728}, v, primitive.KindPrompt, []byte(`"`+own+`"`)); e == nil {
		t.Error("a cursor of tools works for prompts")
	}
}
