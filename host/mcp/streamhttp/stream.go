package streamhttp

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// What one stream keeps to be sent, or sent again, at the most. One event is
// kept whatever its size.
const (
	maxEvents     = 256
	maxEventBytes = 256 << 10
)

// A stream is what one legacy call, or the host of its own accord, says to the
// client: numbered messages that a connection follows. When the connection
// breaks, another may follow the rest (2025-11-25 basic/transports,
// "Resumability and Redelivery"). Its methods may be called concurrently.
type stream struct {
	id     uint64 // unique in the session
	primes bool   // the revision has priming events
	events bool   // the client takes event streams; otherwise only the response counts
	// standalone streams carry what belongs to no call, and never end.
	standalone bool

	mu       sync.Mutex // guards what follows
	room     sync.Cond  // the reader has taken what there was, or is gone
	log      []event    // without gaps; what was sent long ago is dropped
	bytes    int        // of log
	last     uint64     // number of the newest event; 0 is the priming event
	taken    uint64     // number up to which the reader has taken events
	untaken  int        // bytes after taken
	readers  uint64     // connections so far
	reader   *reader    // the connection that follows, if there is one
	open     bool       // the client knows an id of this stream
	lost     bool       // nobody will follow it any more
	ended    bool       // nothing more will come
	answered bool       // the response has come
	response uint64     // number of the response; 0 if it has no body
	status   int        // of the response, where it is sent alone
}

// An event is one message and its number in the stream.
type event struct {
	number uint64
	msg    []byte
}

// A reader is a connection that follows a stream. It is woken when there may be something new.
type reader struct {
	wake       chan struct{}
	connection uint64 // which of the stream it is, from 1
}

func (r *reader) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func newStream(id uint64, primes, events bool) *stream {
	s := &stream{id: id, primes: primes, events: events}
	s.room.L = &s.mu
	return s
}

// eventID names a message for the client: unique in the session, and it leads
// back to the stream.
func eventID(dst []byte, stream, number uint64) []byte {
	dst = strconv.AppendUint(dst, stream, 10)
	return strconv.AppendUint(append(dst, '-'), number, 10)
}

// primingID names the position after a message, as one connection primes it.
// Each connection has another one: a client that is sent away again and again
// would take the same id for no progress, and give up (go-sdk v1.8.0 does).
func primingID(dst []byte, stream, number, connection uint64) []byte {
	return strconv.AppendUint(append(eventID(dst, stream, number), '-'), connection, 10)
}

// parseEventID reads what eventID or primingID wrote, and nothing else.
func parseEventID(id string) (stream, number uint64, ok bool) {
	a, rest, _ := strings.Cut(id, "-")
	b, c, primed := strings.Cut(rest, "-")
	stream, err1 := strconv.ParseUint(a, 10, 64)
	number, err2 := strconv.ParseUint(b, 10, 64)
	if err1 != nil || err2 != nil {
		return 0, 0, false
	}
	same := eventID(make([]byte, 0, 64), stream, number)
	if primed {
		connection, err := strconv.ParseUint(c, 10, 64)
		if err != nil {
			return 0, 0, false
		}
		same = primingID(same[:0], stream, number, connection)
	}
	return stream, number, string(same) == id
}

// attach makes a new reader the one that follows s, and sends the one before
// away. What it has had before is up to number.
func (s *stream) attach(number uint64) *reader {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readers++
	r := &reader{wake: make(chan struct{}, 1), connection: s.readers}
	if s.reader != nil {
		s.reader.signal()
	}
	s.reader, s.taken, s.untaken = r, number, 0
	return r
}

// detach ends the following of r. A stream of which the client knows no id is
// lost with it.
func (s *stream) detach(r *reader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader != r {
		return
	}
	s.reader = nil
	if !s.open {
		s.lost, s.log, s.bytes = true, nil, 0
	}
	s.room.Broadcast()
}

// notify adds a message. It waits while a reader is behind by a full log, so
// that a slow client holds up its own call; without a reader the oldest
// messages make room.
func (s *stream) notify(msg []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.reader != nil && !s.ended && (s.untaken >= maxEventBytes || s.last-s.taken >= maxEvents) {
		s.room.Wait()
	}
	switch {
	case s.ended:
		return errNotifyLate
	case s.lost:
		return errGone
	case !s.events:
		return dropped(msg)
	}
	s.addLocked(msg)
	return nil
}

// reply adds the response and ends the stream.
func (s *stream) reply(msg []byte, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.answered, s.status = true, status
	if msg != nil && !s.lost {
		s.addLocked(msg)
		s.response = s.last
	}
	s.endLocked()
}

// finish ends the stream, answered or not.
func (s *stream) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLocked()
}

func (s *stream) endLocked() {
	s.ended = true
	s.room.Broadcast()
	if s.reader != nil {
		s.reader.signal()
	}
}

func (s *stream) addLocked(msg []byte) {
	s.last++
	s.log = append(s.log, event{s.last, append([]byte(nil), msg...)})
	s.bytes += len(msg)
	if s.reader != nil {
		s.untaken += len(msg)
		s.reader.signal()
	}
	for len(s.log) > 1 && (len(s.log) > maxEvents || s.bytes > maxEventBytes) {
		if s.reader != nil && s.log[0].number > s.taken {
			break // it has yet to be sent for the first time; notify bounds those
		}
		s.bytes -= len(s.log[0].msg)
		s.log = s.log[1:]
	}
}

// A news is what a reader finds.
type news struct {
	events   []event // not to be changed
	replaced bool    // another connection follows the stream now
	ended    bool    // nothing comes after events
	answered bool
	alone    bool // there is the response, or nothing at all
	status   int
}

// take returns what there is for r after number.
func (s *stream) take(r *reader, number uint64) news {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader != r {
		return news{replaced: true}
	}
	s.taken, s.untaken = s.last, 0
	s.room.Broadcast()
	n := news{ended: s.ended, answered: s.answered, status: s.status}
	if fresh := s.last - min(number, s.last); fresh > 0 {
		n.events = s.log[max(0, len(s.log)-int(fresh)):]
	}
	n.alone = s.ended && (len(n.events) == 0 || len(n.events) == 1 && n.events[0].number == s.response)
	return n
}

// setOpen notes that the client is about to know an id.
func (s *stream) setOpen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = true
}

// rests reports whether nothing more will come, or come to nobody, and how many bytes are kept.
func (s *stream) rests() (int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes, s.ended || s.standalone && s.reader == nil
}

// hasAfter reports whether a client that has the event numbered number may
// still get something from s.
func (s *stream) hasAfter(number uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return number <= s.last && (!s.ended || number < s.last)
}

// lastEventID returns the one Last-Event-ID of a request, if it is an id of ours.
func lastEventID(h http.Header) (stream, number uint64, ok bool) {
	values := h["Last-Event-Id"]
	if len(values) != 1 {
		return 0, 0, false
	}
	return parseEventID(trim(values[0]))
}
