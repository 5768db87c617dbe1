package sandbox

import (
	"fmt"
	"strings"
)

// Report says which guarantees hold for one running plugin, and by what.
type Report struct {
	Mode   Mode     `json:"mode"`
	Status []Status `json:"status"`          // one for each of Guarantees, in that order
	Notes  []string `json:"notes,omitempty"` // what a person should know besides
}

// Status is how one guarantee stands.
type Status struct {
	Guarantee Guarantee `json:"guarantee"`
	By        string    `json:"by,omitempty"`      // what enforces it; empty if nothing does
	Granted   bool      `json:"granted,omitempty"` // the grant gives it away: there is nothing to enforce
	Why       string    `json:"why,omitempty"`     // why it is not enforced, and what to do about it
}

// Holds reports whether the guarantee is enforced or was given away on purpose.
func (s Status) Holds() bool { return s.By != "" || s.Granted }

// String is one line for people.
func (s Status) String() string {
	switch {
	case s.By != "":
		return fmt.Sprintf("%s: enforced by %s", s.Guarantee, s.By)
	case s.Granted:
		return fmt.Sprintf("%s: open, as granted", s.Guarantee)
	default:
		return fmt.Sprintf("%s: not enforced: %s", s.Guarantee, s.Why)
	}
}

// Missing returns the guarantees that do not hold.
func (r Report) Missing() []Status { return missing(r.Status, Guarantees()) }

// Find returns how g stands.
func (r Report) Find(g Guarantee) Status {
	for _, s := range r.Status {
		if s.Guarantee == g {
			return s
		}
	}
	return Status{Guarantee: g, Why: "the launcher did not report it"}
}

func missing(all []Status, among []Guarantee) []Status {
	var out []Status
	for _, g := range among {
		if s := (Report{Status: all}).Find(g); !s.Holds() {
			out = append(out, s)
		}
	}
	return out
}

// Exit codes of the launcher. A plugin may use the same numbers; a launcher
// that failed says so in the error of Launch.Report, too.
const (
	ExitSandbox  = 125 // the sandbox could not be built, or lacks a required guarantee
	ExitExec     = 126 // the program is there and cannot be run
	ExitNotFound = 127 // the program is not there
)

// LaunchError is the launcher's own word on why the plugin does not run.
// Starting again changes nothing until a person has acted.
type LaunchError struct {
	Code    int    `json:"code"` // ExitSandbox, ExitExec or ExitNotFound
	Message string `json:"message"`
}

// Error says what went wrong and what to do.
func (e *LaunchError) Error() string { return "sandbox: " + e.Message }

func refusal(lacking []Status) *LaunchError {
	var b strings.Builder
	b.WriteString("required and not enforced here:")
	for _, s := range lacking {
		fmt.Fprintf(&b, " %s (%s);", s.Guarantee, s.Why)
	}
	b.WriteString(` see "mcphost doctor", or set mode = "best_effort" in the sandbox block to run without`)
	return &LaunchError{Code: ExitSandbox, Message: b.String()}
}
