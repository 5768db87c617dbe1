package integrity

import (
	"errors"
	"fmt"

	"github.com/mcphost/mcphost/host/primitive"
)

// A Pin is what the operator accepted of one plugin. The zero Pin pins nothing.
type Pin struct {
	// SHA256 of the program, as the configuration has it; empty is not pinned there.
	SHA256 string
	// Entry is that of the lock file, nil if it has none.
	Entry *Entry
}

// Pins reports whether anything that is on disk is pinned.
func (p Pin) Pins() bool { return p.SHA256 != "" || p.Entry != nil }

// A ChangedError says that a plugin is not made of what was accepted.
type ChangedError struct {
	What      string // "program" or "files"
	Want, Got string // digests; empty is not pinned
	By        string // what pins it
	Advice    string
}

// Error says what differs and what to do.
func (e *ChangedError) Error() string {
	switch {
	case e.Want == "":
		return fmt.Sprintf("its %s is not known to %s on %s (sha256 %s): %s", e.What, e.By, Platform(), e.Got, e.Advice)
	case e.Got == "":
		return fmt.Sprintf("%s knows its %s by sha256 %s, and now it has none that can be pinned: %s", e.By, e.What, e.Want, e.Advice)
	}
	return fmt.Sprintf("its %s changed: expected sha256 %s, got %s (pinned by %s): %s", e.What, e.Want, e.Got, e.By, e.Advice)
}

const (
	adviceLock = `if the change is meant, look at it with "mcphost lock diff" and accept it with "mcphost lock"`
	adviceHCL  = `if the change is meant, write the new digest`
)

// Check reports whether a plugin that is made of s is the accepted one; the
// error is a [*ChangedError] for each thing that is not.
func (p Pin) Check(s Sums) error {
	var errs []error
	if p.SHA256 != "" && p.SHA256 != s.Program {
		errs = append(errs, &ChangedError{"program", p.SHA256, s.Program, "sha256 in the configuration", adviceHCL})
	}
	if p.Entry == nil {
		return errors.Join(errs...)
	}
	platform := Platform()
	if want := p.Entry.Program[platform]; want != s.Program {
		errs = append(errs, &ChangedError{"program", want, s.Program, "the lock file", adviceLock})
	}
	if want := p.Entry.Files[platform]; want != s.Files {
		errs = append(errs, &ChangedError{"files", want, s.Files, "the lock file", adviceLock})
	}
	return errors.Join(errs...)
}

// errUnknown and errDrifted are why a definition is quarantined.
var (
	errUnknown = errors.New("the lock file does not know it")
	errDrifted = errors.New("it is not what the lock file has")
)

// Admit reports whether a primitive is one that was accepted. Without an entry
// in the lock file everything is; with one, nothing that is not in it.
func (p Pin) Admit(prim *primitive.Primitive) error {
	if p.Entry == nil || prim.Kind == primitive.KindResource && p.Entry.OpenResources {
		return nil
	}
	return p.admit(Define(prim))
}

// AdmitInstructions is [Pin.Admit] for the instructions of the plugin.
func (p Pin) AdmitInstructions(s string) error {
	if p.Entry == nil || s == "" {
		return nil
	}
	return p.admit(DefineInstructions(s))
}

func (p Pin) admit(d Definition) error {
	known := p.Entry.find(d.id())
	switch {
	case known == nil:
		return errUnknown
	case known.SHA256 != d.SHA256:
		return errDrifted
	}
	return nil
}
