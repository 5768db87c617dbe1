package primitive

import (
	"errors"
	"fmt"
)

// A Failure classifies how a use failed, in terms that every lineage can put on the wire.
type Failure uint8

// The failures.
const (
	Internal         Failure = iota // a fault of the host; the zero value on purpose
	NotFound                        // no such primitive, or not for this caller
	InvalidArguments                // the arguments do not satisfy the input schema
	InvalidResult                   // the source broke its own output schema or the contract
	Denied                          // policy said no
	Unavailable                     // the source cannot serve now
	Crashed                         // the source's process ended while it served
	TimedOut                        // the deadline passed
	Busy                            // a bound on concurrency or a queue is reached
	TooLarge                        // a result is larger than the limit
	NeedsInput                      // input that this client cannot give is needed
	Foreign                         // the source gave a JSON-RPC error of its own
)

// Failures lists all failures, for tables and tests.
var Failures = [...]Failure{
	Internal, NotFound, InvalidArguments, InvalidResult, Denied, Unavailable, Crashed, TimedOut, Busy, TooLarge, NeedsInput, Foreign,
}

var failureNames = [...]string{
	"internal error", "not found", "invalid arguments", "invalid result", "denied", "unavailable", "crashed", "timed out", "busy",
	"too large", "needs input", "foreign error",
}

// String returns the words for f, as logs have it.
func (f Failure) String() string {
	if int(f) < len(failureNames) {
		return failureNames[f]
	}
	return fmt.Sprintf("failure(%d)", uint8(f))
}

// An Error is the failure of one use.
type Error struct {
	Failure Failure

	// Detail is for the client: it holds no path, secret or text of another
	// caller. Empty leaves the fault's fixed text alone.
	Detail string

	// Incident is an id under which the log has more; empty if there is none.
	Incident string

	// Code and Data are those of a [Foreign] error, whose message is Detail.
	Code int
	Data []byte

	// Err is the cause, for the log alone; it may be nil.
	Err error
}

// Error returns the whole story, for the log.
func (e *Error) Error() string {
	s := e.Detail
	if s == "" {
		s = e.Failure.String()
	}
	if e.Err != nil {
		s = fmt.Sprintf("%s: %v", s, e.Err)
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an [*Error] whose detail a client may see.
func Errorf(f Failure, format string, args ...any) *Error {
	return &Error{Failure: f, Detail: fmt.Sprintf(format, args...)}
}

// Wrap returns an [*Error] with a cause that no client sees.
func Wrap(f Failure, cause error) *Error { return &Error{Failure: f, Err: cause} }

// ErrRetired is the cause of an [Unavailable] failure of a source that takes no
// more uses because another one takes its place. Nothing was done: who looks
// the primitive up again finds its new source.
var ErrRetired = errors.New("the source was replaced")
