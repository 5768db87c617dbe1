package streamhttp

import (
	"context"
	"net/http"
	"time"
)

// A follower sends a stream on one connection until the stream, the
// connection or the session ends.
type follower struct {
	h       *Handler
	session *session
	stream  *stream
	reader  *reader
	out     eventWriter

	number uint64 // of the last event that this connection has sent
	first  bool   // it is the connection of the call itself, which may get JSON instead
	events bool   // the client takes event streams
	opened time.Time
	idBuf  []byte
}

// follow returns when this connection has nothing more to send.
func (f *follower) follow(ctx context.Context) {
	defer f.session.keep(f.stream)
	defer f.stream.detach(f.reader)
	if !f.first && !f.begin() {
		return
	}
	var closing <-chan struct{}
	if f.stream.standalone {
		closing = f.h.closing
	}
	timer := time.NewTimer(f.patience())
	defer timer.Stop()
	for f.send() {
		select {
		case <-f.reader.wake:
		case <-timer.C:
			if !f.tick() {
				return
			}
			timer.Reset(f.patience())
		case <-f.session.ended:
			f.end()
			return
		case <-closing:
			f.end()
			return
		case <-ctx.Done():
			return
		}
	}
}

// begin opens the stream on a connection that a GET has brought.
func (f *follower) begin() bool {
	f.open()
	if !f.stream.primes {
		f.out.comment()
	}
	return f.out.flush() == nil
}

// open makes the response an event stream. The session knows the stream before
// the client knows an id of it.
func (f *follower) open() {
	f.opened = time.Now()
	f.stream.setOpen()
	f.session.track(f.stream)
	f.out.open()
	if f.stream.primes {
		f.idBuf = primingID(f.idBuf[:0], f.stream.id, f.number, f.reader.connection)
		f.out.prime(f.idBuf, f.h.opts.Retry)
	}
}

// send sends what is new; it reports false when that was all.
func (f *follower) send() bool {
	if f.stream.standalone {
		f.session.drain(f.stream, f.reader)
	}
	n := f.stream.take(f.reader, f.number)
	switch {
	case n.replaced:
		f.end()
		return false
	case n.alone && f.opened.IsZero():
		f.alone(n)
		return false
	case len(n.events) == 0:
		if n.ended {
			f.end()
		}
		return !n.ended
	}
	if f.opened.IsZero() {
		f.open()
	}
	for _, e := range n.events {
		f.number = e.number
		f.idBuf = eventID(f.idBuf[:0], f.stream.id, e.number)
		f.out.message(f.idBuf, e.msg)
	}
	if f.out.flush() != nil {
		return false
	}
	if n.ended {
		f.end()
	}
	return !n.ended
}

// alone sends a response without a stream: it is the only event, or there is none.
func (f *follower) alone(n news) {
	switch {
	case !n.answered && f.session.hasEnded():
		f.end()
	case !n.answered:
		f.h.endUnanswered(f.out.w, f.events)
	case len(n.events) == 0:
		f.h.reply(f.out.w, nil, n.status)
	default:
		f.h.reply(f.out.w, n.events[0].msg, n.status)
	}
}

// end ends the response; the stream may go on elsewhere.
func (f *follower) end() {
	switch {
	case !f.opened.IsZero():
		f.out.close()
	case f.h.ctx.Err() != nil:
		f.h.refuseBusy(f.out.w, "the server is shutting down")
	default:
		f.h.refuse(f.out.w, http.StatusNotFound, "the session has ended")
	}
}

// patience is how long there is nothing to do unless something new comes.
func (f *follower) patience() time.Duration {
	keepalive := f.h.endpoint.Limits.SubscriptionKeepalive
	switch {
	case !f.opened.IsZero():
		d := keepalive - time.Since(f.out.last)
		if f.polls() {
			d = min(d, f.h.opts.PollAfter-time.Since(f.opened))
		}
		return d
	case f.events && f.stream.primes:
		return f.h.opts.PrimeAfter
	}
	return keepalive
}

// polls reports whether the client is to come back for the rest of the stream
// at some time, rather than to wait for it.
func (f *follower) polls() bool {
	return f.h.opts.PollAfter > 0 && f.stream.primes && !f.stream.standalone
}

// tick does what is due; it reports false when the connection is to be closed.
func (f *follower) tick() bool {
	switch {
	case !f.events:
		return true
	case f.opened.IsZero():
		// A slow call: from here on the client can resume, and what is on the
		// way sees that the connection lives.
		f.open()
		if !f.stream.primes {
			f.out.comment()
		}
	case f.polls() && time.Since(f.opened) >= f.h.opts.PollAfter:
		f.end()
		return false
	case time.Since(f.out.last) >= f.h.endpoint.Limits.SubscriptionKeepalive:
		f.out.comment()
	default:
		return true
	}
	return f.out.flush() == nil
}
