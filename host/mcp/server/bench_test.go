package server_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/mcp/legacy"
	"github.com/mcphost/mcphost/host/mcp/modern"
	"github.com/mcphost/mcphost/host/mcp/server"
	"github.com/mcphost/mcphost/host/registry"
)

// discard is the way back to nobody.
type discard struct{ n int }

func (*discard) Notify([]byte) error       { return nil }
func (d *discard) Reply(msg []byte, _ int) { d.n += len(msg) }

// BenchmarkCall measures what the host adds to a call: envelope,
// classification, dispatch, schema check and encoding, without a transport and
// without a plugin's process.
func BenchmarkCall(b *testing.B) {
	reg := registry.New(hclog.NewNullLogger(), nil)
	reg.SetOffer("fake", newOffer(&fake{}))
	ep := &mcp.Endpoint{
		Name: "bench", Transport: "stdio", Info: mcp.Implementation{Name: "mcphost", Version: "0"},
		Catalog: reg.NewEndpoint(registry.Options{Name: "bench", Plugins: []registry.Member{{Handle: "fake"}}}),
		Limits:  mcp.DefaultLimits(), Sealer: &plainSealer{}, Log: hclog.NewNullLogger(),
	}
	front := server.New(legacy.New(), modern.New(), ep.Limits, hclog.NewNullLogger())
	args := `{"text":"` + strings.Repeat("x", 1000) + `"}`
	old := &mcp.Conn{}
	if w := front.Accept(&mcp.Exchange{Endpoint: ep, Conn: old, Out: &discard{}}, []byte(initialize("2025-11-25", `{}`))); w != nil {
		b.Fatal("initialize is not served at once")
	}
	tests := map[string]struct {
		conn *mcp.Conn
		line string
	}{
		"modern/call":  {&mcp.Conn{}, tool("1", "echo", args)},
		"legacy/call":  {old, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":` + args + `}}`},
		"modern/list":  {&mcp.Conn{}, call("1", "tools/list", "", `{}`)},
		"modern/error": {&mcp.Conn{}, tool("1", "nope", args)},
	}
	for name, test := range tests {
		b.Run(name, func(b *testing.B) {
			line, out := []byte(test.line), &discard{}
			b.ReportAllocs()
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				if w := front.Accept(&mcp.Exchange{Endpoint: ep, Conn: test.conn, Out: out}, line); w != nil {
					w.Run(b.Context())
				}
			}
			if out.n == 0 {
				b.Fatal("nothing was answered")
			}
		})
	}
	if s := old.Session(); s != nil {
		s.Close()
	}
}
