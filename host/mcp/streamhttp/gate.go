package streamhttp

import (
	"net/http"
	"net/netip"
	"strings"
)

// A gate decides by Origin and Host whether a request may come in at all: a
// web page must not reach a server that its own user runs
// (basic/transports/streamable-http, "Security Warning").
type gate struct {
	origins  map[string]bool
	hosts    map[string]bool // in lower case
	loopback bool
}

func newGate(o Options) gate {
	g := gate{origins: make(map[string]bool), hosts: make(map[string]bool), loopback: o.Loopback}
	for _, origin := range o.AllowedOrigins {
		g.origins[origin] = true
	}
	for _, host := range o.AllowedHosts {
		g.hosts[strings.ToLower(host)] = true
	}
	return g
}

// Guard serves with next only what Origin and Host let in, as endpoints do: for
// what is served beside them.
func Guard(next http.Handler, o Options) http.Handler {
	g := newGate(o)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if reason := g.refuses(r); reason != "" {
			http.Error(w, reason, http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refuses returns why r may not come in, empty if it may.
func (g *gate) refuses(r *http.Request) string {
	if !g.origin(r.Header["Origin"]) {
		return "this Origin is not allowed"
	}
	if !g.host(r.Host) {
		return "this Host is not allowed"
	}
	return ""
}

// origin reports whether a request with these Origin headers passes. "null" is
// an origin like any other; two of them are none.
func (g *gate) origin(values []string) bool {
	return len(values) == 0 || len(values) == 1 && g.origins[values[0]]
}

// host reports whether a request to host, which may have a port, passes.
func (g *gate) host(host string) bool {
	if !g.loopback && len(g.hosts) == 0 {
		return true
	}
	name, ok := hostname(host)
	if !ok {
		return false
	}
	if g.loopback && isLoopback(name) {
		return true
	}
	return len(g.hosts) > 0 && (g.hosts[strings.ToLower(host)] || g.hosts[strings.ToLower(withoutPort(host))])
}

// isLoopback reports whether name, without brackets, is this machine's own.
func isLoopback(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(name)
	return err == nil && a.Zone() == "" && a.Unmap().IsLoopback()
}

// hostname returns host without its port and brackets; it reports false if
// host has not the form of RFC 9112's Host.
func hostname(host string) (string, bool) {
	bare := withoutPort(host)
	if port := host[len(bare):]; port != "" && strings.Trim(port[1:], "0123456789") != "" {
		return "", false
	}
	if inner, ok := strings.CutPrefix(bare, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		return inner, ok && inner != ""
	}
	return bare, bare != "" && !strings.ContainsAny(bare, "[]:")
}

// withoutPort returns host up to the colon that starts its port.
func withoutPort(host string) string {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && i > strings.LastIndexByte(host, ']') {
		return host[:i]
	}
	return host
}
