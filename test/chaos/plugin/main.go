// Plugin-chaos answers honestly until a caller asks it to misbehave. It serves
// the SDK's service from a server of its own, so that it can do at the wire
// what the SDK would not.
package main

import (
	"context"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/types/known/emptypb"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// asGrandchild as the first argument makes this program a process that does
// nothing, for ever.
const asGrandchild = "grandchild"

func main() {
	if len(os.Args) > 1 && os.Args[1] == asGrandchild {
		select {}
	}
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		end(1)
	}
}

// end ends the process, as the plugin's own main or as a fault of it.
func end(code int) { os.Exit(code) }

func serve() error {
	path := filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), "p.sock")
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "unix", path)
	if err != nil {
		return err
	}
	p := &patient{}
	s := grpc.NewServer(grpc.MaxRecvMsgSize(pluginv1.MaxMessageToPlugin), grpc.MaxSendMsgSize(math.MaxInt32),
		grpc.UnaryInterceptor(p.intercept))
	p.tools().RegisterService(s)
	grpc_health_v1.RegisterHealthServer(s, healthy{})
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: "plugin.GRPCController", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Shutdown", Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			if p.stubborn.Load() {
				select {}
			}
			go s.Stop()
			return &emptypb.Empty{}, decode(&emptypb.Empty{})
		}}},
	}, p)
	if _, err := fmt.Fprintf(os.Stdout, "1|%d|unix|%s|grpc\n", pluginv1.ProtocolVersion, path); err != nil {
		return err
	}
	return s.Serve(&listener{Listener: l, wires: &p.wires})
}

// healthy says so; what it says in truth is for the interceptor.
type healthy struct {
	grpc_health_v1.UnimplementedHealthServer
}

// Check implements the health service.
func (healthy) Check(context.Context, *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_SERVING}, nil
}
