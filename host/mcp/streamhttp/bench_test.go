package streamhttp_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/mcp/streamhttp"
)

// BenchmarkModernCall is what the transport itself costs, without net/http and a front.
func BenchmarkModernCall(b *testing.B) {
	h := streamhttp.NewHandler(b.Context(), replier{}, &mcp.Endpoint{Limits: mcp.DefaultLimits()}, streamhttp.Options{Loopback: true})
	defer h.Close(b.Context())
	body := []byte(call("m"))
	in := bytes.NewReader(body)
	r, _ := http.NewRequestWithContext(b.Context(), http.MethodPost, "http://127.0.0.1/mcp", io.NopCloser(in))
	r.Header = modern()
	r.ContentLength = int64(len(body))
	w := &discard{header: make(http.Header)}
	b.ReportAllocs()
	for b.Loop() {
		in.Reset(body)
		h.ServeHTTP(w, r)
	}
}

type replier struct{}

func (replier) Accept(x *mcp.Exchange, _ []byte) *mcp.Work {
	return &mcp.Work{Lineage: mcp.Modern, Run: func(context.Context) { x.Out.Reply([]byte(`{}`), 200) }}
}

type discard struct{ header http.Header }

func (d *discard) Header() http.Header       { return d.header }
func (*discard) Write(p []byte) (int, error) { return len(p), nil }
func (*discard) WriteHeader(int)             {}
