package streamhttp

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
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

var (
	errTooLarge = errors.New("body too large")
	errNoRoom   = errors.New("too many bodies at once")
)

// maxReading bounds the bytes of all bodies that are being read, beyond the
// first bodyStart of each: whoever sends slowly holds them for as long. It is
// at least the limit of one body twice.
const maxReading = 128 << 20

// A reading counts the bytes of bodies that are being read.
type reading struct{ bytes atomic.Int64 }

// body reads a body of at most limit bytes.
func (t *reading) body(r io.Reader, limit int64) (*[]byte, error) {
	buf, _ := bodies.Get().(*[]byte)
	b := (*buf)[:0]
	var taken int64
	defer func() { t.bytes.Add(-taken) }()
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
		case !t.take(&taken, len(b), max(maxReading, 2*limit)):
			freeBody(buf)
			return nil, errNoRoom
		case errors.Is(err, io.EOF):
			return buf, nil
		case err != nil:
			freeBody(buf)
			return nil, err
		}
	}
}

// take raises taken, what a body of n bytes counts for; it reports false if there is no room.
func (t *reading) take(taken *int64, n int, room int64) bool {
	more := max(0, int64(n)-bodyStart) - *taken
	*taken += more
	return more == 0 || t.bytes.Add(more) <= room
}

// body reads the body of r; it reports false if it has refused r.
func (h *Handler) body(w http.ResponseWriter, r *http.Request) (*[]byte, bool) {
	limit := h.endpoint.Limits.MaxRequestSize
	err := errTooLarge
	if r.ContentLength <= limit {
		var buf *[]byte
		if buf, err = h.reading.body(r.Body, limit); err == nil {
			return buf, true
		}
	}
	// What is left of the body must not be taken for the next request, nor read.
	w.Header().Set("Connection", "close")
	switch {
	case errors.Is(err, errTooLarge):
		h.refuse(w, http.StatusRequestEntityTooLarge, "the message is larger than the limit")
	case errors.Is(err, errNoRoom):
		h.refuseBusy(w, "too many large messages at once; try again later")
	default:
		h.refuse(w, http.StatusBadRequest, "the body could not be read")
	}
	return nil, false
}
