package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphost/mcphost/host/sandbox"
)

// TestDoctorFailsWhereWhatIsRequiredIsMissing looks at machines that this one is not.
func TestDoctorFailsWhereWhatIsRequiredIsMissing(t *testing.T) {
	good := func(g sandbox.Guarantee) sandbox.Status { return sandbox.Status{Guarantee: g, By: "something"} }
	bad := func(g sandbox.Guarantee) sandbox.Status { return sandbox.Status{Guarantee: g, Why: "no reason"} }
	tests := map[string]struct {
		status []sandbox.Status
		want   []string
	}{
		"all is there":        {[]sandbox.Status{good(sandbox.FS), good(sandbox.Net), good(sandbox.Unix)}, []string{}},
		"nobody requires it":  {[]sandbox.Status{good(sandbox.FS), good(sandbox.Net), bad(sandbox.Unix)}, []string{}},
		"required is missing": {[]sandbox.Status{bad(sandbox.FS), good(sandbox.Net), bad(sandbox.Unix)}, []string{"fs"}},
		"both are":            {[]sandbox.Status{bad(sandbox.FS), bad(sandbox.Net)}, []string{"fs", "net"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := new(globals).examine(sandbox.Machine{Status: test.status, Advice: []string{"buy another"}})
			if d := cmp.Diff(test.want, c.Missing); d != "" {
				t.Errorf("missing (-want +got):\n%s", d)
			}
			var exit exitError
			if failed := errors.As(c.verdict(), &exit); failed != (len(test.want) > 0) {
				t.Errorf("the command fails: %t, with %v missing", failed, test.want)
			}
			var b strings.Builder
			if err := c.print(&b); err != nil {
				t.Fatal(err)
			}
			for _, st := range test.status {
				if !st.Holds() && !strings.Contains(b.String(), "NOT ENFORCED: no reason") || !strings.Contains(b.String(), "buy another") {
					t.Errorf("it does not say why, or what to do:\n%s", b.String())
				}
			}
		})
	}
}
