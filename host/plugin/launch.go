package plugin

import (
	"context"
	"errors"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// launch starts the command and returns when it has shaken hands, with a
// connection that nobody has used yet. ctx bounds the start alone.
func launch(ctx context.Context, o *Options, log hclog.Logger) (*process, *grpc.ClientConn, error) {
	data, err := o.dataDir(ctx)
	if err != nil {
		return nil, nil, err
	}
	if o.Reattach != nil {
		return attach(ctx, o, data, log)
	}
	if len(o.Command) == 0 {
		return nil, nil, permanentf("the command is empty")
	}
	path, err := resolve(o.Command[0], o.Dir)
	if err != nil {
		return nil, nil, err
	}
	dirs, err := makeDirs(o.RunDir, data)
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(path, o.Command[1:]...) //nolint:noctx // it outlives ctx; see process
	p := newProcess(cmd, dirs, log, o.MTLS)
	conn, err := p.handshake(ctx, o)
	if err != nil {
		err = explainStart(ctx, p, path, err)
		p.destroy()
		return nil, nil, err
	}
	return p, conn, nil
}

// handshake lets go-plugin start p and read its handshake line. The connection
// is our own: go-plugin's would accept 2 GiB, open a broker that plugins must
// not have, and leak goroutines where it fails.
func (p *process) handshake(ctx context.Context, o *Options) (*grpc.ClientConn, error) {
	var id *identity
	var err error
	if o.MTLS {
		if id, err = newIdentity(time.Now()); err != nil {
			return nil, err
		}
	}
	client := goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig: goplugin.HandshakeConfig{
			MagicCookieKey:   pluginv1.MagicCookieKey,
			MagicCookieValue: pluginv1.MagicCookieValue,
		},
		VersionedPlugins: map[int]goplugin.PluginSet{pluginv1.ProtocolVersion: {}},
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		RunnerFunc: func(_ hclog.Logger, spec *exec.Cmd, dir string) (runner.Runner, error) {
			return p, p.prepare(o, spec.Env, dir, id)
		},
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: p.dirs.Private},
		StartTimeout:     o.StartTimeout + time.Second, // that of ctx comes first
		SkipHostEnv:      true,
		Logger:           hclog.NewNullLogger(),
		Stderr:           io.Discard,
	})
	stop := context.AfterFunc(ctx, p.kill)
	_, err = client.Start()
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	socket, cert, _ := p.announced()
	transport := insecure.NewCredentials()
	if id != nil {
		transport = credentials.NewTLS(id.config(cert))
	}
	return connect(p, socket, transport)
}

// prepare completes the command once the folder of the socket exists.
func (p *process) prepare(o *Options, handshake []string, socketDir string, id *identity) error {
	socketDir, err := filepath.EvalSymlinks(socketDir)
	if err != nil {
		return err
	}
	p.dirs.Socket = socketDir
	if id != nil {
		handshake = append(handshake, "PLUGIN_CLIENT_CERT="+id.caPEM)
	}
	p.cmd.Env = environment(p.dirs.Dirs, o.Env, handshake)
	if p.cmd.Dir = o.Dir; p.cmd.Dir == "" {
		p.cmd.Dir = filepath.Join(p.dirs.Work, homeFolder)
	}
	p.cmd.SysProcAttr = ownGroup()
	confineDeath(p.cmd.SysProcAttr)
	p.path = p.cmd.Path
	launched, err := o.Launcher.Prepare(p.cmd, p.dirs.Dirs)
	if err != nil {
		return permanentf("confining the plugin: %w", err)
	}
	p.launched = launched
	return nil
}

const (
	streamWindow = 1 << 20
	connWindow   = 16 << 20
	maxHeaders   = 64 << 10 // bytes of headers and trailers from a plugin
)

// connect makes the connection to p, lazily.
func connect(p *process, socket string, transport credentials.TransportCredentials) (*grpc.ClientConn, error) {
	return grpc.NewClient("passthrough:///plugin",
		grpc.WithAuthority("localhost"),
		grpc.WithTransportCredentials(transport),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return p.dial(ctx, socket)
		}),
		// Here and not at each call: gRPC would copy the list.
		grpc.WithDefaultCallOptions(
			grpc.StaticMethod(),
			grpc.MaxCallRecvMsgSize(pluginv1.MaxMessageFromPlugin),
			grpc.MaxCallSendMsgSize(pluginv1.MaxMessageToPlugin),
		),
		grpc.WithMaxHeaderListSize(maxHeaders),
		grpc.WithStaticStreamWindowSize(streamWindow),
		grpc.WithStaticConnWindowSize(connWindow),
		grpc.WithIdleTimeout(0), // the process is the connection
		grpc.WithDisableServiceConfig(),
		grpc.WithDisableRetry(), // whether to try again is ours to say
		grpc.WithNoProxy(),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 2, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: 5 * time.Second,
		}),
	)
}

func (p *process) dial(ctx context.Context, socket string) (net.Conn, error) {
	select {
	case <-p.dead:
		return nil, errors.New("the plugin has ended")
	default:
	}
	conn, err := dialSocket(ctx, socket)
	if err != nil {
		return nil, err
	}
	if err := checkPeer(conn, p.pid); err != nil {
		p.blame(err)
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}
