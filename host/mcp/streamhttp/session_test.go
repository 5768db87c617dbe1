package streamhttp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/primitive"
)

func newTable(o Options) *sessions { return newSessions(o.withDefaults(), 4<<20) }

func (t *sessions) mustOpen(tb testing.TB, who string) *session {
	tb.Helper()
	s, err := t.open(mcp.NewSession(tb.Context(), mcp.R20251125), primitive.Principal{Subject: who})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func (t *sessions) has(s *session) bool {
	found := t.enter([]string{s.id}, s.who)
	if found != nil {
		found.leave()
	}
	return found == s
}

func TestSessionEndsWhenItIsIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(Options{SessionIdleTimeout: time.Minute})
		defer table.close()
		s := table.mustOpen(t, "a")
		busy := table.mustOpen(t, "a")
		if !busy.enter() {
			t.Fatal("a new session is ended")
		}
		time.Sleep(59 * time.Second)
		if !table.has(s) { // a use, which counts
			t.Fatal("ended before its time")
		}
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if s.hasEnded() {
			t.Fatal("ended 59 s after its last use, want a minute")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !s.hasEnded() || s.mcp.Context().Err() == nil {
			t.Error("not ended a minute after its last use")
		}
		time.Sleep(time.Hour)
		if busy.hasEnded() {
			t.Error("a session in use was ended")
		}
		busy.leave()
		time.Sleep(time.Minute)
		synctest.Wait()
		if !busy.hasEnded() {
			t.Error("not ended a minute after its use")
		}
	})
}

func TestTheSessionIdleForLongestMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(Options{MaxSessions: 3})
		defer table.close()
		a := table.mustOpen(t, "a")
		time.Sleep(time.Second)
		b := table.mustOpen(t, "b")
		time.Sleep(time.Second)
		c := table.mustOpen(t, "c")
		a.enter() // in use, and so not idle though the oldest
		d := table.mustOpen(t, "d")
		if !b.hasEnded() || a.hasEnded() || c.hasEnded() || d.hasEnded() {
			t.Errorf("ended: a %v, b %v, c %v, d %v; want b alone", a.hasEnded(), b.hasEnded(), c.hasEnded(), d.hasEnded())
		}
		c.enter()
		d.enter()
		m := mcp.NewSession(t.Context(), mcp.R20251125)
		defer m.Close()
		if _, err := table.open(m, primitive.Principal{}); !errors.Is(err, errTooManySessions) {
			t.Errorf("with all in use: %v, want %v", err, errTooManySessions)
		}
	})
}

func TestSessionBelongsToItsPrincipal(t *testing.T) {
	table := newTable(Options{})
	defer table.close()
	s := table.mustOpen(t, "a")
	for name, who := range map[string]primitive.Principal{"anonymous": {}, "another": {Subject: "b"}, "another issuer": {Subject: "a", Issuer: "x"}} {
		if table.enter([]string{s.id}, who) != nil {
			t.Errorf("%s: has found the session", name)
		}
	}
	if !table.has(s) {
		t.Error("its own principal has not found the session")
	}
	for _, c := range s.id {
		if c < 0x21 || c > 0x7e {
			t.Errorf("id %q has a character outside 0x21-0x7E", s.id)
		}
	}
	if table.enter([]string{s.id, s.id}, s.who) != nil {
		t.Error("two ids have found a session")
	}
}

func TestSessionThatEndsItselfIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(Options{})
		defer table.close()
		s := table.mustOpen(t, "a")
		s.mcp.Close()
		synctest.Wait()
		if table.has(s) {
			t.Error("still there")
		}
		if err := s.send([]byte("{}")); err == nil {
			t.Error("send: no error")
		}
	})
}

func TestWaitingMessagesAreBoundedAndCoalesce(t *testing.T) {
	table := newTable(Options{})
	defer table.close()
	s := table.mustOpen(t, "a")
	for range 10 {
		s.send([]byte(`"same"`))
	}
	if len(s.waiting) != 1 {
		t.Errorf("%d messages wait, want one", len(s.waiting))
	}
	for i := range 2 * maxWaiting {
		s.send(fmt.Append(nil, i))
	}
	if len(s.waiting) != maxWaiting || string(s.waiting[maxWaiting-1]) != fmt.Sprint(2*maxWaiting-1) {
		t.Errorf("%d wait, the last %s; want %d and the newest", len(s.waiting), s.waiting[len(s.waiting)-1], maxWaiting)
	}
	big := []byte(strings.Repeat("x", maxWaitingBytes/2+1))
	for i := range byte(4) {
		big[0] = i
		s.send(big)
	}
	if len(s.waiting) != 1 || s.waitingBytes != len(big) {
		t.Errorf("%d wait with %d bytes, want the last alone", len(s.waiting), s.waitingBytes)
	}
}

// texts returns what a reader that has number gets.
func texts(s *stream, number uint64) (got []string) {
	for _, e := range s.take(s.attach(number), number).events {
		got = append(got, string(e.msg))
	}
	return got
}

func TestStreamReplaysTheRest(t *testing.T) {
	s := newStream(1, true, true)
	s.setOpen()
	for i := range 5 {
		if err := s.notify(fmt.Append(nil, i+1)); err != nil {
			t.Fatal(err)
		}
	}
	s.reply([]byte("r"), 200)
	tests := map[uint64][]string{0: {"1", "2", "3", "4", "5", "r"}, 3: {"4", "5", "r"}, 5: {"r"}, 6: nil, 99: nil}
	for number, want := range tests {
		if diff := cmp.Diff(want, texts(s, number)); diff != "" {
			t.Errorf("after %d (-want +got):\n%s", number, diff)
		}
	}
	if s.notify([]byte("late")) == nil {
		t.Error("a message after the response: no error")
	}
	s.reply([]byte("again"), 200)
	if got := texts(s, 5); len(got) != 1 {
		t.Errorf("after a second response: %q", got)
	}
}

func TestStreamWithoutReaderDropsTheOldest(t *testing.T) {
	s := newStream(1, true, true)
	s.setOpen()
	for i := range 3 * maxEvents {
		s.notify(fmt.Append(nil, i+1))
	}
	big := []byte(strings.Repeat("x", 2*maxEventBytes))
	if got := texts(s, 0); len(got) != maxEvents || got[0] != fmt.Sprint(2*maxEvents+1) {
		t.Errorf("%d events from %s, want the newest %d", len(got), got[0], maxEvents)
	}
	s.detach(s.attach(s.last))
	s.reply(big, 200)
	if got := texts(s, 0); len(got) != 1 || len(got[0]) != len(big) {
		t.Errorf("%d events, want the response whatever its size", len(got))
	}
}

func TestSlowReaderHoldsUpItsOwnCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStream(1, true, true)
		r := s.attach(0)
		s.setOpen()
		sent := 0
		go func() {
			for i := range maxEvents + 10 {
				if s.notify(fmt.Append(nil, i+1)) == nil {
					sent++
				}
			}
		}()
		synctest.Wait()
		if sent != maxEvents {
			t.Fatalf("%d sent to a reader that takes none, want %d", sent, maxEvents)
		}
		n := s.take(r, 0)
		synctest.Wait()
		if sent != maxEvents+10 || len(n.events) != maxEvents || string(n.events[0].msg) != "1" {
			t.Fatalf("%d sent, %d taken; want all, without a gap", sent, len(n.events))
		}
		if rest := s.take(r, n.events[len(n.events)-1].number); len(rest.events) != 10 {
			t.Errorf("then %d, want 10", len(rest.events))
		}
	})
}

func TestReaderThatIsReplacedIsToldSo(t *testing.T) {
	s := newStream(1, true, true)
	old := s.attach(0)
	s.attach(0)
	select {
	case <-old.wake:
	default:
		t.Error("not woken")
	}
	if !s.take(old, 0).replaced {
		t.Error("not replaced")
	}
	s.detach(old) // must not take the new one away
	if s.reader == nil || s.lost {
		t.Error("the new reader is gone")
	}
}

func TestStreamNobodyCanResumeIsLost(t *testing.T) {
	s := newStream(1, true, true)
	s.detach(s.attach(0))
	if !errors.Is(s.notify([]byte("x")), errGone) {
		t.Error("notify: want an error, nobody will ever read it")
	}
	s.reply([]byte("r"), 200)
	if len(s.log) != 0 {
		t.Error("the response is kept for nobody")
	}
}

func TestRestingStreamsAreBounded(t *testing.T) {
	table := newTable(Options{MaxReplay: 1000})
	s := table.mustOpen(t, "a")
	other := table.mustOpen(t, "b")
	rest := func(s *session, size int) uint64 {
		st := s.newStream(true)
		st.setOpen()
		s.track(st)
		st.reply([]byte(strings.Repeat("x", size)), 200)
		s.keep(st)
		s.keep(st)
		return st.id
	}
	first := rest(s, 400)
	second := rest(s, 400)
	third := rest(s, 400)
	if s.streams[first] != nil || s.streams[second] == nil || s.streams[third] == nil {
		t.Error("want the oldest to make room")
	}
	if id := rest(other, 400); other.streams[id] != nil {
		t.Error("another session went over the bound of all")
	}
	if got := table.replay.Load(); got != 800 {
		t.Errorf("%d bytes are counted, want 800", got)
	}
	for range 2 * maxResting {
		rest(s, 1)
	}
	if len(s.resting) != maxResting || len(s.streams) != maxResting {
		t.Errorf("%d streams rest, %d are known; want %d", len(s.resting), len(s.streams), maxResting)
	}
	table.close()
	if got := table.replay.Load(); got != 0 {
		t.Errorf("%d bytes are counted at the end, want 0", got)
	}
}

func TestSessionIsNotOpenedWhileClosing(t *testing.T) {
	table := newTable(Options{})
	table.close()
	m := mcp.NewSession(context.WithoutCancel(t.Context()), mcp.R20251125)
	defer m.Close()
	if _, err := table.open(m, primitive.Principal{}); !errors.Is(err, errShuttingDown) {
		t.Errorf("open: %v, want %v", err, errShuttingDown)
	}
}
