package events_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/mcphost/mcphost/host/events"
)

// ready reports whether s is signalled now.
func ready(s *events.Subscription) bool {
	select {
	case <-s.Ready():
		return true
	default:
		return false
	}
}

func TestChangesCoalesceUntilTaken(t *testing.T) {
	var b events.Bus
	s := b.Subscribe(events.Change{Tools: true, URIs: []string{"u"}})
	defer s.Close()
	for range 1000 {
		b.Publish(events.Change{Tools: true, Prompts: true, URIs: []string{"u", "other"}})
	}
	if !ready(s) {
		t.Fatal("not signalled")
	}
	got := s.Take()
	if !got.Tools || got.Prompts || !slices.Equal(got.URIs, []string{"u"}) {
		t.Errorf("took %+v, want tools and u alone", got)
	}
	if again := s.Take(); !again.None() || ready(s) {
		t.Errorf("the same change twice: %+v", again)
	}
}

func TestWhatIsNotOfInterestIsNotSignalled(t *testing.T) {
	var b events.Bus
	s := b.Subscribe(events.Change{Prompts: true})
	defer s.Close()
	b.Publish(events.Change{Tools: true, Resources: true, URIs: []string{"u"}})
	if ready(s) {
		t.Errorf("signalled for %+v", s.Take())
	}
}

func TestUpdateKeepsWhatStillMatters(t *testing.T) {
	var b events.Bus
	s := b.Subscribe(events.Change{URIs: []string{"a", "b"}})
	defer s.Close()
	b.Publish(events.Change{URIs: []string{"a", "b"}})
	s.Update(events.Change{URIs: []string{"b", "c"}})
	if got := s.Take().URIs; !slices.Equal(got, []string{"b"}) {
		t.Errorf("took %v, want b", got)
	}
}

func TestWatchedIsTheUnion(t *testing.T) {
	var sets [][]string
	b := events.Bus{OnWatch: func(uris []string) { sets = append(sets, uris) }}
	one := b.Subscribe(events.Change{URIs: []string{"a", "b"}})
	two := b.Subscribe(events.Change{URIs: []string{"b"}})
	two.Update(events.Change{URIs: []string{"b", "c"}})
	one.Close()
	one.Close()
	two.Close()
	two.Update(events.Change{URIs: []string{"z"}})
	want := [][]string{{"a", "b"}, {"a", "b", "c"}, {"b", "c"}, nil}
	if fmt.Sprint(sets) != fmt.Sprint(want) {
		t.Errorf("OnWatch saw %v, want %v", sets, want)
	}
	if got := b.Watched(); len(got) != 0 {
		t.Errorf("%v still watched", got)
	}
}

func TestConcurrentUse(t *testing.T) {
	b := events.Bus{OnWatch: func([]string) {}}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 200 {
				s := b.Subscribe(events.Change{Tools: true, URIs: []string{fmt.Sprint(j % 5)}})
				b.Publish(events.Change{Tools: true, URIs: []string{fmt.Sprint(i)}})
				s.Update(events.Change{URIs: []string{fmt.Sprint(i)}})
				s.Take()
				s.Close()
			}
		})
	}
	wg.Wait()
	if got := b.Watched(); len(got) != 0 {
		t.Errorf("%v still watched", got)
	}
}
