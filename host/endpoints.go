package host

import (
	"context"
	"io"
	"os/user"

	"github.com/mcphost/mcphost/host/config"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/mcp/stdio"
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

// A served is one endpoint that is served, and the block that describes it.
type served struct {
	local, web string // handle or path; one of them is empty
	catalog    *registry.Endpoint
	cancel     context.CancelFunc // of a web endpoint: ends what it runs
}

// options returns what cfg says of the endpoint; false if it is not there.
func (e *served) options(cfg *config.Config) (registry.Options, bool) {
	if e.web == "" {
		l, ok := cfg.Local(e.local)
		if !ok {
			return registry.Options{}, false
		}
		return registry.Options{
			Name: l.Handle, Plugins: members(cfg, l.Plugins), OnConflict: l.OnConflict,
			Shapes:       registry.Shapes{Tools: &l.Tools, Prompts: &l.Prompts, Resources: &l.Resources},
			Instructions: cfg.Server.Instructions,
		}, true
	}
	for _, w := range cfg.Webs {
		if w.Path == e.web {
			return registry.Options{
				Name: w.Path, Plugins: members(cfg, w.Plugins), OnConflict: w.OnConflict,
				Shapes:       registry.Shapes{Tools: &w.Tools, Prompts: &w.Prompts, Resources: &w.Resources},
				Instructions: cfg.Server.Instructions,
			}, true
		}
	}
	return registry.Options{}, false
}

// members returns the plugins of an endpoint with their shapes.
func members(cfg *config.Config, handles []string) (list []registry.Member) {
	for _, handle := range handles {
		if p, ok := cfg.Plugin(handle); ok {
			list = append(list, registry.Member{Handle: handle, Shapes: registry.Shapes{Tools: &p.Tools, Prompts: &p.Prompts, Resources: &p.Resources}})
		}
	}
	return list
}

// serve makes the endpoint e, which cfg has, one that follows reloads.
func (h *Host) serve(cfg *config.Config, e *served) *mcp.Endpoint {
	o, _ := e.options(cfg)
	e.catalog = h.registry.NewEndpoint(o)
	transport := "stdio"
	if e.web != "" {
		transport = "http"
	}
	s := h.boot.Server
	version := s.Version
	if version == "" {
		version = Version
	}
	ep := &mcp.Endpoint{
		Name: o.Name, Transport: transport,
		Info:    mcp.Implementation{Name: s.Name, Version: version, Title: s.Title, WebsiteURL: s.WebsiteURL},
		Catalog: e.catalog, Limits: limits(h.boot.Limits), Sealer: h.sealer,
		Log: h.log.With("endpoint", o.Name),
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.endpoints = append(h.endpoints, e)
	return ep
}

// current returns the configuration that is in force.
func (h *Host) current() *config.Config {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.cfg
}

// Local returns the endpoint of a local block. It follows reloads.
func (h *Host) Local(l *config.Local) *mcp.Endpoint {
	return h.serve(h.current(), &served{local: l.Handle})
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
