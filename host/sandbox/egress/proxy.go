package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	dialTimeout  = 10 * time.Second
	helloTimeout = 10 * time.Second
	maxTunnels   = 256
)

// Resolver turns a name into addresses; *net.Resolver does.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Options of a Proxy; the zero value works.
type Options struct {
	Resolver Resolver     // nil is the system's
	Log      hclog.Logger // nil is silence; each refusal is a warning
}

// Proxy serves one plugin. Make it with New, end it with Close.
type Proxy struct {
	allow    *Allow
	resolver Resolver
	log      hclog.Logger
	server   *http.Server
	forward  *httputil.ReverseProxy
	pool     *http.Transport
	ctx      context.Context //nolint:containedctx // the life of the proxy, which ends its tunnels
	cancel   context.CancelFunc
	tunnels  chan struct{} // one slot a tunnel; when none is left CONNECT is refused

	mu     sync.Mutex // guards closed, and that nothing joins wg once it is set
	closed bool
	wg     sync.WaitGroup
}

// New starts to serve l, which the proxy owns from now on. It serves until
// Close; ctx only gives values.
func New(ctx context.Context, l net.Listener, allow *Allow, o Options) *Proxy {
	p := &Proxy{allow: allow, resolver: o.Resolver, log: o.Log, tunnels: make(chan struct{}, maxTunnels)}
	if p.resolver == nil {
		p.resolver = net.DefaultResolver
	}
	if p.log == nil {
		p.log = hclog.NewNullLogger()
	}
	p.ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	p.pool = &http.Transport{
		Proxy:                 nil, // never another proxy: it would resolve names for us
		DialContext:           p.dial,
		DisableCompression:    true,
		MaxIdleConnsPerHost:   4,
		IdleConnTimeout:       30 * time.Second,
		ResponseHeaderTimeout: time.Minute,
	}
	p.forward = &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.Out.Header.Del("Proxy-Authorization") },
		Transport:     p.pool,
		FlushInterval: -1, // server-sent events must not wait
		ErrorHandler:  p.answerError,
	}
	p.server = &http.Server{
		Handler:           p,
		ReadHeaderTimeout: helloTimeout,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          p.log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}
	p.wg.Go(func() { _ = p.server.Serve(l) }) // ends in Close, which closes l
	return p
}

// Close ends the listener and every tunnel and returns when nothing runs any more.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.cancel()
	err := p.server.Close()
	p.wg.Wait()
	p.pool.CloseIdleConnections()
	return err
}

// enter makes Close wait for the caller's wg.Done, unless it is too late.
func (p *Proxy) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.wg.Add(1)
	}
	return !p.closed
}

// ServeHTTP answers one request of the plugin.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The server does not wait for its handlers, nor know of hijacked ones.
	if !p.enter() {
		return
	}
	defer p.wg.Done()
	if r.Method == http.MethodConnect {
		p.connect(w, r)
		return
	}
	if r.URL.Scheme != "http" || r.URL.Host == "" {
		http.Error(w, "this is a proxy: ask for an absolute http:// URI, or CONNECT", http.StatusBadRequest)
		return
	}
	port := r.URL.Port()
	if port == "" {
		port = "80"
	}
	if !p.allow.permits(r.URL.Hostname(), port) {
		p.refuse(w, &refused{r.URL.Hostname(), port, "it is not in the plugin's hosts"})
		return
	}
	p.forward.ServeHTTP(w, r)
}

// refused is a destination that the grant does not give.
type refused struct{ host, port, why string }

func (e *refused) Error() string {
	return fmt.Sprintf("mcphost refuses %s: %s", net.JoinHostPort(e.host, e.port), e.why)
}

func (p *Proxy) refuse(w http.ResponseWriter, err *refused) {
	p.log.Warn("egress refused", "error", err)
	http.Error(w, err.Error(), http.StatusForbidden)
}

func (p *Proxy) answerError(w http.ResponseWriter, _ *http.Request, err error) {
	if r, ok := errors.AsType[*refused](err); ok {
		p.refuse(w, r)
		return
	}
	http.Error(w, err.Error(), http.StatusBadGateway)
}

// dial connects to addr if the list permits it. The address dialled is the one
// that was checked: a second look-up could answer otherwise.
func (p *Proxy) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	if !p.allow.permits(host, port) {
		return nil, &refused{host, port, "it is not in the plugin's hosts"}
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	ips, err := p.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	problem := error(&refused{host, port, "it resolves to private addresses only; name the address in hosts to allow it"})
	var d net.Dialer
	for _, ip := range ips {
		if !p.allow.reaches(host, port, ip) {
			continue
		}
		conn, err := d.DialContext(ctx, network, net.JoinHostPort(ip.Unmap().String(), port))
		if err == nil {
			return conn, nil
		}
		problem = err
	}
	return nil, problem
}

func (p *Proxy) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip}, nil
	}
	return p.resolver.LookupNetIP(ctx, "ip", canonical(host))
}

func (p *Proxy) connect(w http.ResponseWriter, r *http.Request) {
	select {
	case p.tunnels <- struct{}{}:
		defer func() { <-p.tunnels }()
	default:
		http.Error(w, "too many tunnels are open", http.StatusServiceUnavailable)
		return
	}
	up, err := p.dial(r.Context(), "tcp", r.Host)
	if err != nil {
		p.answerError(w, r, err)
		return
	}
	defer shut(up)
	down, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer shut(down)
	defer p.onClose(func() { shut(down); shut(up) })()
	if buffered.Reader.Buffered() > 0 { // a client must wait for our answer
		return
	}
	host, _, _ := net.SplitHostPort(r.Host) // dial has read it already
	if err := p.tunnel(r.Context(), down, up, host); err != nil {
		p.log.Warn("egress refused", "error", err)
	}
}

// onClose calls f when the proxy closes, unless the returned function is called before.
func (p *Proxy) onClose(f func()) (stop func() bool) { return context.AfterFunc(p.ctx, f) }

// shut ends a tunnel's connection. Its ends have had their say.
func shut(c net.Conn) { _ = c.Close() }

// tunnel answers the CONNECT, sees that TLS to host follows, and copies until
// both ends are done.
func (p *Proxy) tunnel(ctx context.Context, down, up net.Conn, host string) error {
	if _, err := io.WriteString(down, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return nil //nolint:nilerr // the plugin went away; nothing was refused
	}
	if err := down.SetDeadline(time.Now().Add(helloTimeout)); err != nil {
		return err
	}
	hello, err := readHello(ctx, down, host)
	if err != nil {
		return err
	}
	if err := down.SetDeadline(time.Time{}); err != nil {
		return err
	}
	if _, err := up.Write(hello); err != nil {
		return fmt.Errorf("sending to %q: %w", host, err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { copyHalf(up, down) })
	wg.Go(func() { copyHalf(down, up) })
	wg.Wait()
	return nil
}

// copyHalf copies one direction and passes its end on. An error is an end, too:
// the other direction may still have something to say.
func copyHalf(dst, src net.Conn) {
	if _, err := io.Copy(dst, src); err != nil {
		_ = dst.Close()
	}
	if half, ok := dst.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}
