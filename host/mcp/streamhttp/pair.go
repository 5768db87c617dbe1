package streamhttp

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/primitive"
)

// maxPairCalls bounds how many messages of one pair are in work or wait to be sent.
const maxPairCalls = 256

// A pair is one client of the HTTP+SSE transport of 2024-11-05: it listens on
// one GET, whose life is that of the session, and posts its messages beside it.
// It is a pipe, so that messages are served by the rules of stdio.
type pair struct {
	h    *Handler
	id   string
	who  primitive.Principal
	conn mcp.Conn
	ctx  context.Context //nolint:containedctx // it is the life of the connection, which outlives every request
	stop context.CancelFunc

	mu    sync.Mutex // guards what follows; a write holds up only this pair
	out   eventWriter
	dead  bool
	calls int
	idle  sync.Cond // calls has become 0
}

var _ mcp.Responder = (*pair)(nil)

// Pair returns the two handlers of the HTTP+SSE transport of 2024-11-05: that
// of the event stream, and that to which messages are posted, whose path
// clients are told. Without [Options.LegacySSE] they answer 404.
func (h *Handler) Pair(messagePath string) (events, messages http.Handler) {
	return h.gated(http.MethodGet, func(w http.ResponseWriter, r *http.Request, who primitive.Principal) {
			h.listenPair(w, r, who, messagePath)
		}),
		h.gated(http.MethodPost, h.postPair)
}

// gated checks what ServeHTTP checks, for one verb.
func (h *Handler) gated(verb string, serve func(http.ResponseWriter, *http.Request, primitive.Principal)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if reason := h.gate.refuses(r); reason != "" {
			h.refuse(w, http.StatusForbidden, reason)
			return
		}
		if !h.opts.LegacySSE {
			h.refuse(w, http.StatusNotFound, "there is nothing here")
			return
		}
		if r.Method != verb {
			h.wrongVerb(w, verb)
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
		serve(w, r, who)
	})
}

// listenPair opens a pair and serves its event stream.
func (h *Handler) listenPair(w http.ResponseWriter, r *http.Request, who primitive.Principal, messagePath string) {
	if !parseAccept(r.Header["Accept"]).events {
		h.refuse(w, http.StatusNotAcceptable, "Accept must include text/event-stream")
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(h.ctx, cancel)() //nolint:contextcheck // the end of the handler joins that of the request
	p := &pair{h: h, id: rand.Text(), who: who, ctx: ctx, stop: cancel, out: eventWriter{w: w, timeout: h.opts.WriteTimeout}}
	p.idle.L = &p.mu
	p.conn.Send = p.write
	if err := h.sessions.openPair(p); err != nil {
		h.refuseBusy(w, err.Error())
		return
	}
	defer p.close()
	p.mu.Lock()
	p.out.open()
	p.out.named("endpoint", []byte(messagePath+"?sessionId="+p.id))
	err := p.flushLocked()
	p.mu.Unlock()
	if err == nil {
		p.serve()
	}
}

// serve keeps the stream alive until the client goes, or the handler closes
// and the calls in work have ended.
func (p *pair) serve() {
	keepalive := time.NewTicker(p.h.endpoint.Limits.SubscriptionKeepalive)
	defer keepalive.Stop()
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-p.h.closing:
			p.h.sessions.forgetPair(p)
			p.drain()
			return
		case <-keepalive.C:
			p.mu.Lock()
			p.out.comment()
			err := p.flushLocked()
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}
}

// drain returns when no call is in work; the end of the context cancels them all.
func (p *pair) drain() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.calls > 0 {
		p.idle.Wait()
	}
}

// close ends the pair: the end of its stream is that of its session.
func (p *pair) close() {
	p.h.sessions.forgetPair(p)
	p.stop()
	if session := p.conn.Session(); session != nil {
		session.Close()
	}
	p.mu.Lock()
	p.dead = true
	p.mu.Unlock()
	p.drain()
	p.out.close()
}

// postPair takes a message of a pair; the answer goes to its event stream.
func (h *Handler) postPair(w http.ResponseWriter, r *http.Request, who primitive.Principal) {
	if !isJSON(r.Header["Content-Type"]) || !isIdentity(r.Header["Content-Encoding"]) {
		h.refuse(w, http.StatusUnsupportedMediaType, "the Content-Type must be application/json, without a Content-Encoding")
		return
	}
	p := h.sessions.pair(r.URL.Query().Get("sessionId"), who)
	if p == nil {
		h.refuse(w, http.StatusNotFound, "there is no such session")
		return
	}
	body, ok := h.body(w, r)
	if !ok {
		return
	}
	if !p.enter() {
		freeBody(body)
		h.refuseBusy(w, "too many messages at once; try again later")
		return
	}
	work := h.front.Accept(&mcp.Exchange{Endpoint: h.endpoint, Conn: &p.conn, Principal: who, Out: p}, *body)
	if work == nil {
		freeBody(body)
		p.leave()
	} else {
		// This request is counted, so that Close has not seen zero yet. It ends
		// with the work, whose context is the pair's.
		h.wg.Go(func() {
			defer p.leave()
			work.Run(p.ctx)
			freeBody(body)
		})
	}
	h.reply(w, nil, http.StatusAccepted)
}

// enter counts a call in; it reports false if there are too many, or the pair has ended.
func (p *pair) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead || p.calls >= maxPairCalls {
		return false
	}
	p.calls++
	return true
}

func (p *pair) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls--; p.calls == 0 {
		p.idle.Broadcast()
	}
}

// Notify implements [mcp.Responder].
func (p *pair) Notify(msg []byte) error { return p.write(msg) }

// Reply implements [mcp.Responder]. There is no status, and nothing to say where msg is nil.
func (p *pair) Reply(msg []byte, _ int) {
	if msg != nil {
		_ = p.write(msg) // a client that is gone ends the pair
	}
}

// write sends msg as an event. It waits for a slow client, and no longer than
// the write timeout.
func (p *pair) write(msg []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return errGone
	}
	p.out.named("message", msg)
	return p.flushLocked()
}

func (p *pair) flushLocked() error {
	if err := p.out.flush(); err != nil {
		p.dead = true
		p.stop()
		return errGone
	}
	return nil
}

// openPair makes p known, if there is room.
func (t *sessions) openPair(p *pair) error {
	t.mu.Lock()
	victim, err := t.roomLocked()
	if err == nil {
		t.pairs[p.id] = p
	}
	t.mu.Unlock()
	if victim != nil {
		t.end(victim)
	}
	return err
}

func (t *sessions) forgetPair(p *pair) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.pairs, p.id)
}

// pair returns the pair named id if it is one of who.
func (t *sessions) pair(id string, who primitive.Principal) *pair {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.pairs[id]; p != nil && same(p.who, who) {
		return p
	}
	return nil
}
