package streamhttp

import (
	"context"
	"net/http"

	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/primitive"
)

// A post is one POST: an exchange and what it needs, in one piece of memory.
type post struct {
	x    mcp.Exchange
	conn mcp.Conn // of a message without a session
	out  responder
}

// post serves one body.
func (h *Handler) post(w http.ResponseWriter, r *http.Request, who primitive.Principal) {
	can, ok := h.negotiate(w, r)
	if !ok {
		return
	}
	body, ok := h.body(w, r)
	if !ok {
		return
	}
	p := &post{out: responder{h: h, events: can.events, out: eventWriter{w: w, timeout: h.opts.WriteTimeout}}}
	p.x = mcp.Exchange{Endpoint: h.endpoint, Conn: &p.conn, Principal: who, Headers: headers(r.Header), Out: &p.out}
	session := h.find(p, r, who) //nolint:contextcheck // a session outlives the request that opens it
	if session != nil {
		defer session.leave()
	}
	work := h.front.Accept(&p.x, *body)
	if work != nil && r.ProtoMajor > 1 {
		setWriteDeadline(w, 0) // see eventWriter.flush
	}
	switch {
	case work == nil:
		freeBody(body)
		p.out.finish(r.Context())
	case work.Lineage == mcp.Legacy && session != nil:
		h.runInSession(r, p, session, work, body)
	default:
		h.run(r, p, work)
		freeBody(body)
	}
}

// headers makes a request's header an [mcp.Headers].
type headers http.Header

// Values implements [mcp.Headers].
func (h headers) Values(name string) []string { return h[name] }

// find tells the exchange of the session that the request names. A message
// whose header names a modern revision has none: Mcp-Session-Id is ignored
// there, and a body of another lineage is refused whatever the session. The
// session is entered, to be left by the caller.
func (h *Handler) find(p *post, r *http.Request, who primitive.Principal) *session {
	if readVersion(r.Header).modern {
		return nil
	}
	w := p.out.out.w
	p.x.NewSession = func(s *mcp.Session) error {
		session, err := h.sessions.open(s, who)
		if err != nil {
			return err
		}
		w.Header().Set("Mcp-Session-Id", session.id)
		return nil
	}
	ids := r.Header["Mcp-Session-Id"]
	if len(ids) == 0 {
		return nil
	}
	session := h.sessions.enter(ids, who)
	if session == nil {
		p.x.State = mcp.SessionUnknown
		return nil
	}
	p.x.State, p.x.Conn = mcp.SessionLive, &session.conn
	return session
}

// run does the work of a message that stands alone, on the connection that
// brought it.
func (h *Handler) run(r *http.Request, p *post, work *mcp.Work) {
	parent := r.Context()
	if work.Lineage == mcp.Legacy {
		// basic/transports (2025-11-25): a disconnection is no cancellation.
		parent = context.WithoutCancel(parent)
	}
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	defer context.AfterFunc(h.ctx, cancel)() //nolint:contextcheck // the end of the handler joins that of the request
	p.out.keepAlive()
	work.Run(ctx)
	p.out.finish(r.Context())
}

// runInSession does the work of a legacy call, which outlives its connection,
// and sends what it says on the connection as long as there is one.
func (h *Handler) runInSession(r *http.Request, p *post, session *session, work *mcp.Work, body *[]byte) {
	stream := session.newStream(p.out.events)
	p.out.stream = stream
	reader := stream.attach(0)
	session.again()
	h.wg.Add(1) // this request is counted, so that Close has not seen zero yet
	run := func(ctx context.Context) {
		defer h.wg.Done()
		defer session.leave()
		work.Run(ctx)
		stream.finish()
		session.keep(stream)
		freeBody(body)
	}
	if !session.mcp.Go(run) { // ends with the work, whose context is the session's
		run(session.mcp.Context()) //nolint:contextcheck // the session has just ended, so that this is short
	}
	f := follower{h: h, session: session, stream: stream, reader: reader, out: p.out.out, first: true, events: p.out.events}
	f.follow(r.Context())
}
