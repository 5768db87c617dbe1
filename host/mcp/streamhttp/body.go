package streamhttp

import (
	"errors"
	"io"
	"net/http"
	"sync"
)

// Buffers start at bodyStart bytes and grow with what really comes, whatever
// Content-Length promises; those above bodyKeep are not kept for others.
const (
	bodyStart = 4 << 10
	bodyKeep  = 256 << 10
)

// bodies holds buffers of bodies that have been served.
var bodies = sync.Pool{New: func() any { b := make([]byte, 0, bodyStart); return &b }}

// freeBody gives b back; nothing may refer to it any more.
func freeBody(b *[]byte) {
	if cap(*b) <= bodyKeep {
		bodies.Put(b)
	}
}

var errTooLarge = errors.New("body too large")

// readBody reads a body of at most limit bytes.
func readBody(r io.Reader, limit int64) (*[]byte, error) {
	buf, _ := bodies.Get().(*[]byte)
	b := (*buf)[:0]
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		*buf = b
		switch {
		case int64(len(b)) > limit:
			freeBody(buf)
			return nil, errTooLarge
		case errors.Is(err, io.EOF):
			return buf, nil
		case err != nil:
			freeBody(buf)
			return nil, err
		}
	}
}

// body reads the body of r; it reports false if it has refused r.
func (h *Handler) body(w http.ResponseWriter, r *http.Request) (*[]byte, bool) {
	limit := h.endpoint.Limits.MaxRequestSize
	err := errTooLarge
	if r.ContentLength <= limit {
		var buf *[]byte
		if buf, err = readBody(r.Body, limit); err == nil {
			return buf, true
		}
	}
	// What is left of the body must not be taken for the next request, nor read.
	w.Header().Set("Connection", "close")
	if errors.Is(err, errTooLarge) {
		h.refuse(w, http.StatusRequestEntityTooLarge, "the message is larger than the limit")
	} else {
		h.refuse(w, http.StatusBadRequest, "the body could not be read")
	}
	return nil, false
}
