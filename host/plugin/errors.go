package plugin

import (
	"errors"
	"fmt"
)

// A permanentError is a failure that a second try would meet again.
type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

func permanentf(format string, args ...any) error {
	return &permanentError{fmt.Errorf(format, args...)}
}

// Permanent reports whether err, of a start, is one that trying again cannot
// mend: the command, the configuration, the sandbox or the version is wrong.
func Permanent(err error) bool {
	var p *permanentError
	return errors.As(err, &p)
}
