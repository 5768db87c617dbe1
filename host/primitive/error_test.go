package primitive_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mcphost/mcphost/host/primitive"
)

// TestErrorSaysWhichFailure: an operator reads the log, and not this package.
func TestErrorSaysWhichFailure(t *testing.T) {
	if got, want := primitive.Wrap(primitive.InvalidResult, errors.New("not JSON")).Error(), "invalid result: not JSON"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	seen := make(map[string]bool)
	for _, f := range primitive.Failures {
		if s := f.String(); strings.Contains(s, "(") || seen[s] {
			t.Errorf("failure %d has no name of its own: %q", uint8(f), s)
		}
		seen[f.String()] = true
	}
}
