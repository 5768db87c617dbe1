package host

import (
	"context"
	"fmt"
	"io"
	"net"
	"os/user"
	"time"

	"github.com/mcphost/mcphost/host/config"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/mcp/stdio"
	"github.com/mcphost/mcphost/host/mcp/streamhttp"
	"github.com/mcphost/mcphost/host/primitive"
	"github.com/mcphost/mcphost/host/registry"
)

// limits returns the limits of the configuration in the words of the protocol.
func limits(c config.Limits) mcp.Limits {
	l := mcp.DefaultLimits()
	l.MaxRequestSize = c.MaxRequestSize
	l.MaxConcurrentRequests = c.MaxConcurrentRequests
	l.MaxResponseSize = c.MaxResponseSize
	l.MaxMetadataSize = c.MaxMetadataSize
	l.DefaultPageSize = c.DefaultPageSize
	l.MaxSubscriptions = c.MaxSubscriptions
	// Each watched resource has a place of its own among the changes that wait.
	l.MaxResourceSubscription = min(c.MaxResourceSubscriptions, c.SubscriptionBufferSize)
	l.SubscriptionKeepalive = c.SubscriptionKeepalive
	return l
}

// endpoint returns the endpoint of a local or web block.
func (h *Host) endpoint(name, transport string, catalog mcp.Catalog) *mcp.Endpoint {
	s := h.cfg.Server
	version := s.Version
	if version == "" {
		version = Version
	}
	return &mcp.Endpoint{
		Name: name, Transport: transport,
		Info:    mcp.Implementation{Name: s.Name, Version: version, Title: s.Title, WebsiteURL: s.WebsiteURL},
		Catalog: catalog, Limits: limits(h.cfg.Limits), Sealer: h.sealer,
		Log: h.log.With("endpoint", name),
	}
}

// members returns the plugins of an endpoint with their shapes.
func (h *Host) members(handles []string) (list []registry.Member) {
	for _, handle := range handles {
		if p, ok := h.cfg.Plugin(handle); ok {
			list = append(list, registry.Member{Handle: handle, Shapes: registry.Shapes{Tools: &p.Tools, Prompts: &p.Prompts, Resources: &p.Resources}})
		}
	}
	return list
}

// Local returns the endpoint of a local block.
func (h *Host) Local(l *config.Local) *mcp.Endpoint {
	return h.endpoint(l.Handle, "stdio", h.registry.NewEndpoint(registry.Options{
		Name: l.Handle, Plugins: h.members(l.Plugins), OnConflict: l.OnConflict,
		Shapes:       registry.Shapes{Tools: &l.Tools, Prompts: &l.Prompts, Resources: &l.Resources},
		Instructions: h.cfg.Server.Instructions,
	}))
}

func (h *Host) web(w *config.Web) *mcp.Endpoint {
	return h.endpoint(w.Path, "http", h.registry.NewEndpoint(registry.Options{
		Name: w.Path, Plugins: h.members(w.Plugins), OnConflict: w.OnConflict,
		Shapes:       registry.Shapes{Tools: &w.Tools, Prompts: &w.Prompts, Resources: &w.Resources},
		Instructions: h.cfg.Server.Instructions,
	}))
}

// LocalUser returns the principal of a stdio endpoint: whoever runs this process.
func LocalUser(scopes []string) primitive.Principal {
	p := primitive.Principal{Subject: "local", Scopes: scopes}
	if u, err := user.Current(); err == nil {
		p.Subject = u.Username
	}
	return p
}

// ServeStdio serves one client of l on r and w until r ends or ctx is done.
func (h *Host) ServeStdio(ctx context.Context, l *config.Local, r io.Reader, w io.Writer) error {
	ep := h.Local(l)
	return stdio.Serve(ctx, r, w, h.newFront(ep.Limits), ep, LocalUser(l.Scopes))
}

// drain is how long calls in work may take to end once serving stops.
const drain = 5 * time.Second

// ServeHTTP serves all web blocks on one listener, until ctx is done. Listen
// overrides the file's address unless it is empty. Ready is called once with
// the URL of each endpoint, when requests are accepted.
func (h *Host) ServeHTTP(ctx context.Context, listen string, ready func(urls []string)) error {
	if listen == "" {
		listen = h.cfg.HTTP.Listen
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	front := h.newFront(limits(h.cfg.Limits))
	srv := streamhttp.NewServer(h.log.Named("http"))
	var urls []string
	for _, w := range h.cfg.Webs {
		srv.Mount(w.Path, streamhttp.NewHandler(context.WithoutCancel(ctx), front, h.web(w), h.httpOptions(ln.Addr())))
		urls = append(urls, "http://"+reachable(ln.Addr())+w.Path)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }() // ends with Shutdown
	ready(urls)
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	if err := srv.Shutdown(end); err != nil {
		h.log.Warn("cut what did not end in time", "delay", drain, "error", err)
	}
	return <-served
}

func (h *Host) httpOptions(addr net.Addr) streamhttp.Options {
	c := h.cfg.HTTP
	tcp, ok := addr.(*net.TCPAddr)
	return streamhttp.Options{
		AllowedOrigins:     c.AllowedOrigins,
		AllowedHosts:       c.AllowedHosts,
		Loopback:           ok && tcp.IP.IsLoopback(),
		SessionIdleTimeout: c.SessionIdleTimeout,
		MaxSessions:        c.MaxSessions,
		LegacySSE:          c.LegacySSE,
		PollAfter:          c.PollAfter,
		Log:                h.log.Named("http"),
	}
}

// reachable returns addr as a client on this machine may write it.
func reachable(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return addr.String()
	}
	return net.JoinHostPort("127.0.0.1", fmt.Sprint(tcp.Port))
}
