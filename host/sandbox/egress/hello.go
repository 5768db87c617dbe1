package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"
)

// errSeen ends the pretended handshake once the client has said what it wants.
var errSeen = errors.New("client hello seen")

// maxHello bounds what is kept of a tunnel's first bytes: a record is at most
// 16 KiB, and a hello with post-quantum keys needs two at most.
const maxHello = 64 << 10

// readHello reads the TLS ClientHello that must open a tunnel to host and
// returns the bytes read, to be sent on unchanged. Anything but TLS, and TLS
// that asks for another name than the tunnel, is an error.
func readHello(ctx context.Context, conn net.Conn, host string) ([]byte, error) {
	rec := &recorder{Conn: conn}
	var name string
	err := tls.Server(rec, &tls.Config{
		MinVersion: tls.VersionTLS12, // only the hello is read; the tunnel's ends agree on what they like
		GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			name = h.ServerName
			return nil, errSeen
		},
	}).HandshakeContext(ctx)
	if !errors.Is(err, errSeen) {
		return nil, fmt.Errorf("only TLS may pass a tunnel: %w", err)
	}
	want := canonical(host)
	if _, err := netip.ParseAddr(want); err == nil {
		want = "" // an address is never sent as a server name
	}
	if canonical(name) != want {
		return nil, fmt.Errorf("the tunnel is to %q and TLS asks for %q", host, name)
	}
	return rec.read.Bytes(), nil
}

// recorder keeps what is read and lets nothing be written: the alert of the
// pretended handshake must not reach the client.
type recorder struct {
	net.Conn
	read bytes.Buffer
}

func (r *recorder) Read(p []byte) (int, error) {
	if r.read.Len() > maxHello {
		return 0, io.ErrShortBuffer
	}
	n, err := r.Conn.Read(p)
	r.read.Write(p[:n])
	return n, err
}

func (r *recorder) Write(p []byte) (int, error) { return len(p), nil }
func (r *recorder) Close() error                { return nil }

func (r *recorder) SetWriteDeadline(time.Time) error { return nil }
