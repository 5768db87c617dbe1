package streamhttp

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// A body that is sent slowly stays in memory as long as that takes; many of
// them must not fill it.
func TestBodiesThatAreBeingReadAreBoundedTogether(t *testing.T) {
	const size = 1 << 20
	var all reading
	all.bytes.Store(maxReading - size)
	slow, sender := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := all.body(slow, size)
		done <- err
	}()
	if _, err := io.WriteString(sender, strings.Repeat("x", size)); err != nil {
		t.Fatal(err)
	}
	if _, err := sender.Write(nil); err != nil { // it returns when the body is read on, so that all of it counts
		t.Fatal(err)
	}
	if _, err := all.body(strings.NewReader(strings.Repeat("x", size)), size); !errors.Is(err, errNoRoom) {
		t.Errorf("one more body: %v, want %v", err, errNoRoom)
	}
	if _, err := all.body(strings.NewReader(strings.Repeat("x", bodyStart)), size); err != nil {
		t.Errorf("a small body: %v", err)
	}
	sender.Close()
	if err := <-done; err != nil {
		t.Errorf("the slow body: %v", err)
	}
	if left := all.bytes.Load(); left != maxReading-size {
		t.Errorf("%d bytes still count at the end", left-(maxReading-size))
	}
}
