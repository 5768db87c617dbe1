package host

import (
	"time"

	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/seal"
)

// maxSpent bounds how many single-use states are remembered as used.
const maxSpent = 100_000

// forEver is when a token expires that has no expiry.
var forEver = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// A sealer is the host's keys in the words of the protocol.
type sealer struct {
	keys  *seal.Sealer
	spent *seal.Once
}

var _ mcp.Sealer = sealer{}

func newSealer(keys *seal.Sealer) sealer { return sealer{keys, seal.NewOnce(maxSpent)} }

// Seal implements [mcp.Sealer].
func (s sealer) Seal(purpose string, binding, payload []byte, expires time.Time) string {
	if expires.IsZero() {
		expires = forEver
	}
	return s.keys.Seal(purpose, binding, payload, expires)
}

// Open implements [mcp.Sealer].
func (s sealer) Open(purpose string, binding []byte, token string) ([]byte, bool) {
	payload, err := s.keys.Open(purpose, binding, token, time.Now())
	return payload, err == nil // a client must not learn what is wrong with a token
}

// Spend implements [mcp.Sealer].
func (s sealer) Spend(token string, expires time.Time) bool {
	return s.spent.Use(token, expires, time.Now())
}
