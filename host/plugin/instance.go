package plugin

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

const (
	describeTimeout = 5 * time.Second
	servingTimeout  = 5 * time.Second
	shutdownTimeout = 2 * time.Second
	setTimeout      = 2 * time.Second // of SetSubscriptions
	protocolMinor   = 0
)

// An instance is one running process of a plugin, from its handshake to its
// end, and the connection to it.
type instance struct {
	proc   *process
	conn   *grpc.ClientConn
	client pluginv1.PluginServiceClient
	log    hclog.Logger

	// incident is the id under which the log has this process' end, made
	// beforehand so that the calls which the end interrupts need not wait.
	incident string
	// tag tells this process from all others of the plugin.
	tag string

	desc *Description
	caps Capabilities
	// rawCaps are caps as they came, for the cache.
	rawCaps *pluginv1.Capabilities
	slots   chan struct{} // one for each call that may run

	stopping atomic.Bool    // we are ending it
	wg       sync.WaitGroup // what ends with the process
}

// newInstance starts a process and returns when it has shaken hands, described
// itself and is healthy. It is not configured. ctx bounds the start alone.
func newInstance(ctx context.Context, o *Options, log hclog.Logger) (*instance, error) {
	proc, conn, err := launch(ctx, o, log)
	if err != nil {
		return nil, err
	}
	i := &instance{
		proc: proc, conn: conn, client: pluginv1.NewPluginServiceClient(conn),
		log:      log.With("pid", proc.pid),
		incident: strings.ToLower(rand.Text()[:12]),
		tag:      rand.Text()[:stateTagLen],
	}
	// A grandchild may hold the connection open: it ends with the process.
	i.wg.Go(func() { // ends when the process does
		<-proc.dead
		_ = conn.Close() // fails if it was closed already
	})
	stdioCtx := context.WithoutCancel(ctx)
	i.wg.Go(func() { drainStdio(stdioCtx, conn) }) // ends with the connection
	if err := i.greet(ctx, o); err != nil {
		return nil, i.abandon(ctx, err)
	}
	n := o.MaxCalls
	if limit := i.caps.MaxConcurrentCalls; limit > 0 {
		n = min(n, limit)
	}
	i.slots = make(chan struct{}, n)
	return i, nil
}

// abandon ends an instance whose start went wrong and completes the error.
func (i *instance) abandon(ctx context.Context, err error) error {
	if _, _, fault := i.proc.announced(); fault != nil {
		err = fault
	} else if closed(i.proc.dead) {
		err = fmt.Errorf("%w; the plugin ended (%s)", err, i.proc.status())
	}
	i.stop(ctx)
	return withTail(i.proc, err)
}

// greet makes sure that a plugin is at the other end and able to serve. It
// trusts our own two calls, never go-plugin's Ping.
func (i *instance) greet(ctx context.Context, o *Options) error {
	describeCtx, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	r, err := i.client.Describe(describeCtx, &pluginv1.DescribeRequest{HostVersion: o.HostVersion, ProtocolMinor: protocolMinor})
	switch {
	case status.Code(err) == codes.Unimplemented:
		return permanentf("plugin does not serve mcphost.plugin.v1.PluginService: %w", err)
	case err != nil:
		return fmt.Errorf("asking the plugin to describe itself: %w", err)
	}
	if i.desc, err = describe(r); err != nil {
		return err
	}
	i.caps, i.rawCaps = i.desc.Capabilities, r.GetCapabilities()
	return i.awaitServing(ctx)
}

// awaitServing returns when the plugin's health is SERVING. One that comes up
// slowly has servingTimeout.
func (i *instance) awaitServing(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, servingTimeout)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var last error
	for {
		err := i.check(ctx)
		if last != nil && ctx.Err() != nil {
			return last // what it said is a better reason than that the time is over
		}
		if last = err; err == nil || !errors.Is(err, errNotServing) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-i.proc.dead:
			return err
		case <-tick.C:
		}
	}
}

var errNotServing = errors.New("its health is not SERVING")

// check asks for the plugin's health.
func (i *instance) check(ctx context.Context) error {
	if i.paused() {
		return nil
	}
	r, err := grpc_health_v1.NewHealthClient(i.conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: pluginv1.PluginName})
	switch {
	case status.Code(err) == codes.Unimplemented:
		return permanentf("plugin does not serve grpc.health.v1.Health")
	case err != nil:
		return fmt.Errorf("asking for the plugin's health: %w", err)
	case r.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING:
		return fmt.Errorf("%w but %s", errNotServing, r.GetStatus())
	}
	return nil
}

// configure hands the plugin its configuration.
func (i *instance) configure(ctx context.Context, o *Options) error {
	c, err := o.Configure(ctx, i.desc)
	if err != nil {
		return permanentf("configuring the plugin: %w", err)
	}
	r, err := i.client.Configure(ctx, &pluginv1.ConfigureRequest{
		Handle: o.Handle, ConfigJson: c.JSON, Secrets: c.Secrets, DataDir: i.proc.dirs.Data,
	})
	if err != nil {
		return fmt.Errorf("configuring the plugin: %w", err)
	}
	list := diagnostics(r.GetDiagnostics())
	if err := configError(list); err != nil {
		return err
	}
	for _, d := range list {
		i.log.Warn("plugin complained about its configuration", "error", d.String())
	}
	if r.GetCapabilities() != nil {
		i.caps, i.rawCaps = capabilities(r.GetCapabilities()), r.GetCapabilities()
	}
	return nil
}

func (i *instance) exited() <-chan struct{} { return i.proc.dead }

// goneWait is long enough for a busy machine to reap a process, and well below
// the second within which a caller is to have its error.
const goneWait = 500 * time.Millisecond

// gone reports whether the process has ended. A connection that broke may be
// the first sign of it, so it waits a moment for the second.
func (i *instance) gone() bool {
	return waitClosed(i.proc.dead, goneWait)
}

// stop ends the process: it asks it to shut down, waits shutdownTimeout, kills
// it, and returns when nothing of it is left; after about three seconds it
// returns in any case. It may be called twice, and ctx may be done.
func (i *instance) stop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	i.stopping.Store(true)
	if !closed(i.proc.dead) && !i.proc.attached() {
		i.shutDown(ctx)
	}
	_ = i.conn.Close() // fails if the process' end closed it
	i.proc.destroy()
	if closed(i.proc.dead) {
		i.wg.Wait()
	}
}

// shutDown asks the process to end and waits until it has, or ctx is done.
func (i *instance) shutDown(ctx context.Context) {
	err := i.conn.Invoke(ctx, "/plugin.GRPCController/Shutdown", &emptypb.Empty{}, &emptypb.Empty{})
	if status.Code(err) == codes.Unimplemented {
		i.proc.terminate()
	}
	select {
	case <-i.proc.dead:
	case <-ctx.Done():
		i.log.Debug("plugin did not shut down in time and was killed")
	}
}

// closed reports whether c is closed.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// reportEnd logs how the process ended, under the id that its calls were given.
// It waits for its last words.
func (i *instance) reportEnd() {
	waitClosed(i.proc.done, 2*drainTimeout)
	i.log.Error("plugin exited", "error", i.proc.status(), "incident", i.incident, "stderr", strings.Join(i.proc.stderr.last(20), "\n"))
}

// drainStdio reads what plugins made with go-plugin print after the handshake,
// which comes by a stream of its own: unread, it would block them. It is the
// plugin's own print, and it has a log for what matters.
func drainStdio(ctx context.Context, conn *grpc.ClientConn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, "/plugin.GRPCStdio/StreamStdio")
	if err != nil || stream.SendMsg(&emptypb.Empty{}) != nil || stream.CloseSend() != nil {
		return // a plugin need not have it
	}
	for {
		if stream.RecvMsg(&emptypb.Empty{}) != nil {
			return
		}
	}
}
