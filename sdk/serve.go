package sdk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// cleanupTime is what handlers get to end after the host said goodbye. The host waits 2 s before it kills.
const cleanupTime = time.Second

// parentInterval is how often a plugin looks whether its host is still there.
const parentInterval = time.Second

// Main is the whole main function of a plugin: it serves the host that started the process, and ends the process when
// the host says so or goes away. Started by hand, it prints what the binary is. It never returns.
//
// While it serves, standard output is standard error: print does no harm.
func (p *Plugin) Main() {
	os.Exit(p.run(os.Args, os.Getenv(pluginv1.MagicCookieKey) == pluginv1.MagicCookieValue)) //nolint:forbidigo // it stands in for main
}

func (p *Plugin) run(args []string, hosted bool) int {
	if !hosted && slices.Contains(args[min(1, len(args)):], "--debug") {
		if err := p.debug(os.Stdout); err != nil {
			p.log.Error("plugin ended", "error", err)
			return 1
		}
		return 0
	}
	if !hosted {
		return p.byHand(args, os.Stdout, os.Stderr)
	}
	stdout, err := captureStdout()
	if err != nil {
		p.log.Error("standard output was not captured", "error", err)
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM) //nolint:forbidigo // it stands in for main
	defer stop()
	// An interrupt of the terminal is for the host, which ends its plugins in order.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	if err := p.Serve(ctx, stdout); err != nil {
		p.log.Error("plugin ended", "error", err)
		return 1
	}
	return 0
}

// Serve serves the plugin as go-plugin's handshake wants it, in the folder and with the certificate that the
// environment names, and writes the handshake line to handshake. It returns when ctx ends, when the host asks for it, or
// when the parent process is gone, and after handlers had a second to end. Plugins call [Plugin.Main] instead.
func (p *Plugin) Serve(ctx context.Context, handshake io.Writer) error {
	identity, err := newIdentity(os.Getenv("PLUGIN_CLIENT_CERT"))
	if err != nil {
		return err
	}
	return p.serve(ctx, identity, func(address *plugin.ReattachConfig) error { return writeHandshake(handshake, address, identity) })
}

// serve serves until ctx ends, the host says so, or the parent process is gone. It calls ready once with its address.
func (p *Plugin) serve(ctx context.Context, identity *identity, ready func(*plugin.ReattachConfig) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watched := make(chan struct{})
	go func() { // ends with ctx
		defer close(watched)
		watchParent(ctx, cancel)
	}()
	defer func() { cancel(); <-watched }()

	reattach := make(chan *plugin.ReattachConfig, 1)
	closed := make(chan struct{})
	go plugin.Serve(p.serveConfig(ctx, identity, reattach, closed)) // ends with ctx, and closes closed
	var err error
	select {
	case address := <-reattach:
		err = ready(address)
	case <-closed:
		return errors.New("serving did not begin, the log says why")
	}
	if err != nil {
		cancel()
	}
	<-closed
	p.waitForHandlers()
	return err
}

// serveConfig is go-plugin's configuration. Its test mode is the one in which it leaves the process alone: outside of it
// os.Stdout and os.Stderr become pipes that block their writers unless the host drains them.
func (p *Plugin) serveConfig(ctx context.Context, id *identity, reattach chan<- *plugin.ReattachConfig, closed chan<- struct{}) *plugin.ServeConfig {
	return &plugin.ServeConfig{
		HandshakeConfig: plugin.HandshakeConfig{
			MagicCookieKey: pluginv1.MagicCookieKey, MagicCookieValue: pluginv1.MagicCookieValue,
		},
		VersionedPlugins: map[int]plugin.PluginSet{
			pluginv1.ProtocolVersion: {pluginv1.PluginName: &grpcPlugin{p: p}},
		},
		TLSProvider: id.tlsConfig,
		GRPCServer: func(options []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(options, p.serverOptions()...)...)
		},
		Logger: quietLogger(ctx, p),
		Test:   &plugin.ServeTestConfig{Context: ctx, ReattachConfigCh: reattach, CloseCh: closed},
	}
}

// quietLogger passes on what go-plugin has to say, less its word that a server which was stopped has stopped.
func quietLogger(ctx context.Context, p *Plugin) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{
		Name: p.name, Level: hclog.Warn, Output: os.Stderr, JSONFormat: true,
		Exclude: func(_ hclog.Level, message string, _ ...any) bool {
			return message == "grpc server" && ctx.Err() != nil
		},
	})
}

// writeHandshake writes the one line that the host waits for.
func writeHandshake(w io.Writer, address *plugin.ReattachConfig, id *identity) error {
	line := fmt.Sprintf("%d|%d|%s|%s|%s|%s", plugin.CoreProtocolVersion, address.ProtocolVersion,
		address.Addr.Network(), address.Addr.String(), address.Protocol, id.certificate())
	if os.Getenv("PLUGIN_MULTIPLEX_GRPC") != "" {
		line += "|true"
	}
	if _, err := io.WriteString(w, line+"\n"); err != nil {
		return fmt.Errorf("writing the handshake: %w", err)
	}
	return nil
}

// waitForHandlers gives handlers a moment to see that their context is over.
func (p *Plugin) waitForHandlers() {
	done := make(chan struct{})
	go func() { // ends when the last handler does; a stuck one takes it along to the end of the process
		p.running.Wait()
		close(done)
	}()
	timer := time.NewTimer(cleanupTime)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		p.log.Warn("handlers did not end in time", "delay", cleanupTime.String())
	}
}

// watchParent calls gone when the process gets another parent: its host has died without a word.
func watchParent(ctx context.Context, gone func()) {
	parent := os.Getppid()
	ticker := time.NewTicker(parentInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if os.Getppid() != parent {
				gone()
				return
			}
		}
	}
}

// grpcPlugin makes the service known to go-plugin.
type grpcPlugin struct {
	plugin.NetRPCUnsupportedPlugin
	p *Plugin
}

var _ plugin.GRPCPlugin = (*grpcPlugin)(nil)

// GRPCServer registers the service.
func (g *grpcPlugin) GRPCServer(_ *plugin.GRPCBroker, server *grpc.Server) error {
	g.p.RegisterService(server)
	return nil
}

// GRPCClient is the host's side, which is not here.
func (g *grpcPlugin) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("the SDK is no host")
}

// RegisterService registers the plugin's service on a gRPC server, for tests that have one of their own.
func (p *Plugin) RegisterService(server grpc.ServiceRegistrar) {
	pluginv1.RegisterPluginServiceServer(server, &service{p: p})
}

// serverOptions are the limits of the contract, and the last line of defence against a panic of our own.
func (p *Plugin) serverOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.MaxRecvMsgSize(pluginv1.MaxMessageToPlugin),
		grpc.MaxSendMsgSize(pluginv1.MaxMessageFromPlugin),
		grpc.ChainUnaryInterceptor(func(ctx context.Context, request any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (response any, err error) {
			inner := guard(p, info.FullMethod, func() error {
				response, err = next(ctx, request)
				return nil
			})
			if inner != nil {
				return nil, status.Error(codes.Internal, inner.Error())
			}
			return response, err
		}),
		grpc.ChainStreamInterceptor(func(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
			inner := guard(p, info.FullMethod, func() error {
				err = next(server, stream)
				return nil
			})
			if inner != nil {
				return status.Error(codes.Internal, inner.Error())
			}
			return err
		}),
	}
}
