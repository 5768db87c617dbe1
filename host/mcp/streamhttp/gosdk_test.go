package streamhttp_test

import (
	"context"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcphost/mcphost/host/mcp/streamhttp"
)

// TestGoSDK drives the handler with the client of another house, in each
// revision: a quick call, one with progress, one that is asked back, and one
// whose stream is closed while it is at work.
func TestGoSDK(t *testing.T) {
	h, p := newReal(t, streamhttp.Options{LegacySSE: true, PrimeAfter: time.Millisecond, PollAfter: time.Millisecond, Retry: time.Millisecond})
	p.registry.SetOffer("p", p.offer("ask", "echo", "slow", "talk"))
	tests := map[string]struct {
		revision  string
		transport sdk.Transport
	}{
		"2026-07-28": {"2026-07-28", &sdk.StreamableClientTransport{Endpoint: h.url, HTTPClient: h.client}},
		"2025-11-25": {"2025-11-25", &sdk.StreamableClientTransport{Endpoint: h.url, HTTPClient: h.client}},
		"2025-06-18": {"2025-06-18", &sdk.StreamableClientTransport{Endpoint: h.url, HTTPClient: h.client}},
		"2025-03-26": {"2025-03-26", &sdk.StreamableClientTransport{Endpoint: h.url, HTTPClient: h.client}},
		"2024-11-05": {"2024-11-05", &sdk.SSEClientTransport{Endpoint: h.url + "/sse", HTTPClient: h.client}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			progress, changed := make(chan float64, 10), make(chan struct{}, 10)
			c := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, &sdk.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { progress <- r.Params.Progress },
				ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) { changed <- struct{}{} },
				ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
					return &sdk.ElicitResult{Action: "accept"}, nil
				},
			})
			s, err := c.Connect(t.Context(), test.transport, &sdk.ClientSessionOptions{ProtocolVersion: test.revision})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if got := s.InitializeResult().ProtocolVersion; got != test.revision {
				t.Fatalf("negotiated %s", got)
			}
			for _, tool := range []string{"echo", "talk", "slow"} {
				params := &sdk.CallToolParams{Name: tool, Arguments: map[string]any{}}
				params.SetProgressToken("p-" + tool)
				res, err := s.CallTool(t.Context(), params)
				if err != nil || res.IsError || res.Content[0].(*sdk.TextContent).Text != "from "+tool {
					t.Fatalf("%s: %+v, %v", tool, res, err)
				}
			}
			within(t, "progress", progress)
			if test.revision >= "2025-06-18" && test.revision < "2026" { // elicitation is of these; modern asks otherwise
				res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "ask", Arguments: map[string]any{}})
				if err != nil || res.IsError {
					t.Errorf("ask: %+v, %v", res, err)
				}
			}
			if test.revision < "2026" {
				p.registry.SetOffer("p", p.offer("ask", "echo", "slow", "talk", "for"+name))
				within(t, "change of the list", changed)
			}
		})
	}
}
