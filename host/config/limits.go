package config

import (
	"time"

	"github.com/hashicorp/hcl/v2"
)

// Limits is the limits block. Every value is more than 0. The file beats the
// environment, which beats the default.
type Limits struct {
	Place
	MaxRequestSize           int64         // bytes of one message from a client; MCP_MAX_REQUEST_SIZE, 1 MiB
	MaxConcurrentRequests    int           // in work at once on one transport; MCP_MAX_CONCURRENT_REQUESTS, 32
	MaxResponseSize          int64         // bytes of one result; MCP_MAX_RESPONSE_SIZE, 4 MiB
	MaxMetadataSize          int64         // bytes of _meta of one request; MCP_MAX_METADATA_SIZE, 64 KiB
	DefaultPageSize          int           // never above MaxPageSize; MCP_DEFAULT_PAGE_SIZE, 50
	MaxPageSize              int           // MCP_MAX_PAGE_SIZE, 100
	SubscriptionBufferSize   int           // pending changes of one subscription; MCP_SUBSCRIPTION_BUFFER_SIZE, 64
	MaxSubscriptions         int           // open at once on one transport; MCP_MAX_SUBSCRIPTIONS, 1024
	MaxResourceSubscriptions int           // URIs of one subscription or legacy session; MCP_MAX_RESOURCE_SUBSCRIPTIONS, 64
	SubscriptionKeepalive    time.Duration // MCP_SUBSCRIPTION_KEEPALIVE, 15s
}

func defaultLimits() Limits {
	return Limits{
		MaxRequestSize:           1 << 20,
		MaxConcurrentRequests:    32,
		MaxResponseSize:          4 << 20,
		MaxMetadataSize:          64 << 10,
		DefaultPageSize:          50,
		MaxPageSize:              100,
		SubscriptionBufferSize:   64,
		MaxSubscriptions:         1024,
		MaxResourceSubscriptions: 64,
		SubscriptionKeepalive:    15 * time.Second,
	}
}

// A limit is one row of the table: from the file by set, from the environment by parse.
type limit struct {
	name, env string
	set       setter
	parse     func(s string) (problem string)
}

func (l *Limits) table() []limit {
	return []limit{
		sizeLimit("max_request_size", "MCP_MAX_REQUEST_SIZE", &l.MaxRequestSize),
		countLimit("max_concurrent_requests", "MCP_MAX_CONCURRENT_REQUESTS", &l.MaxConcurrentRequests),
		sizeLimit("max_response_size", "MCP_MAX_RESPONSE_SIZE", &l.MaxResponseSize),
		sizeLimit("max_metadata_size", "MCP_MAX_METADATA_SIZE", &l.MaxMetadataSize),
		countLimit("default_page_size", "MCP_DEFAULT_PAGE_SIZE", &l.DefaultPageSize),
		countLimit("max_page_size", "MCP_MAX_PAGE_SIZE", &l.MaxPageSize),
		countLimit("subscription_buffer_size", "MCP_SUBSCRIPTION_BUFFER_SIZE", &l.SubscriptionBufferSize),
		countLimit("max_subscriptions", "MCP_MAX_SUBSCRIPTIONS", &l.MaxSubscriptions),
		countLimit("max_resource_subscriptions", "MCP_MAX_RESOURCE_SUBSCRIPTIONS", &l.MaxResourceSubscriptions),
		durationLimit("subscription_keepalive", "MCP_SUBSCRIPTION_KEEPALIVE", &l.SubscriptionKeepalive),
	}
}

func sizeLimit(name, env string, dst *int64) limit {
	return limit{name, env, set(dst, size(bound{})), into(dst, parseSize)}
}

func countLimit(name, env string, dst *int) limit {
	return limit{name, env, set(dst, count(bound{})), into(dst, parseCount)}
}

func durationLimit(name, env string, dst *time.Duration) limit {
	return limit{name, env, set(dst, duration(bound{})), into(dst, parseDuration)}
}

func into[T any](dst *T, parse func(string, bound) (T, string)) func(string) string {
	return func(s string) string {
		v, problem := parse(s, bound{})
		if problem == "" {
			*dst = v
		}
		return problem
	}
}

func (d *decoder) limits(b *hcl.Block) {
	l := &d.config.Limits
	l.Block = b.DefRange
	f := fields{args: map[string]setter{}}
	for _, row := range l.table() {
		f.args[row.name] = row.set
	}
	d.body(b.Body, &l.Place, f)
}

// limitsFromEnv fills in what the file leaves open, and checks the whole.
func (d *decoder) limitsFromEnv() {
	l := &d.config.Limits
	for _, row := range l.table() {
		s, ok := d.opts.Env(row.env)
		if !ok || s == "" || l.Has(row.name) {
			continue
		}
		if problem := row.parse(s); problem != "" {
			d.errorf(Range{}, "Invalid limit", "The environment variable %s %s.", row.env, problem)
		}
	}
	if l.DefaultPageSize > l.MaxPageSize {
		at := l.At("default_page_size")
		if !l.Has("default_page_size") {
			at = l.At("max_page_size")
		}
		d.errorf(at, "Invalid limit", "The default_page_size, %d, is above max_page_size, %d. Set both.", l.DefaultPageSize, l.MaxPageSize)
	}
}
