package streamhttp

import (
	"net/http"

	"github.com/mcphost/mcphost/host/primitive"
)

// get opens a stream of a session: the rest of the one that Last-Event-ID
// names, or a stand-alone one. Several at a time are allowed, and one with a
// Last-Event-ID is never refused for what that says.
func (h *Handler) get(w http.ResponseWriter, r *http.Request, who primitive.Principal) {
	session, ok := h.sessionOf(w, r, who)
	if !ok {
		return
	}
	defer session.leave()
	if !parseAccept(r.Header["Accept"]).events {
		h.refuse(w, http.StatusNotAcceptable, "Accept must include text/event-stream")
		return
	}
	id, number, resume := lastEventID(r.Header)
	stream, reader, number := session.listen(id, number, resume)
	defer session.silence(reader)
	f := follower{
		h: h, session: session, stream: stream, reader: reader, number: number, events: true,
		out: eventWriter{w: w, timeout: h.opts.WriteTimeout},
	}
	f.follow(r.Context())
}

// delete ends a session at the wish of its client.
func (h *Handler) delete(w http.ResponseWriter, r *http.Request, who primitive.Principal) {
	session, ok := h.sessionOf(w, r, who)
	if !ok {
		return
	}
	defer session.leave()
	h.sessions.end(session)
	h.reply(w, nil, http.StatusNoContent)
}

// sessionOf returns the session of a GET or DELETE, entered; it reports false
// if it has refused r. Modern revisions have neither verb.
func (h *Handler) sessionOf(w http.ResponseWriter, r *http.Request, who primitive.Principal) (*session, bool) {
	v := readVersion(r.Header)
	ids := r.Header["Mcp-Session-Id"]
	switch {
	case v.twice:
		h.refuse(w, http.StatusBadRequest, "more than one MCP-Protocol-Version header")
	case v.present && !v.known:
		h.refuse(w, http.StatusBadRequest, "this MCP-Protocol-Version is not supported")
	case len(ids) == 0 && v.modern:
		h.wrongVerb(w, "POST")
	case len(ids) == 0:
		h.refuse(w, http.StatusBadRequest, "no Mcp-Session-Id: send initialize first")
	default:
		if session := h.sessions.enter(ids, who); session != nil {
			return session, true
		}
		h.refuse(w, http.StatusNotFound, "the session does not exist or has ended: send initialize")
	}
	return nil, false
}
