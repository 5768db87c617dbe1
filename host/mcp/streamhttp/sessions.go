package streamhttp

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/primitive"
)

var (
	errTooManySessions = errors.New("there are too many sessions; try again later")
	errShuttingDown    = errors.New("the server is shutting down")
)

// sessions are those of one handler. There is a bound on their number: the one
// that has been idle for longest makes room for a new one, so that a client
// that opens many of them costs others a new initialize, and not the service.
type sessions struct {
	idleTimeout time.Duration
	max         int
	maxResting  int64 // bytes that one session keeps for resumption
	maxReplay   int64 // bytes that all do
	replay      atomic.Int64
	log         hclog.Logger

	mu     sync.Mutex // guards what follows, and wg against Add after Wait; taken before that of a session
	byID   map[string]*session
	pairs  map[string]*pair
	closed bool
	wg     sync.WaitGroup // sessions that are being closed
}

func newSessions(o Options, maxResting int64) *sessions {
	return &sessions{
		idleTimeout: o.SessionIdleTimeout, max: o.MaxSessions,
		maxResting: maxResting, maxReplay: o.MaxReplay,
		log:  o.Log,
		byID: make(map[string]*session), pairs: make(map[string]*pair),
	}
}

// open makes m a session of who under a new id. It has 128 bits of chance in
// it, and only letters and digits (2025-11-25 basic/transports: secure random,
// visible ASCII).
func (t *sessions) open(m *mcp.Session, who primitive.Principal) (*session, error) {
	s := &session{
		id: rand.Text(), who: who, mcp: m, table: t,
		ended: make(chan struct{}), used: time.Now(),
		streams: make(map[uint64]*stream), restingBytes: make(map[*stream]int),
		standalone: make(map[*reader]struct{}),
	}
	m.Send, s.conn.Send = s.send, s.send
	s.conn.Open(m)
	t.mu.Lock()
	victim, err := t.roomLocked()
	if err == nil {
		s.timer = time.AfterFunc(t.idleTimeout, s.expire)
		t.byID[s.id] = s
	}
	t.mu.Unlock()
	if victim != nil {
		t.end(victim)
	}
	if err != nil {
		return nil, err
	}
	context.AfterFunc(m.Context(), func() { t.end(s) }) // whoever else ends it
	return s, nil
}

// roomLocked says which session must go before another may come, if any.
func (t *sessions) roomLocked() (victim *session, err error) {
	if t.closed {
		return nil, errShuttingDown
	}
	if len(t.byID)+len(t.pairs) < t.max {
		return nil, nil
	}
	var oldest time.Time
	for _, s := range t.byID {
		if used, idle := s.idleSince(); idle && (victim == nil || used.Before(oldest)) {
			victim, oldest = s, used
		}
	}
	if victim == nil {
		return nil, errTooManySessions
	}
	delete(t.byID, victim.id)
	return victim, nil
}

// enter returns the session that the values of Mcp-Session-Id name, entered,
// if it is one of who. Other people's sessions do not exist.
func (t *sessions) enter(ids []string, who primitive.Principal) *session {
	if len(ids) != 1 {
		return nil
	}
	t.mu.Lock()
	s := t.byID[ids[0]]
	t.mu.Unlock()
	if s == nil || !same(s.who, who) || !s.enter() {
		return nil
	}
	return s
}

// same reports whether a and b are the same person; scopes may change.
func same(a, b primitive.Principal) bool {
	return a.Subject == b.Subject && a.Issuer == b.Issuer
}

// end ends s: it is not found any more, and what it runs is cancelled.
func (t *sessions) end(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.endLocked(s)
}

func (t *sessions) endLocked(s *session) {
	if t.byID[s.id] == s {
		delete(t.byID, s.id)
	}
	if !s.finish() {
		return
	}
	t.log.Debug("session ended", "client", s.mcp.Name)
	// Its calls take their time to end, and whoever ends it may be one of them.
	t.wg.Go(s.mcp.Close)
}

// close ends all sessions and returns when nothing of them runs any more. It
// may be called twice.
func (t *sessions) close() {
	t.mu.Lock()
	t.closed = true // from here on no session is opened, and so none is left to end
	for _, s := range t.byID {
		t.endLocked(s)
	}
	t.mu.Unlock()
	t.wg.Wait()
}
