package sdktest

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// Build builds the plugin whose main package is in the folder, and returns the path of the binary, which is gone when
// the test ends.
func Build(tb testing.TB, folder string) string {
	tb.Helper()
	binary := filepath.Join(tb.TempDir(), "plugin")
	build := exec.CommandContext(tb.Context(), "go", "build", "-o", binary, ".")
	build.Dir = folder
	if out, err := build.CombinedOutput(); err != nil {
		tb.Fatalf("building the plugin: %v\n%s", err, out)
	}
	return binary
}

// Exec starts a plugin's binary through go-plugin's own client, and ends it with the test.
func Exec(tb testing.TB, binary string, arguments ...string) pluginv1.PluginServiceClient {
	tb.Helper()
	client := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  plugin.HandshakeConfig{MagicCookieKey: pluginv1.MagicCookieKey, MagicCookieValue: pluginv1.MagicCookieValue},
		VersionedPlugins: map[int]plugin.PluginSet{pluginv1.ProtocolVersion: {pluginv1.PluginName: hostSide{}}},
		Cmd:              exec.CommandContext(tb.Context(), binary, arguments...),
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC}, AutoMTLS: true, Logger: hclog.NewNullLogger(),
		GRPCDialOptions: []grpc.DialOption{grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(pluginv1.MaxMessageFromPlugin), grpc.MaxCallSendMsgSize(pluginv1.MaxMessageToPlugin))},
	})
	tb.Cleanup(client.Kill)
	protocol, err := client.Client()
	if err != nil {
		tb.Fatalf("starting the plugin: %v", err)
	}
	raw, err := protocol.Dispense(pluginv1.PluginName)
	if err != nil {
		tb.Fatalf("starting the plugin: %v", err)
	}
	service, ok := raw.(pluginv1.PluginServiceClient)
	if !ok {
		tb.Fatalf("starting the plugin: got a %T", raw)
	}
	return service
}

// hostSide is the host's half for go-plugin.
type hostSide struct{ plugin.NetRPCUnsupportedPlugin }

var _ plugin.GRPCPlugin = hostSide{}

// GRPCServer is the plugin's side, which is not here.
func (hostSide) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error {
	return errors.New("a host is no plugin")
}

// GRPCClient returns the client of the contract.
func (hostSide) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, connection *grpc.ClientConn) (any, error) {
	return pluginv1.NewPluginServiceClient(connection), nil
}
