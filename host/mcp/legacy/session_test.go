package legacy_test

import (
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/mcp/legacy"
	"github.com/mcphost/mcphost/host/primitive"
	"github.com/mcphost/mcphost/host/registry"
)

// A client may end its session while its notifications/initialized is under way.
func TestASessionThatHasEndedSubscribesToNothing(t *testing.T) {
	var watched []string
	reg := registry.New(hclog.NewNullLogger(), func(_ string, uris []string) { watched = append(watched[:0], uris...) })
	reg.SetOffer("p", &registry.Offer{ResourceUpdates: true, Resources: []*primitive.Primitive{
		{Kind: primitive.KindResource, Key: "t://a", Own: "t://a", Definition: []byte(`{}`)},
	}})
	ep := &mcp.Endpoint{Catalog: reg.NewEndpoint(registry.Options{Name: "e", Plugins: []registry.Member{{Handle: "p"}}}), Limits: mcp.DefaultLimits()}
	session := mcp.NewSession(t.Context(), mcp.R20251125)
	session.Watch("t://a", 1)
	conn := &mcp.Conn{}
	conn.Open(session)
	session.Close()
	m, fault := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	if fault != nil {
		t.Fatal(fault)
	}
	legacy.New().Handle(t.Context(), &mcp.Exchange{Endpoint: ep, Conn: conn, Message: &m, Caller: &primitive.Caller{}})
	if len(watched) != 0 {
		t.Errorf("a session that has ended still watches %q", watched)
	}
}
