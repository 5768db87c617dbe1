package streamhttp

import (
	"errors"
	"net/http"
	"strconv"
	"time"
)

// Header values that every response shares; nobody writes to them.
var (
	headerJSON    = []string{typeJSON}
	headerEvents  = []string{typeEvents}
	headerNoCache = []string{"no-cache"}
	headerNo      = []string{"no"}
)

// plainSize is the size up to which net/http finds the Content-Length itself.
const plainSize = 2048

// reply writes a whole response; msg is nil for one without a body.
func (h *Handler) reply(w http.ResponseWriter, msg []byte, status int) {
	setWriteDeadline(w, h.opts.WriteTimeout)
	header := w.Header()
	if msg != nil {
		header["Content-Type"] = headerJSON
	}
	if len(msg) >= plainSize {
		header["Content-Length"] = []string{strconv.Itoa(len(msg))}
	}
	w.WriteHeader(status)
	_, _ = w.Write(msg) // a client that is gone needs no answer
}

// setWriteDeadline bounds writes to w from now on; 0 lifts the bound. A writer
// that has no deadlines has none.
func setWriteDeadline(w http.ResponseWriter, d time.Duration) {
	var t time.Time
	if d > 0 {
		t = time.Now().Add(d)
	}
	_ = http.NewResponseController(w).SetWriteDeadline(t)
}

// An eventWriter writes server-sent events, several at a time if they are
// there. It is for one goroutine at a time.
type eventWriter struct {
	w       http.ResponseWriter
	timeout time.Duration
	buf     []byte
	last    time.Time // of the last write
}

// open commits the response to being an event stream.
func (e *eventWriter) open() {
	header := e.w.Header()
	header["Content-Type"] = headerEvents
	header["Cache-Control"] = headerNoCache
	header["X-Accel-Buffering"] = headerNo // proxies must not hold events back
	setWriteDeadline(e.w, e.timeout)
	e.w.WriteHeader(http.StatusOK)
}

// message adds an event with a message, which has no line breaks, and its id if there is one.
func (e *eventWriter) message(id, msg []byte) {
	if len(id) > 0 {
		e.buf = append(append(append(e.buf, "id: "...), id...), '\n')
	}
	e.buf = append(append(append(e.buf, "data: "...), msg...), "\n\n"...)
}

// prime adds the event that lets a client resume before there is a message
// (2025-11-25 basic/transports: an id and empty data).
func (e *eventWriter) prime(id []byte, retry time.Duration) {
	e.buf = append(append(append(e.buf, "id: "...), id...), '\n')
	e.buf = strconv.AppendInt(append(e.buf, "retry: "...), retry.Milliseconds(), 10)
	e.buf = append(e.buf, "\ndata: \n\n"...)
}

// named adds an event of a type of its own.
func (e *eventWriter) named(event string, data []byte) {
	e.buf = append(append(append(e.buf, "event: "...), event...), '\n')
	e.buf = append(append(append(e.buf, "data: "...), data...), "\n\n"...)
}

// comment adds a comment, which tells proxies and clients that the stream lives.
func (e *eventWriter) comment() { e.buf = append(e.buf, ": keep-alive\n\n"...) }

// flush sends what was added.
func (e *eventWriter) flush() error {
	e.last = time.Now()
	setWriteDeadline(e.w, e.timeout)
	_, err := e.w.Write(e.buf)
	if e.buf = e.buf[:0]; cap(e.buf) > bodyKeep {
		e.buf = nil
	}
	if err == nil {
		err = http.NewResponseController(e.w).Flush()
	}
	if err == nil {
		// On HTTP/2 a deadline that passes resets the stream, written to or not.
		setWriteDeadline(e.w, 0)
	}
	if errors.Is(err, http.ErrNotSupported) {
		return nil // what buffers the stream answers for it
	}
	return err
}

// close prepares the end of the stream, which the return of the handler sends.
func (e *eventWriter) close() { setWriteDeadline(e.w, e.timeout) }
