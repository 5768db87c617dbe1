package sdk

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// Codes of JSON-RPC that a plugin may want for an [Error].
const (
	CodeInvalidParams = -32602
	CodeInternalError = -32603
)

// An Error is a failure that MCP puts on the wire as a JSON-RPC error with this code, in place of the error
// result that any other error of a tool becomes. The host passes only codes that a plugin may use.
type Error struct {
	Code    int
	Message string
	Data    any // encoded as JSON; nil is none
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// NotFound returns the error for a resource that does not exist.
func NotFound(uri string) *Error {
	return &Error{Code: CodeInvalidParams, Message: "resource not found", Data: map[string]string{"uri": uri}}
}

// outcome is how a handler ended: exactly one field is set.
type outcome struct {
	input *pluginv1.InputRequired
	err   *pluginv1.Error
	tool  *pluginv1.ToolResult // a tool's error result
}

// fail translates what a handler returned. Questions that were asked come first: whatever the handler made of
// the error, it cannot have gone on without the answer. A nil outcome is success.
func (c *Call) fail(subject string, err error) (*outcome, error) {
	if input := c.asked(); input != nil {
		return &outcome{input: input}, nil
	}
	if err == nil {
		return nil, nil
	}
	if input, ok := errors.AsType[*InputRequired](err); ok {
		required, err := input.toProto()
		return &outcome{input: required}, err
	}
	if own, ok := errors.AsType[*Error](err); ok {
		e := &pluginv1.Error{Code: int32(own.Code), Message: valid(own.Message)}
		if own.Data != nil {
			var err error
			if e.DataJson, err = encodeJSON(own.Data); err != nil {
				return nil, fmt.Errorf("encoding the data of an error of %s: %w", subject, err)
			}
		}
		return &outcome{err: e}, nil
	}
	return &outcome{err: &pluginv1.Error{Code: CodeInternalError, Message: valid(err.Error())}, tool: errorResult(err.Error())}, nil
}

// failRead is fail for a resource: a file that does not exist is a resource that does not exist.
func (c *Call) failRead(uri string, err error) (*outcome, error) {
	if _, own := errors.AsType[*Error](err); !own && errors.Is(err, fs.ErrNotExist) {
		err = NotFound(uri)
	}
	return c.fail("resource", err)
}

// guard runs fn. A panic in it becomes an error that says nothing but where to look: the log has the rest
// under the same incident id.
func guard(p *Plugin, subject string, fn func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			incident := rand.Text()[:12]
			p.log.Error("handler panicked", "primitive", subject, "incident", incident, "error", fmt.Sprint(r), "stack", string(debug.Stack()))
			err = fmt.Errorf("internal error in %s (incident %s)", subject, incident)
		}
	}()
	return fn()
}
