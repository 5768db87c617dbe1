package host

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/mcphost/mcphost/host/config"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/mcp/streamhttp"
)

// drain is how long calls in work may take to end once serving stops.
const drain = 5 * time.Second

// A web is the listener that all web endpoints share.
type web struct {
	server *streamhttp.Server
	front  mcp.Front
	addr   net.Addr
}

// ServeHTTP serves all web blocks on one listener, until ctx is done. Listen
// overrides the file's address unless it is empty. Ready is called once with
// the URL of each endpoint, when requests are accepted.
func (h *Host) ServeHTTP(ctx context.Context, listen string, ready func(urls []string)) error {
	if listen == "" {
		listen = h.boot.HTTP.Listen
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	w := &web{server: streamhttp.NewServer(h.log.Named("http")), front: h.newFront(limits(h.boot.Limits)), addr: ln.Addr()}
	urls := h.mountAll(ctx, w)
	if path := h.boot.HTTP.Metrics; path != "" {
		w.server.MountPlain(path, streamhttp.Guard(h.metrics.Handler(), h.httpOptions(w.addr)))
	}
	served := make(chan error, 1)
	go func() { served <- w.server.Serve(ln) }() // ends with Shutdown
	ready(urls)
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	if err := w.server.Shutdown(end); err != nil {
		h.log.Warn("cut what did not end in time", "delay", drain, "error", err)
	}
	return <-served
}

// mountAll mounts the endpoints of all web blocks and returns their URLs.
// Reloads mount and unmount those that come and go from then on.
func (h *Host) mountAll(ctx context.Context, w *web) (urls []string) {
	h.reloading.Lock()
	defer h.reloading.Unlock()
	h.mu.Lock()
	h.web = w
	cfg := h.cfg
	h.mu.Unlock()
	for _, block := range cfg.Webs {
		urls = append(urls, h.mount(ctx, w, cfg, block.Path))
	}
	return urls
}

// mount serves the web block at path and returns its URL.
func (h *Host) mount(ctx context.Context, w *web, cfg *config.Config, path string) string {
	e := &served{web: path}
	ctx, e.cancel = h.lasting(ctx)
	handler := streamhttp.NewHandler(ctx, w.front, h.serve(cfg, e), h.httpOptions(w.addr))
	w.server.Mount(path, handler) // after Shutdown nobody finds it, and it runs nothing
	return "http://" + reachable(w.addr) + path
}

// unmount ends the web endpoint e, behind the scenes.
func (h *Host) unmount(ctx context.Context, w *web, e *served) {
	handler := w.server.Unmount(e.web)
	if handler == nil {
		return
	}
	h.bg.Go(func() { // ends after drain, or by Close
		defer e.cancel()
		ctx, cancel := h.lasting(ctx)
		defer cancel()
		ctx, cancel = context.WithTimeout(ctx, drain)
		defer cancel()
		if err := handler.Close(ctx); err != nil {
			h.log.Warn("cut what did not end in time", "endpoint", e.web, "delay", drain, "error", err)
		}
	})
}

func (h *Host) httpOptions(addr net.Addr) streamhttp.Options {
	c := h.boot.HTTP
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
