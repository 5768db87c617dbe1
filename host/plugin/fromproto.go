package plugin

import (
	"context"
	"errors"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/primitive"
	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// failures are what a gRPC status of a plugin means. One that is not here is
// the plugin's breach of the contract: a failure that clients should see is an
// Error outcome, not a status.
var failures = map[codes.Code]primitive.Failure{
	codes.InvalidArgument:    primitive.InvalidArguments,
	codes.NotFound:           primitive.NotFound,
	codes.DeadlineExceeded:   primitive.TimedOut,
	codes.ResourceExhausted:  primitive.Busy,
	codes.PermissionDenied:   primitive.Denied,
	codes.Unauthenticated:    primitive.Denied,
	codes.Unavailable:        primitive.Unavailable,
	codes.Unimplemented:      primitive.InvalidResult,
	codes.FailedPrecondition: primitive.Unavailable,
	codes.Aborted:            primitive.Unavailable,
	codes.Canceled:           primitive.Unavailable,
}

// failure translates how a use of i ended. It is the one place that knows what
// gRPC says.
func (p *Plugin) failure(ctx context.Context, i *instance, err error) *primitive.Error {
	var own *primitive.Error
	if errors.As(err, &own) {
		return own
	}
	s := status.Convert(err)
	switch code := s.Code(); {
	case ctx.Err() != nil:
		if code == codes.DeadlineExceeded {
			p.suspect()
		}
		return ended(ctx)
	case code == codes.Unavailable || code == codes.Canceled:
		// The connection broke, which is the first sign of a process' end.
		if i.gone() {
			return &primitive.Error{Failure: primitive.Crashed, Incident: i.incident, Err: err}
		}
		p.suspect()
		return primitive.Wrap(primitive.Unavailable, err)
	case code == codes.ResourceExhausted && strings.Contains(s.Message(), "larger than max"):
		return primitive.Wrap(primitive.TooLarge, err)
	case code == codes.InvalidArgument:
		return &primitive.Error{Failure: primitive.InvalidArguments, Detail: clean(s.Message(), maxText, true), Err: err}
	case code == codes.Internal && isOurs(s.Message()):
		return primitive.Wrap(primitive.InvalidResult, err)
	default:
		return primitive.Wrap(failures[code], err) // Internal where there is none
	}
}

// isOurs reports whether an Internal status is of our side of the connection,
// which could not read what the plugin sent.
func isOurs(message string) bool {
	return strings.Contains(message, "unmarshal") || strings.Contains(message, "invalid UTF-8")
}

// ended says how ctx ended a use.
func ended(ctx context.Context) *primitive.Error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return primitive.Wrap(primitive.TimedOut, ctx.Err())
	}
	return primitive.Wrap(primitive.Internal, ctx.Err()) // nobody waits for it any more
}

// unavailable says why there is no process to use.
func (p *Plugin) unavailable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ended(ctx)
	}
	return primitive.Wrap(primitive.Unavailable, err)
}

// suspect has the plugin's health looked at now.
func (p *Plugin) suspect() { nudge(p.sup.suspects) }

const (
	// resourceNotFound is how a plugin of the older revisions says that there
	// is no such resource.
	resourceNotFound = -32002
	maxErrorData     = 64 << 10
)

// foreign translates an error that the plugin wants its client to see.
func foreign(e *pluginv1.Error) error {
	out := &primitive.Error{
		Failure: primitive.Foreign, Code: int(e.GetCode()), Detail: clean(e.GetMessage(), maxText, true),
	}
	if data := e.GetDataJson(); len(data) > 0 {
		switch {
		case len(data) > maxErrorData:
			return brokenContract("the data of an error has %d bytes", len(data))
		case !jsonrpc.Valid(data):
			return brokenContract("the data of an error is not JSON")
		}
		out.Data = line(data)
	}
	return out
}
