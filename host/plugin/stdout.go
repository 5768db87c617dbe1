package plugin

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

const (
	maxNoise      = 64 << 10 // bytes on stdout before the handshake line
	maxNoiseLines = 5        // lines of it that an error quotes
)

// A stdoutPump finds the handshake line on a plugin's stdout and drains the
// rest for ever: a plugin that prints must never block on it.
type stdoutPump struct {
	log   hclog.Logger
	limit *logLimit
	mtls  bool
	// shake is called once, with the line that go-plugin may see and the
	// certificate in it, or with why there is none. Not called if stdout ends.
	shake func(line string, cert []byte, err error)

	shaken bool // belongs to run

	mu    sync.Mutex // guards noise
	noise []string   // the first lines before the handshake
}

// run returns when r ends.
func (s *stdoutPump) run(r io.Reader) {
	eachLine(&countingReader{r: r, limit: maxNoise, over: s.flooded}, func(line []byte, whole bool) bool {
		switch {
		case !s.shaken:
			s.before(line, whole)
		case s.log.IsDebug() && len(bytes.TrimSpace(line)) > 0:
			if ok, _ := s.limit.allow(time.Now()); ok {
				s.log.Debug("plugin printed", "line", clean(strings.ToValidUTF8(string(line), "\uFFFD"), maxLogValue, false))
			}
		}
		return true
	})
}

// before handles one line ahead of the handshake.
func (s *stdoutPump) before(line []byte, whole bool) {
	text := string(bytes.TrimSpace(line))
	if whole && looksLikeHandshake(text) {
		s.shaken = true
		s.shake(checkHandshake(text, s.mtls))
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.noise) < maxNoiseLines && text != "" {
		s.noise = append(s.noise, clean(strings.ToValidUTF8(text, "\uFFFD"), 200, false))
	}
}

// flooded ends the search; what follows is drained all the same.
func (s *stdoutPump) flooded() {
	if !s.shaken {
		s.shaken = true
		s.shake("", nil, fmt.Errorf("plugin printed more than %d KiB on stdout before its handshake line: "+
			"stdout belongs to the handshake, print to stderr instead", maxNoise>>10))
	}
}

// printed returns the first lines that were no handshake.
func (s *stdoutPump) printed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.noise...)
}

// A countingReader calls over once when more than limit bytes were read.
type countingReader struct {
	r     io.Reader
	n     int64
	limit int64
	over  func()
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	before := c.n
	if c.n += int64(n); before <= c.limit && c.n > c.limit {
		c.over()
	}
	return n, err
}

// looksLikeHandshake tells a handshake line, right or wrong, from noise.
func looksLikeHandshake(line string) bool {
	f := strings.Split(line, "|")
	return len(f) >= 4 && isNumber(f[0]) && isNumber(f[1])
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 16)
	return err == nil
}

// checkHandshake checks a line CORE|APP|NETWORK|ADDR|PROTOCOL|CERT|MUX and
// returns what of it go-plugin may see, which is never the certificate: its
// own handling of that crashes, and the connection is ours. The path is
// checked where it is used.
func checkHandshake(line string, mtls bool) (out string, cert []byte, err error) {
	f := strings.Split(line, "|")
	shown := clean(line, 200, false)
	switch {
	case f[0] != "1":
		return "", nil, permanentf("plugin speaks version %s of go-plugin's handshake, and mcphost version 1: %q", f[0], shown)
	case f[1] != strconv.Itoa(pluginv1.ProtocolVersion):
		return "", nil, permanentf("plugin speaks version %s of the plugin protocol, and this mcphost version %d: "+
			"build the plugin with an SDK of that version", f[1], pluginv1.ProtocolVersion)
	case f[2] != "unix":
		return "", nil, permanentf("plugin announced %q: only a unix socket in PLUGIN_UNIX_SOCKET_DIR is accepted", shown)
	case len(f) < 5 || f[4] != "grpc":
		return "", nil, permanentf("plugin announced %q: the fifth field must be \"grpc\"", shown)
	case len(f) > 7:
		return "", nil, permanentf("plugin announced %q: a handshake line has at most seven fields", shown)
	}
	if mtls {
		if len(f) < 6 || f[5] == "" {
			return "", nil, permanentf("mtls is demanded and the plugin announced no certificate: " +
				"it must answer PLUGIN_CLIENT_CERT with one in the sixth field of its handshake line")
		}
		if cert, err = base64.RawStdEncoding.DecodeString(f[5]); err != nil {
			return "", nil, permanentf("plugin announced a certificate that is not base64 without padding: %v", err)
		}
	}
	return strings.Join(f[:5], "|"), cert, nil
}
