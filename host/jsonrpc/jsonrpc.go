// Package jsonrpc reads and writes JSON-RPC 2.0 messages as bytes.
//
// It knows nothing of MCP. One pass checks a message and finds its parts; an
// id, params, result and every JSON value in them stay the bytes that the
// sender wrote, so that a response echoes an id exactly and what is passed on
// is what was received.
package jsonrpc

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// A Code is the number in a JSON-RPC error object.
type Code int

// The codes that the JSON-RPC specification defines.
const (
	ParseError     Code = -32700
	InvalidRequest Code = -32600
	MethodNotFound Code = -32601
	InvalidParams  Code = -32602
	InternalError  Code = -32603
)

// An Error is a JSON-RPC error object.
type Error struct {
	Code    Code
	Message string
	Data    []byte // JSON, or nil
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("jsonrpc error %d: %s", e.Code, e.Message) }

// Errorf returns an [*Error] with a formatted message.
func Errorf(c Code, format string, args ...any) *Error {
	return &Error{Code: c, Message: fmt.Sprintf(format, args...)}
}

// A Message is a request, a notification or a response. Its slices alias the
// text that it was parsed from.
type Message struct {
	ID     []byte // a JSON string or integer as received; nil if there is none
	Method string // empty for a response
	Params []byte // a JSON object or array; nil if there are none
	Result []byte // of a response; nil if it is an error
	Err    []byte // the error object of a response; nil if there is none
}

// IsRequest reports whether the sender awaits a response.
func (m *Message) IsRequest() bool { return m.Method != "" && m.ID != nil }

// IsNotification reports whether m is a notification.
func (m *Message) IsNotification() bool { return m.Method != "" && m.ID == nil }

// IsResponse reports whether m answers a request.
func (m *Message) IsResponse() bool { return m.Method == "" }

// Error decodes the error object of a response, nil if m is no error.
func (m *Message) Error() *Error {
	if m.Err == nil {
		return nil
	}
	e := &Error{Code: InternalError}
	if n, err := strconv.Atoi(string(Lookup(m.Err, "code"))); err == nil {
		e.Code = Code(n)
	}
	e.Message, _ = String(Lookup(m.Err, "message"))
	e.Data = Lookup(m.Err, "data")
	return e
}

// Parse reads the one message in b, to which the message then refers. On a
// fault, the message still holds the id if that could be read, and nothing
// else; but that of a response holds its Result and Err, and no id, which is
// one of the receiver's own.
//
// It is stricter than encoding/json: member names are matched exactly, no
// object may name a member twice, text must be UTF-8, and an id is a string or
// an integer (JSON-RPC 2.0 section 4; MCP basic/index "Requests").
func Parse(b []byte) (Message, *Error) {
	i := space(b, 0)
	if !utf8.Valid(b) || i >= len(b) {
		return Message{}, Errorf(ParseError, "parse error")
	}
	s := scanner{b: b, unique: true}
	var keys [32][]byte
	s.keys = keys[:0]
	if b[i] != '{' {
		return Message{}, s.notAnObject(i)
	}
	var m envelope
	end, err := s.object(i, 1, m.member)
	if err == nil && space(b, end) != len(b) {
		err = errSyntax
	}
	switch {
	case errors.Is(err, errDuplicate), errors.Is(err, errDepth):
		return Message{}, Errorf(InvalidRequest, "invalid request: %v", err)
	case err != nil:
		return Message{}, Errorf(ParseError, "parse error")
	}
	return m.check()
}

// notAnObject tells text that is no JSON from JSON that is no message.
func (s *scanner) notAnObject(i int) *Error {
	end, err := s.value(i, 0)
	if err != nil && !errors.Is(err, errDuplicate) && !errors.Is(err, errDepth) || err == nil && space(s.b, end) != len(s.b) {
		return Errorf(ParseError, "parse error")
	}
	return Errorf(InvalidRequest, "invalid request: a message is a JSON object")
}

// An envelope is the members of a message before they are checked.
type envelope struct {
	version, id, method, params, result, err []byte
}

func (e *envelope) member(key, value []byte) {
	switch string(key) {
	case "jsonrpc":
		e.version = value
	case "id":
		e.id = value
	case "method":
		e.method = value
	case "params":
		e.params = value
	case "result":
		e.result = value
	case "error":
		e.err = value
	}
}

func (e *envelope) check() (Message, *Error) {
	if e.method == nil && (e.result != nil || e.err != nil) {
		return e.checkResponse()
	}
	m := Message{ID: e.id}
	if e.id != nil && !validID(e.id) {
		return Message{}, Errorf(InvalidRequest, "invalid request: an id is a string or an integer")
	}
	if string(e.version) != `"2.0"` {
		return m, Errorf(InvalidRequest, `invalid request: "jsonrpc" must be "2.0"`)
	}
	if e.method == nil {
		return m, Errorf(InvalidRequest, "invalid request: neither a method nor a result nor an error")
	}
	method, ok := String(e.method)
	if !ok || method == "" {
		return m, Errorf(InvalidRequest, "invalid request: a method is a string")
	}
	if e.result != nil || e.err != nil {
		return m, Errorf(InvalidRequest, "invalid request: both a request and a response")
	}
	if e.params != nil && e.params[0] != '{' && e.params[0] != '[' {
		return m, Errorf(InvalidRequest, "invalid request: params are an object")
	}
	m.Method, m.Params = method, e.params
	return m, nil
}

// checkResponse checks a response. One to a request whose id its sender could
// not read has none, or null (JSON-RPC 2.0 section 5).
func (e *envelope) checkResponse() (Message, *Error) {
	m := Message{Result: e.result, Err: e.err}
	id := e.id
	if e.result == nil && string(id) == "null" {
		id = nil
	}
	switch {
	case string(e.version) != `"2.0"`:
		return m, Errorf(InvalidRequest, `invalid request: "jsonrpc" must be "2.0"`)
	case e.result != nil && e.err != nil:
		return m, Errorf(InvalidRequest, "invalid request: both a result and an error")
	case e.err != nil && e.err[0] != '{':
		return m, Errorf(InvalidRequest, "invalid request: an error is an object")
	case e.result != nil && id == nil:
		return m, Errorf(InvalidRequest, "invalid request: a result has an id")
	case id != nil && !validID(id):
		return m, Errorf(InvalidRequest, "invalid request: an id is a string or an integer")
	}
	m.ID = id
	return m, nil
}

// validID reports whether v is a string or an integer.
func validID(v []byte) bool {
	if v[0] == '"' {
		return true
	}
	if v[0] != '-' && (v[0] < '0' || v[0] > '9') {
		return false
	}
	for _, c := range v {
		if c == '.' || c == 'e' || c == 'E' {
			return false
		}
	}
	return true
}

// AppendResult appends the start of a response to id; the caller appends the
// result, a JSON value, and a '}'.
func AppendResult(dst, id []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	return append(dst, `,"result":`...)
}

// AppendError appends a whole error response. A nil id is left out: the
// request's could not be read.
func AppendError(dst, id []byte, e *Error) []byte {
	dst = append(dst, `{"jsonrpc":"2.0"`...)
	if id != nil {
		dst = append(dst, `,"id":`...)
		dst = append(dst, id...)
	}
	dst = append(dst, `,"error":{"code":`...)
	dst = strconv.AppendInt(dst, int64(e.Code), 10)
	dst = append(dst, `,"message":`...)
	dst = AppendString(dst, e.Message)
	if e.Data != nil {
		dst = append(dst, `,"data":`...)
		dst = AppendLine(dst, e.Data)
	}
	return append(dst, "}}"...)
}

// AppendNotification appends a whole notification; params may be nil.
func AppendNotification(dst []byte, method string, params []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":`...)
	dst = AppendString(dst, method)
	if params != nil {
		dst = append(dst, `,"params":`...)
		dst = AppendLine(dst, params)
	}
	return append(dst, '}')
}

// AppendRequest appends a whole request; params may be nil.
func AppendRequest(dst, id []byte, method string, params []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	dst = append(dst, `,"method":`...)
	dst = AppendString(dst, method)
	if params != nil {
		dst = append(dst, `,"params":`...)
		dst = AppendLine(dst, params)
	}
	return append(dst, '}')
}
