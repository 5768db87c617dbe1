package plugin

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphost/mcphost/host/primitive"
)

const (
	healthInterval = 15 * time.Second
	healthTimeout  = 2 * time.Second
	healthMisses   = 3
)

// A unit is what a supervisor keeps running: an [instance], but for tests.
type unit interface {
	// exited is closed when the process has ended.
	exited() <-chan struct{}
	check(context.Context) error
	// stop ends the process and returns within a few seconds.
	stop(context.Context)
	// reportEnd logs how the process ended.
	reportEnd()
}

// A supervisor keeps one unit running while it is wanted. All that changes the
// state happens in the one goroutine of run; users wait for attempts.
type supervisor[U unit] struct {
	// start starts a unit; it returns within the start timeout.
	start   func(context.Context) (U, error)
	onState func(State)
	log     hclog.Logger
	lazy    bool
	idle    time.Duration // 0: never stop for idleness

	current  atomic.Pointer[U] // the unit that serves, nil if there is none
	uses     atomic.Int64      // that run or wait
	lastUse  atomic.Int64      // Unix nanoseconds, kept if idle is set
	watched  atomic.Bool       // somebody subscribed: not idle
	suspects chan struct{}     // capacity 1: look at the health now
	wakes    chan struct{}     // capacity 1: there is an attempt to make
	drains   chan struct{}     // capacity 1: closing was set
	restarts chan struct{}     // capacity 1

	mu      sync.Mutex // guards what follows
	state   State
	since   time.Time   // when state began
	why     error       // of Backoff, CrashLoop and Failed
	pending *attempt[U] // that users wait for; nil if none do

	closing atomic.Bool   // get fails from now on
	drained chan struct{} // capacity 1: closing, and there is no use any more

	record record // belongs to run
}

// An attempt is one start that users wait for.
type attempt[U unit] struct {
	done chan struct{} // closed when unit and err are set
	unit U
	err  error
}

func newSupervisor[U unit](start func(context.Context) (U, error), o *Options, log hclog.Logger) *supervisor[U] {
	return &supervisor[U]{
		start: start, onState: o.OnState, log: log, lazy: o.Lazy, idle: o.IdleTimeout,
		suspects: make(chan struct{}, 1), wakes: make(chan struct{}, 1), restarts: make(chan struct{}, 1),
		drains: make(chan struct{}, 1), drained: make(chan struct{}, 1),
	}
}

// errClosed and the like are why there is no unit to use.
var (
	errClosed   = fmt.Errorf("the plugin was closed: %w", primitive.ErrRetired)
	errDraining = fmt.Errorf("the plugin is closing: %w", primitive.ErrRetired)
)

// get returns the unit that serves. If there is none it is started at once,
// whatever the backoff says, and get waits for that one start.
func (s *supervisor[U]) get(ctx context.Context) (U, error) {
	if u := s.serving(); u != nil && !s.closing.Load() {
		return *u, nil
	}
	var none U
	a, err := s.want()
	if err != nil {
		return none, err
	}
	select {
	case <-a.done:
		return a.unit, a.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// serving returns the unit that serves, nil if there is none.
func (s *supervisor[U]) serving() *U {
	u := s.current.Load()
	if u == nil || closed((*u).exited()) {
		return nil
	}
	return u
}

// want returns the attempt under way, or asks for one.
func (s *supervisor[U]) want() (*attempt[U], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		return nil, errDraining
	}
	if u := s.serving(); u != nil {
		a := &attempt[U]{done: make(chan struct{}), unit: *u}
		close(a.done)
		return a, nil
	}
	if s.state == Failed || s.state == CrashLoop {
		return nil, fmt.Errorf("the plugin is in state %s: %w", s.state, s.why)
	}
	if s.pending == nil {
		s.pending = &attempt[U]{done: make(chan struct{})}
		nudge(s.wakes)
	}
	return s.pending, nil
}

// nudge makes sure that c, of capacity 1, holds something.
func nudge(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // it does
	}
}

// resolve ends the attempt that users wait for, if any.
func (s *supervisor[U]) resolve(u U, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.pending; a != nil {
		a.unit, a.err = u, err
		close(a.done)
		s.pending = nil
	}
	clear1(s.wakes) // they were for this attempt
}

// set changes the state and says so.
func (s *supervisor[U]) set(state State, why error) {
	s.mu.Lock()
	changed := s.state != state
	s.setLocked(state, why)
	s.mu.Unlock()
	if changed {
		s.onState(state)
	}
}

func (s *supervisor[U]) setLocked(state State, why error) {
	if s.state != state || s.since.IsZero() {
		s.since = time.Now()
	}
	s.state, s.why = state, why
}

// status returns the state, and why for those that have a reason.
func (s *supervisor[U]) status() (State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state, s.why
}

// enter counts a use; leave must follow.
func (s *supervisor[U]) enter() { s.uses.Add(1) }

func (s *supervisor[U]) leave() {
	if s.idle > 0 {
		s.lastUse.Store(time.Now().UnixNano())
	}
	if s.uses.Add(-1) == 0 && s.closing.Load() {
		nudge(s.drained)
	}
}

// drain makes get fail from now on, and returns when nothing is in use any
// more or ctx is done.
func (s *supervisor[U]) drain(ctx context.Context) {
	s.mu.Lock()
	s.closing.Store(true)
	s.mu.Unlock()
	nudge(s.drains)
	for s.uses.Load() > 0 {
		select {
		case <-s.drained:
		case <-ctx.Done():
			return
		}
	}
}

// run keeps a unit running until ctx is done, and returns when it has ended.
func (s *supervisor[U]) run(ctx context.Context) {
	next := s.once
	if s.lazy {
		next = s.rest
	}
	for next != nil { // not until ctx is done: a step may leave a unit to the next
		next = next(ctx)
	}
	s.mu.Lock()
	s.closing.Store(true)
	s.mu.Unlock()
	var none U
	s.resolve(none, errClosed)
	s.set(Stopped, nil)
}

// A step is what the supervisor does until it does something else.
type step func(context.Context) step

// rest waits, without a process, until somebody wants one.
func (s *supervisor[U]) rest(ctx context.Context) step {
	select {
	case <-ctx.Done():
		return nil
	case <-s.wakes:
	case <-s.restarts:
	}
	return s.once
}

// once makes one attempt.
func (s *supervisor[U]) once(ctx context.Context) step {
	if ctx.Err() != nil {
		return nil
	}
	s.set(Starting, nil)
	u, err := s.start(ctx)
	if err != nil {
		return s.startFailed(ctx, err)
	}
	clear1(s.suspects)
	s.lastUse.Store(time.Now().UnixNano())
	s.current.Store(&u)
	s.resolve(u, nil)
	s.set(Ready, nil)
	return func(ctx context.Context) step { return s.serve(ctx, u) }
}

// clear1 empties c, of capacity 1.
func clear1(c <-chan struct{}) {
	select {
	case <-c:
	default:
	}
}

func (s *supervisor[U]) startFailed(ctx context.Context, err error) step {
	if ctx.Err() != nil {
		return nil
	}
	if Permanent(err) {
		s.log.Error("plugin cannot start", "error", err)
		return s.giveUp(Failed, err)
	}
	s.log.Error("plugin did not start", "error", err)
	next := s.again(time.Time{}, err)
	var none U
	s.resolve(none, err)
	return next
}

// again starts anew after a while, or gives up after too many ends.
func (s *supervisor[U]) again(ready time.Time, why error) step {
	if s.record.ended(time.Now(), ready) {
		s.log.Error("plugin ended too often and stays down", "attempt", s.record.attempt)
		return s.giveUp(CrashLoop, why)
	}
	// Who came since the end waits already, and backoff wakes for them.
	s.set(Backoff, why)
	return s.backoff
}

func (s *supervisor[U]) giveUp(state State, why error) step {
	var none U
	s.set(state, why) // before resolve: who comes now must not wait
	s.resolve(none, why)
	return func(ctx context.Context) step {
		select {
		case <-ctx.Done():
			return nil
		case <-s.restarts:
			s.record = record{}
			return s.once
		}
	}
}

// backoff waits until it is time to start again, or somebody wants it now.
func (s *supervisor[U]) backoff(ctx context.Context) step {
	select {
	case <-s.wakes: // somebody came before we did
		return s.once
	default:
	}
	d := s.record.delay()
	s.log.Info("plugin starts again", "attempt", s.record.attempt, "delay", d)
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil
	case <-timer.C:
	case <-s.wakes:
	case <-s.restarts:
	}
	return s.once
}

// serve watches over u until it ends or is ended.
func (s *supervisor[U]) serve(ctx context.Context, u U) step {
	ready := time.Now()
	health := time.NewTicker(healthInterval)
	defer health.Stop()
	idle := time.NewTimer(s.idle)
	defer idle.Stop()
	if s.idle <= 0 {
		idle.Stop()
	}
	for misses := 0; ; {
		select {
		case <-u.exited():
			return s.crashed(ctx, u, ready, errors.New("its process ended"))
		case <-ctx.Done():
			s.current.Store(nil)
			u.stop(ctx)
			return nil
		case <-s.restarts:
			s.current.Store(nil)
			u.stop(ctx)
			return s.once
		case <-idle.C:
			left := s.stopIdle()
			if left == 0 {
				u.stop(ctx)
				s.log.Info("plugin stopped because nobody used it")
				return s.rest
			}
			idle.Reset(left)
			continue
		case <-s.drains:
			s.set(Draining, nil)
			continue
		case <-health.C:
		case <-s.suspects:
		}
		err := s.healthy(ctx, u)
		if misses = s.judge(misses, err); misses >= healthMisses {
			return s.crashed(ctx, u, ready, fmt.Errorf("it missed %d health checks and was killed: %w", misses, err))
		}
	}
}

func (s *supervisor[U]) healthy(ctx context.Context, u U) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	return u.check(ctx)
}

// judge returns the misses in a row after a check that ended with err.
func (s *supervisor[U]) judge(misses int, err error) int {
	state := Unhealthy
	if err == nil {
		state, misses = Ready, 0
	} else {
		misses++
		s.log.Warn("plugin missed a health check", "error", err)
	}
	if s.closing.Load() {
		state = Draining
	}
	s.set(state, err)
	return misses
}

// crashed cleans up behind a unit that ended unasked.
func (s *supervisor[U]) crashed(ctx context.Context, u U, ready time.Time, why error) step {
	s.current.Store(nil)
	u.stop(ctx)
	u.reportEnd()
	if ctx.Err() != nil {
		return nil
	}
	return s.again(ready, why)
}

// stopIdle withdraws the unit if nobody uses it and returns 0, or else the
// time until it is worth to look again.
func (s *supervisor[U]) stopIdle() time.Duration {
	unused := time.Since(time.Unix(0, s.lastUse.Load()))
	if unused < s.idle {
		return s.idle - unused
	}
	if s.watched.Load() {
		return s.idle
	}
	s.mu.Lock()
	u := s.current.Swap(nil)
	// A use counts itself before it looks for a unit: either it is counted
	// here, or it finds none and asks for one.
	if s.uses.Load() > 0 {
		s.current.Store(u)
		s.mu.Unlock()
		return s.idle
	}
	s.setLocked(Stopped, nil)
	s.mu.Unlock()
	s.onState(Stopped)
	return 0
}
