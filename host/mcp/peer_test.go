package mcp_test

import (
	"strings"
	"testing"

	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/primitive"
)

// lines keeps what it is told.
type lines []string

func (l *lines) Notify(msg []byte) error { *l = append(*l, string(msg)); return nil }
func (l *lines) Reply(msg []byte, _ int) { *l = append(*l, string(msg)) }

func TestLargeLogsAreLeftOut(t *testing.T) {
	var out lines
	p := mcp.NewPeer(&out, mcp.R20260728, nil, "info")
	p.Log(primitive.Log{Level: "info", Data: []byte(`"` + strings.Repeat("x", 100_000) + `"`)})
	p.Log(primitive.Log{Level: "info", Data: []byte(`"` + strings.Repeat("x", 10_000) + `"`)})
	if len(out) != 2 || !strings.Contains(out[0], `"data":"100002 bytes are left out"`) || !strings.Contains(out[1], "xxxx") {
		t.Errorf("said %.200q", out)
	}
}

func TestNothingIsSaidAfterTheEnd(t *testing.T) {
	var out lines
	p := mcp.NewPeer(&out, mcp.R20251125, []byte(`"t"`), "info")
	p.Progress(primitive.Progress{Progress: 1})
	p.Progress(primitive.Progress{Progress: 1})
	p.Close()
	p.Progress(primitive.Progress{Progress: 2})
	p.Log(primitive.Log{Level: "error", Data: []byte(`1`)})
	if len(out) != 1 || !strings.Contains(out[0], `"progressToken":"t","progress":1}`) {
		t.Errorf("said %q, want one progress", out)
	}
}
