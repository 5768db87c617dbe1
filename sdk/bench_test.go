package sdk_test

import (
	"testing"

	"google.golang.org/grpc"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
	"github.com/mcphost/mcphost/sdk"
)

// registrar keeps the service, so that a benchmark calls it without a network.
type registrar struct{ service pluginv1.PluginServiceServer }

func (r *registrar) RegisterService(_ *grpc.ServiceDesc, service any) {
	r.service = service.(pluginv1.PluginServiceServer)
}

func BenchmarkCallTool(b *testing.B) {
	p, _ := quiet()
	sdk.AddTool(p, sdk.Tool{Name: "weather"}, weather)
	var r registrar
	p.RegisterService(&r)
	request := &pluginv1.CallToolRequest{Name: "weather", ArgumentsJson: []byte(`{"city":"Oslo","days":2,"tags":["a","b"]}`)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.service.CallTool(b.Context(), request); err != nil {
			b.Fatal(err)
		}
	}
}
