package plugin

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
)

// A fakeUnit is a process that does what the test says.
type fakeUnit struct {
	gone    chan struct{}
	once    sync.Once
	health  atomic.Int32 // how check answers
	reports int
}

func (f *fakeUnit) exited() <-chan struct{} { return f.gone }
func (f *fakeUnit) die()                    { f.once.Do(func() { close(f.gone) }) }
func (f *fakeUnit) stop(context.Context)    { f.die() }
func (f *fakeUnit) reportEnd()              { f.reports++ }
func (f *fakeUnit) check(ctx context.Context) error {
	switch f.health.Load() {
	case sick:
		return errNotServing
	case hung:
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

// How a fakeUnit can be.
const (
	well int32 = iota
	sick
	hung // a check ends only when its time is over
)

// A stage runs a supervisor over fake units.
type stage struct {
	*supervisor[*fakeUnit]
	t      *testing.T // of the bubble
	starts []time.Time
	states []State
	fail   func(n int) error // of the nth start, from 1
	unit   *fakeUnit         // the newest
	make   func() *fakeUnit
}

func newStage(t *testing.T, o Options) *stage {
	t.Helper()
	s := &stage{fail: func(int) error { return nil }, make: func() *fakeUnit { return &fakeUnit{} }}
	o.OnState = func(x State) { s.states = append(s.states, x) }
	s.supervisor = newSupervisor(func(context.Context) (*fakeUnit, error) {
		s.starts = append(s.starts, time.Now())
		if err := s.fail(len(s.starts)); err != nil {
			return nil, err
		}
		s.unit = s.make()
		s.unit.gone = make(chan struct{})
		return s.unit, nil
	}, &o, hclog.NewNullLogger())
	return s
}

// play runs the supervisor in a bubble of time.
func play(t *testing.T, o Options, f func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, o)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); s.run(ctx) }()
		defer func() { cancel(); <-done }()
		synctest.Wait()
		s.t = t
		f(s)
	})
}

func (s *stage) want(t *testing.T, state State) {
	t.Helper()
	synctest.Wait()
	if got, why := s.status(); got != state {
		t.Fatalf("got state %s (%v), want %s", got, why, state)
	}
}

func TestBackoffGrowsAndIsForgotten(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		t := s.t
		s.want(t, Ready)
		for n, most := range []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second} {
			begin := time.Now()
			s.unit.die()
			s.want(t, Backoff)
			time.Sleep(most + 2*time.Millisecond) // in the bubble
			s.want(t, Ready)
			if took := s.starts[len(s.starts)-1].Sub(begin); took > most+time.Millisecond {
				t.Errorf("start after end %d took %v, want at most %v", n+1, took, most)
			}
		}
		time.Sleep(steadyTime)
		s.unit.die()
		s.want(t, Backoff)
		time.Sleep(backoffBase + 2*time.Millisecond)
		s.want(t, Ready)
	})
}

func TestUseWakesAPluginInBackoff(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		t := s.t
		for range loopExits {
			s.unit.die()
			s.want(t, Backoff)
			begin := time.Now()
			if _, err := s.get(t.Context()); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begin); took != 0 {
				t.Errorf("the use waited %v", took)
			}
		}
	})
}

func TestUseDuringACrashWaitsForTheNextProcess(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		t := s.t
		old := s.unit
		old.die() // and the supervisor has not seen it
		u, err := s.get(t.Context())
		if err != nil || u == old {
			t.Errorf("got %v %v, want the next process", u, err)
		}
	})
}

func TestBackoffIsNotCutShortByThoseServed(t *testing.T) {
	play(t, Options{Lazy: true}, func(s *stage) {
		t := s.t
		for range 2 { // the first one starts it
			if _, err := s.get(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		s.unit.die()
		s.want(t, Backoff)
	})
}

func TestFailedStartEndsThoseWhoWait(t *testing.T) {
	play(t, Options{Lazy: true}, func(s *stage) {
		t := s.t
		broken := errors.New("no luck")
		s.fail = func(n int) error {
			if n == 1 {
				return broken
			}
			return nil
		}
		if _, err := s.get(t.Context()); !errors.Is(err, broken) {
			t.Errorf("got %v, want %v", err, broken)
		}
		s.want(t, Backoff)
		if _, err := s.get(t.Context()); err != nil {
			t.Errorf("got %v, want the second start to do", err)
		}
	})
}

func TestPermanentFailureIsNotRetried(t *testing.T) {
	play(t, Options{Lazy: true}, func(s *stage) {
		t := s.t
		s.fail = func(int) error { return permanentf("wrong for ever") }
		for range 3 {
			if _, err := s.get(t.Context()); !Permanent(err) {
				t.Errorf("got %v, want a permanent error", err)
			}
		}
		time.Sleep(time.Hour)
		s.want(t, Failed)
		if len(s.starts) != 1 {
			t.Errorf("got %d starts, want 1", len(s.starts))
		}
		s.fail = func(int) error { return nil }
		nudge(s.restarts)
		s.want(t, Ready)
	})
}

func TestManyEndsAreACrashLoop(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		t := s.t
		s.fail = func(int) error { return errors.New("no luck") }
		s.unit.die()
		time.Sleep(loopWindow)
		s.want(t, CrashLoop)
		if n := len(s.starts) - 1; n != loopExits {
			t.Errorf("got %d starts after the crash, want %d", n, loopExits)
		}
		if _, err := s.get(t.Context()); err == nil {
			t.Error("a use was not refused")
		}
	})
}

func TestRareEndsAreNoCrashLoop(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		t := s.t
		for range 20 {
			time.Sleep(loopWindow/loopExits + time.Second)
			s.want(t, Ready)
			s.unit.die()
			s.want(t, Backoff)
			time.Sleep(backoffMax)
		}
	})
}

func TestThreeMissedChecksEndAProcess(t *testing.T) {
	for name, health := range map[string]int32{"hung": hung, "not serving": sick} {
		t.Run(name, func(t *testing.T) {
			play(t, Options{}, func(s *stage) {
				t := s.t
				u := s.unit
				u.health.Store(health)
				time.Sleep(2*healthInterval + healthTimeout)
				s.want(t, Unhealthy)
				if closed(u.exited()) {
					t.Fatal("killed after two misses")
				}
				time.Sleep(healthInterval + healthTimeout)
				synctest.Wait()
				if !closed(u.exited()) || u.reports != 1 {
					t.Errorf("exited %v, %d reports; want it killed and reported", closed(u.exited()), u.reports)
				}
				time.Sleep(backoffBase + time.Millisecond)
				s.want(t, Ready)
			})
		})
	}
}

func TestHealthComesBack(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		t := s.t
		u := s.unit
		for range 5 {
			u.health.Store(sick)
			time.Sleep(2 * healthInterval)
			s.want(t, Unhealthy)
			u.health.Store(well)
			time.Sleep(healthInterval)
			s.want(t, Ready)
		}
		if s.unit != u {
			t.Error("the process was replaced")
		}
	})
}

func TestIdleProcessStopsButNotInAUse(t *testing.T) {
	play(t, Options{Lazy: true, IdleTimeout: time.Minute}, func(s *stage) {
		t := s.t
		s.want(t, Stopped)
		s.enter()
		if _, err := s.get(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		s.want(t, Ready)
		s.leave()
		time.Sleep(50 * time.Second)
		s.want(t, Ready)
		time.Sleep(time.Minute)
		s.want(t, Stopped)
		s.watched.Store(true)
		if _, err := s.get(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		s.want(t, Ready)
	})
}

func TestUnitThatStartsDuringCloseIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{})
		ctx, cancel := context.WithCancel(t.Context())
		s.fail = func(int) error { cancel(); return nil }
		s.run(ctx)
		if !closed(s.unit.exited()) {
			t.Error("the unit still runs")
		}
	})
}

func TestStatesAreTold(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		t := s.t
		s.unit.die()
		s.want(t, Backoff)
		s.drain(t.Context())
		if want := []State{Starting, Ready, Backoff}; !slices.Equal(s.states, want) {
			t.Errorf("got %v, want %v", s.states, want)
		}
	})
}

func TestStateNames(t *testing.T) {
	for _, s := range States {
		if name := s.String(); name == "" || name[0] == 's' && len(name) > 8 {
			t.Errorf("state %d has the name %q", s, name)
		}
	}
	if len(States) != len(stateNames) {
		t.Errorf("%d states, %d names", len(States), len(stateNames))
	}
}
