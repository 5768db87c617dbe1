package mcp

import "time"

// Limits bound what clients may ask and get. The zero value of a field is not
// valid; start from [DefaultLimits].
type Limits struct {
	MaxRequestSize          int64 // bytes of one message from a client
	MaxResponseSize         int64 // bytes of one result
	MaxMetadataSize         int64 // bytes of _meta of one request
	MaxConcurrentRequests   int   // in work at once on one transport
	MaxQueuedRequests       int   // waiting for a slot on one transport
	DefaultPageSize         int
	MaxSubscriptions        int // open at once on one transport
	MaxResourceSubscription int // URIs of one subscription or legacy session
	SubscriptionKeepalive   time.Duration
	RequestTimeout          time.Duration // a hard cap on one request
	InputTimeout            time.Duration // wait for one answer of a person
	MaxInputRounds          int           // of one legacy call
}

// MaxWatchedURI bounds the URI of a resource whose updates a client wants: it is
// kept, and told to its plugin, as long as the subscription stands.
const MaxWatchedURI = 4 << 10

// DefaultLimits are those of a config without a limits block.
func DefaultLimits() Limits {
	return Limits{
		MaxRequestSize:          1 << 20,
		MaxResponseSize:         4 << 20,
		MaxMetadataSize:         64 << 10,
		MaxConcurrentRequests:   32,
		MaxQueuedRequests:       256,
		DefaultPageSize:         50,
		MaxSubscriptions:        1024,
		MaxResourceSubscription: 64,
		SubscriptionKeepalive:   15 * time.Second,
		RequestTimeout:          10 * time.Minute,
		InputTimeout:            5 * time.Minute,
		MaxInputRounds:          8,
	}
}
