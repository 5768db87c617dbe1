package config

import "time"

// A Config is everything that the operator wrote, with the defaults filled in.
// It does not change after [Load] and may be read by many at once. Paths in it
// are absolute.
type Config struct {
	Server  Server
	Plugins []*Plugin // in file order; those of local blocks with an own command included
	Locals  []*Local  // in file order
	Webs    []*Web    // in file order
	HTTP    HTTP
	Limits  Limits

	// SealKeys are 32 bytes each: the first seals, all open. Empty: the host
	// makes one at start. Never log them.
	SealKeys [][]byte `json:"-"`

	// Files are the files that were read, in reading order, as the caller spelled them.
	Files []string

	sources *sources
}

// A Server is the server block: what the host says about itself to clients.
type Server struct {
	Place
	Name         string // default "mcphost"
	Version      string // empty: the host's own
	Title        string
	Instructions string // for the model
	WebsiteURL   string
}

// An HTTP is the http block: the one listener that all web endpoints share.
type HTTP struct {
	Place
	Listen             string        // host:port; default "127.0.0.1:8808"; port 0 is any free one
	AllowedOrigins     []string      // scheme://host[:port], compared exactly; empty refuses every Origin
	AllowedHosts       []string      // Host headers allowed beside the loopback names, lower case
	LegacySSE          bool          // serve the 2024-11-05 HTTP+SSE pair too; default false
	SessionIdleTimeout time.Duration // of a legacy session; default 30m, always > 0
	MaxSessions        int           // legacy sessions open at once; default 1024
	Metrics            string        // path of metrics for Prometheus, such as "/metrics"; empty (default): none
	PollAfter          time.Duration // close a legacy stream that can be resumed after this long; 0 (default): never
}

// Plugin returns the plugin with the given handle.
func (c *Config) Plugin(handle string) (*Plugin, bool) {
	for _, p := range c.Plugins {
		if p.Handle == handle {
			return p, true
		}
	}
	return nil, false
}

// Local returns the local endpoint with the given handle.
func (c *Config) Local(handle string) (*Local, bool) {
	for _, l := range c.Locals {
		if l.Handle == handle {
			return l, true
		}
	}
	return nil, false
}

func defaultServer() Server { return Server{Name: "mcphost"} }

func defaultHTTP() HTTP {
	return HTTP{Listen: "127.0.0.1:8808", SessionIdleTimeout: 30 * time.Minute, MaxSessions: 1024}
}
