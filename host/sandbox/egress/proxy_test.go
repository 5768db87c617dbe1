package egress_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcphost/mcphost/host/sandbox/egress"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// names is a resolver of the test's own.
type names map[string]string

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if ip, ok := n[host]; ok {
		return []netip.Addr{netip.MustParseAddr(ip)}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// start serves a proxy with the given hosts and returns its address.
func start(t *testing.T, resolver names, hosts ...string) string {
	t.Helper()
	allow, err := egress.ParseAllow(hosts)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := egress.New(t.Context(), l, allow, egress.Options{Resolver: resolver})
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

func client(t *testing.T, proxy string) *http.Client {
	t.Helper()
	transport := &http.Transport{
		Proxy:           http.ProxyURL(&url.URL{Scheme: "http", Host: proxy}),
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the test's own server
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 10 * time.Second}
}

func hello(t *testing.T, server func(http.Handler) *httptest.Server, handler http.HandlerFunc) (port string) {
	t.Helper()
	s := server(handler)
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func sayHello(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }

func get(t *testing.T, c *http.Client, address string) (int, string) {
	t.Helper()
	response, err := c.Get(address)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestOnlyNamedHostsAreReached(t *testing.T) {
	plain := hello(t, httptest.NewServer, sayHello)
	secure := hello(t, httptest.NewTLSServer, sayHello)
	c := client(t, start(t, names{"api.test": "127.0.0.1", "deep.wild.test": "127.0.0.1", "wild.test": "127.0.0.1", "rebound.test": "127.0.0.1", "mapped.test": "::ffff:127.0.0.1"},
		"api.test:"+plain, "api.test:"+secure, "*.wild.test:"+plain, "127.0.0.1:"+plain, "127.0.0.1:"+secure))
	private := client(t, start(t, names{"rebound.test": "127.0.0.1", "mapped.test": "::ffff:127.0.0.1", "link.test": "169.254.169.254"},
		"rebound.test:"+plain, "rebound.test:"+secure, "mapped.test:"+plain, "link.test:"+plain, "localhost:"+plain))
	tests := map[string]struct {
		client *http.Client
		url    string
		want   string // of the body or the error
	}{
		"named":                      {c, "http://api.test:" + plain, "hello"},
		"named in other letters":     {c, "http://API.Test.:" + plain, "hello"},
		"named, over TLS":            {c, "https://api.test:" + secure, "hello"},
		"below a domain":             {c, "http://deep.wild.test:" + plain, "hello"},
		"the domain itself":          {c, "http://wild.test:" + plain, "mcphost refuses"},
		"another name":               {c, "http://rebound.test:" + plain, "mcphost refuses"},
		"another name over TLS":      {c, "https://rebound.test:" + secure, "Forbidden"},
		"another port":               {c, "http://api.test:1", "mcphost refuses"},
		"another address":            {c, "http://127.0.0.2:" + plain, "mcphost refuses"},
		"another spelling":           {c, "http://[::ffff:127.0.0.1]:" + plain, "hello"},
		"a name that turned private": {private, "http://rebound.test:" + plain, "private addresses"},
		"the same over TLS":          {private, "https://rebound.test:" + secure, "Forbidden"},
		"the same as mapped IPv6":    {private, "http://mapped.test:" + plain, "private addresses"},
		"the cloud's metadata":       {private, "http://link.test:" + plain, "private addresses"},
		"an address literal":         {private, "http://127.0.0.1:" + plain, "mcphost refuses"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			status, body := get(t, test.client, test.url)
			if !strings.Contains(body, test.want) {
				t.Errorf("got %d %q, want %q", status, body, test.want)
			}
		})
	}
}

func TestARedirectIsCheckedLikeARequest(t *testing.T) {
	inside := hello(t, httptest.NewServer, sayHello)
	plain := hello(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.2:"+inside, http.StatusFound)
	})
	c := client(t, start(t, names{"api.test": "127.0.0.1"}, "api.test:"+plain, "127.0.0.1:"+plain))
	if status, body := get(t, c, "http://api.test:"+plain); status != http.StatusForbidden {
		t.Errorf("got %d %q, want 403", status, body)
	}
}

func TestTheNameThatWasCheckedIsTheOneThatIsAsked(t *testing.T) {
	plain := hello(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Host) })
	proxy := start(t, names{"api.test": "127.0.0.1"}, "api.test:"+plain, "127.0.0.1:"+plain)
	conn, err := net.Dial("tcp", proxy)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET http://api.test:%s/ HTTP/1.1\r\nHost: other.test\r\nConnection: close\r\n\r\n", plain)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || string(body) != "api.test:"+plain {
		t.Errorf("the server was asked for %q, %v", body, err)
	}
}

// tunnel asks for one and returns the connection once it stands.
func tunnel(t *testing.T, proxy, to string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", proxy)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", to, to)
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		t.Fatalf("CONNECT %s: %s", to, response.Status)
	}
	return conn, reader
}

func TestATunnelCarriesNothingButTLS(t *testing.T) {
	plain := hello(t, httptest.NewServer, sayHello)
	proxy := start(t, names{"api.test": "127.0.0.1"}, "api.test:"+plain, "127.0.0.1:"+plain)
	conn, reader := tunnel(t, proxy, "api.test:"+plain)
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: api.test\r\n\r\n")
	if text, err := io.ReadAll(reader); err == nil && len(text) > 0 {
		t.Errorf("plain HTTP through a tunnel was answered: %q", text)
	}
}

func TestATunnelToOneNameIsNotUsedForAnother(t *testing.T) {
	secure := hello(t, httptest.NewTLSServer, sayHello)
	proxy := start(t, names{"api.test": "127.0.0.1"}, "api.test:"+secure, "127.0.0.1:"+secure)
	for name, sni := range map[string]struct {
		server string
		works  bool
	}{
		"the same": {"api.test", true}, "another": {"other.test", false}, "none": {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			conn, _ := tunnel(t, proxy, "api.test:"+secure)
			err := tls.Client(conn, &tls.Config{ServerName: sni.server, InsecureSkipVerify: true}).Handshake() //nolint:gosec // the test's own server
			if (err == nil) != sni.works {
				t.Errorf("handshake for %q: %v, want success %v", sni.server, err, sni.works)
			}
		})
	}
}

func TestCloseEndsOpenTunnels(t *testing.T) {
	secure := hello(t, httptest.NewTLSServer, sayHello)
	allow, err := egress.ParseAllow([]string{"localhost:" + secure})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := egress.New(t.Context(), l, allow, egress.Options{Resolver: names{"localhost": "127.0.0.1"}})
	conn, _ := tunnel(t, l.Addr().String(), "localhost:"+secure)
	client := tls.Client(conn, &tls.Config{ServerName: "localhost", InsecureSkipVerify: true}) //nolint:gosec // the test's own server
	if err := client.Handshake(); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := client.Read(make([]byte, 1)); err == nil {
		t.Error("the tunnel is open after Close")
	}
	if err := p.Close(); err != nil {
		t.Errorf("the second Close: %v", err)
	}
}

func TestHostsThatCannotBeReadAreNamed(t *testing.T) {
	for _, bad := range []string{"example.com", "example.com:0", "example.com:http", ":443", "*:443", "a.*.com:443", "https://example.com:443", "user@example.com:443"} {
		if _, err := egress.ParseAllow([]string{"good.example.com:443", bad}); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("ParseAllow(%q) = %v, want an error that names it", bad, err)
		}
	}
}
