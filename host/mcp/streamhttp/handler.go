package streamhttp

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/primitive"
)

// Options say how a [Handler] behaves. The zero value works: it refuses every
// Origin, checks no Host, and knows all callers as the anonymous principal.
type Options struct {
	// AllowedOrigins are the values of the Origin header that pass, compared
	// as a whole. A request without the header passes always.
	AllowedOrigins []string
	// Loopback says that the listener is bound to a loopback address; then a
	// Host that is no loopback name or address is refused (DNS rebinding).
	Loopback bool
	// AllowedHosts are hosts, with or without a port, that pass as well. If
	// there are some, others do not, except those that Loopback lets pass.
	AllowedHosts []string

	// SessionIdleTimeout ends a legacy session that has no open stream and no
	// call in work for so long; 0 means 30 minutes.
	SessionIdleTimeout time.Duration
	// MaxSessions bounds the legacy sessions. When there are as many, the one
	// that has been idle for longest makes room; 0 means 1024.
	MaxSessions int
	// MaxReplay bounds the bytes that all sessions together keep of streams
	// that have ended, in case their clients resume them; 0 means 64 MiB.
	MaxReplay int64

	// PrimeAfter is how long a legacy call may take before its response
	// becomes an event stream that the client can resume, for revisions that
	// have priming events; 0 means 250 ms.
	PrimeAfter time.Duration
	// PollAfter closes the connection of a resumable stream that has been open
	// for so long; the client comes back for the rest after Retry. 0 means
	// never: a client that lost its connection resumes just as well, and one
	// that cannot resume keeps its result.
	PollAfter time.Duration
	// Retry is how long clients are told to wait before they resume; 0 means 1 s.
	Retry time.Duration
	// WriteTimeout bounds each write to a client; 0 means 30 s.
	WriteTimeout time.Duration

	// LegacySSE serves the HTTP+SSE pair of 2024-11-05 at PATH/sse and
	// PATH/message; see [Handler.Pair].
	LegacySSE bool

	// Authenticate says who sent a request, or why it is refused. Nil makes
	// every caller the anonymous principal.
	Authenticate func(*http.Request) (primitive.Principal, *AuthError)

	// Log is for the life of sessions; nil logs nothing.
	Log hclog.Logger
}

// An AuthError is the refusal of a request that is not, or not rightly, authenticated.
type AuthError struct {
	Status    int    // 400, 401 or 403
	Challenge string // the WWW-Authenticate header; may be empty
	Message   string // for the client
}

func (o Options) withDefaults() Options {
	setDefault(&o.SessionIdleTimeout, 30*time.Minute)
	setDefault(&o.MaxSessions, 1024)
	setDefault(&o.MaxReplay, 64<<20)
	setDefault(&o.PrimeAfter, 250*time.Millisecond)
	setDefault(&o.Retry, time.Second)
	setDefault(&o.WriteTimeout, 30*time.Second)
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	return o
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// A Handler serves one endpoint over HTTP. Use [NewHandler], and Close when it
// is not needed any more.
type Handler struct {
	front    mcp.Front
	endpoint *mcp.Endpoint
	opts     Options
	gate     gate
	sessions *sessions
	reading  reading

	ctx    context.Context //nolint:containedctx // it is the life of the handler; its end cancels what runs
	cancel context.CancelFunc

	mu      sync.Mutex // guards what follows, and wg against Add after Wait
	closed  bool
	closing chan struct{} // closed when no more requests are taken
	wg      sync.WaitGroup
}

var _ http.Handler = (*Handler)(nil)

// NewHandler returns a handler that serves ep with front until it is closed.
// What runs is cancelled when ctx is done.
func NewHandler(ctx context.Context, front mcp.Front, ep *mcp.Endpoint, opts Options) *Handler {
	opts = opts.withDefaults()
	h := &Handler{
		front: front, endpoint: ep, opts: opts,
		gate:    newGate(opts),
		closing: make(chan struct{}),
	}
	h.ctx, h.cancel = context.WithCancel(ctx)
	h.sessions = newSessions(opts, ep.Limits.MaxResponseSize)
	context.AfterFunc(h.ctx, h.sessions.close) //nolint:contextcheck // h.ctx is made of ctx; calls of sessions do not run in it
	return h
}

// ServeHTTP implements [http.Handler]. The order is that of
// basic/transports/streamable-http: Origin and Host on every verb, then the
// verb, then who asks, then the rest.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if reason := h.gate.refuses(r); reason != "" {
		h.refuse(w, http.StatusForbidden, reason)
		return
	}
	switch r.Method {
	case http.MethodPost, http.MethodGet, http.MethodDelete:
	default:
		h.wrongVerb(w, "GET, POST, DELETE")
		return
	}
	who, ok := h.authenticate(w, r)
	if !ok {
		return
	}
	if !h.enter() {
		h.refuseBusy(w, "the server is shutting down")
		return
	}
	defer h.wg.Done()
	switch r.Method {
	case http.MethodPost:
		h.post(w, r, who)
	case http.MethodGet:
		h.get(w, r, who)
	case http.MethodDelete:
		h.delete(w, r, who)
	}
}

func (h *Handler) authenticate(w http.ResponseWriter, r *http.Request) (primitive.Principal, bool) {
	if h.opts.Authenticate == nil {
		return primitive.Principal{}, true
	}
	who, e := h.opts.Authenticate(r)
	if e == nil {
		return who, true
	}
	if e.Challenge != "" {
		w.Header().Set("WWW-Authenticate", e.Challenge)
	}
	h.refuse(w, e.Status, e.Message)
	return primitive.Principal{}, false
}

// enter counts a request in, to be counted out by wg.Done; it reports false if
// no more are taken.
func (h *Handler) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.wg.Add(1)
	return true
}

// Close ends the endpoint's subscriptions and open streams, lets calls in work
// end until ctx is done, cancels those that have not, ends all sessions, and
// returns when nothing of it runs any more. Requests that come meanwhile are
// refused. It may be called twice. The error is that of ctx if calls were cut.
func (h *Handler) Close(ctx context.Context) error {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		close(h.closing)
	}
	h.mu.Unlock()
	h.endpoint.Close()

	idle := make(chan struct{})
	go func() { h.wg.Wait(); close(idle) }() // ends when the last request has, below
	var err error
	select {
	case <-idle:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	h.cancel()
	h.sessions.close()
	<-idle
	return err
}

// refuse answers with a status and a JSON-RPC error without an id, as
// basic/transports/streamable-http allows where no message was accepted.
func (h *Handler) refuse(w http.ResponseWriter, status int, reason string) {
	h.reply(w, jsonrpc.AppendError(nil, nil, jsonrpc.Errorf(jsonrpc.InvalidRequest, "%s", reason)), status)
}

func (h *Handler) refuseBusy(w http.ResponseWriter, reason string) {
	w.Header().Set("Retry-After", "1")
	h.reply(w, jsonrpc.AppendError(nil, nil, jsonrpc.Errorf(mcp.BusyCode, "%s", reason)), http.StatusServiceUnavailable)
}

func (h *Handler) wrongVerb(w http.ResponseWriter, allow string) {
	w.Header().Set("Allow", allow)
	h.refuse(w, http.StatusMethodNotAllowed, "this method is not allowed here")
}
