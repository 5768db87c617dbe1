package streamhttp

import (
	"bytes"
	"errors"
	"sync"
	"time"

	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/primitive"
)

// What a session keeps of messages that wait for a stand-alone stream, and of
// streams that rest. When there is more, the oldest is dropped.
const (
	maxWaiting      = 64
	maxWaitingBytes = 256 << 10
	maxResting      = 16
)

var errSessionEnded = errors.New("the session has ended")

// A session is the HTTP side of a legacy session: who may use it, its streams,
// and when it was last used. Its methods may be called concurrently.
type session struct {
	id    string
	who   primitive.Principal
	mcp   *mcp.Session
	conn  mcp.Conn
	table *sessions
	ended chan struct{} // closed when it has ended

	mu           sync.Mutex // guards what follows; taken before that of a stream
	gone         bool
	busy         int // requests and calls in work, open streams
	used         time.Time
	timer        *time.Timer
	lastStream   uint64
	streams      map[uint64]*stream // those of which the client knows an id
	resting      []*stream          // of streams, oldest first, those that nobody follows or writes
	restingBytes map[*stream]int
	waiting      [][]byte // messages that belong to no request, for a stand-alone stream
	waitingBytes int
	standalone   map[*reader]struct{}
}

// again notes one more use of a session that is in use.
func (s *session) again() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy++
}

// enter notes a use; it reports false if the session has ended.
func (s *session) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return false
	}
	s.busy++
	return true
}

// hasEnded reports whether the session has ended.
func (s *session) hasEnded() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// leave notes the end of a use.
func (s *session) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	s.used = time.Now()
}

// idleSince returns when the session was last used; it reports false if it is in use.
func (s *session) idleSince() (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used, s.busy == 0
}

// expire ends the session if it has been idle for long enough, and otherwise
// comes back when it may have been.
func (s *session) expire() {
	s.mu.Lock()
	wait := s.table.idleTimeout
	if s.busy == 0 {
		wait -= time.Since(s.used)
	}
	due := wait <= 0 && !s.gone
	if !due && !s.gone {
		s.timer.Reset(wait)
	}
	s.mu.Unlock()
	if due {
		s.table.end(s)
	}
}

// send takes a message that belongs to no request, for one of the stand-alone
// streams (2025-11-25 basic/transports: on only one of them). One that waits
// already is not taken twice.
func (s *session) send(msg []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return errSessionEnded
	}
	for _, w := range s.waiting {
		if bytes.Equal(w, msg) {
			return nil
		}
	}
	s.waiting = append(s.waiting, bytes.Clone(msg))
	s.waitingBytes += len(msg)
	for len(s.waiting) > 1 && (len(s.waiting) > maxWaiting || s.waitingBytes > maxWaitingBytes) {
		s.waitingBytes -= len(s.waiting[0])
		s.waiting = s.waiting[1:]
	}
	for r := range s.standalone {
		r.signal()
	}
	return nil
}

// drain moves the messages that wait to the stand-alone stream that r follows.
func (s *session) drain(to *stream, r *reader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	to.mu.Lock()
	defer to.mu.Unlock()
	if to.reader != r {
		return
	}
	for _, msg := range s.waiting {
		to.addLocked(msg)
	}
	s.waiting, s.waitingBytes = nil, 0
}

// newStream returns a stream for one call.
func (s *session) newStream(events bool) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastStream++
	return newStream(s.lastStream, s.mcp.Revision.Has(mcp.StreamPriming), events)
}

// listen returns the stream that a GET is for, followed by a reader from
// number on: the rest of the one that it resumes, or else a new stand-alone one.
func (s *session) listen(id, number uint64, resume bool) (*stream, *reader, uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.streams[id]
	if !resume || st == nil || !st.hasAfter(number) {
		s.lastStream++
		st, number = newStream(s.lastStream, s.mcp.Revision.Has(mcp.StreamPriming), true), 0
		st.standalone = true
	}
	s.wakeLocked(st)
	r := st.attach(number)
	if st.standalone {
		s.standalone[r] = struct{}{}
	}
	return st, r, number
}

// track makes st known to those who resume.
func (s *session) track(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.gone {
		s.streams[st.id] = st
	}
}

// keep lets st rest if nobody follows or writes it any more: it can be
// resumed until others need its room.
func (s *session) keep(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	size, rests := st.rests()
	if _, already := s.restingBytes[st]; already || !rests || s.gone || s.streams[st.id] != st {
		return
	}
	s.resting = append(s.resting, st)
	s.restingBytes[st] = size
	s.table.replay.Add(int64(size))
	for len(s.resting) > 0 && s.crowdedLocked() {
		oldest := s.resting[0]
		s.wakeLocked(oldest)
		delete(s.streams, oldest.id)
	}
}

// crowdedLocked reports whether more rests than may.
func (s *session) crowdedLocked() bool {
	if len(s.resting) > maxResting || s.table.replay.Load() > s.table.maxReplay {
		return true
	}
	var sum int64
	for _, size := range s.restingBytes {
		sum += int64(size)
	}
	return sum > s.table.maxResting && len(s.resting) > 1
}

// wakeLocked takes st out of those that rest.
func (s *session) wakeLocked(st *stream) {
	size, ok := s.restingBytes[st]
	if !ok {
		return
	}
	delete(s.restingBytes, st)
	s.table.replay.Add(-int64(size))
	for i, other := range s.resting {
		if other == st {
			s.resting = append(s.resting[:i:i], s.resting[i+1:]...)
			break
		}
	}
}

// silence notes that r does not follow a stand-alone stream any more.
func (s *session) silence(r *reader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.standalone, r)
	if len(s.waiting) > 0 {
		for other := range s.standalone {
			other.signal() // what r was woken for is theirs now
		}
	}
}

// finish marks the session as ended; it reports false if it was already.
func (s *session) finish() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return false
	}
	s.gone = true
	s.timer.Stop()
	for _, st := range s.resting {
		s.table.replay.Add(-int64(s.restingBytes[st]))
	}
	s.resting, s.restingBytes, s.streams, s.waiting = nil, nil, nil, nil
	close(s.ended)
	return true
}
