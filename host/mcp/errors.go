package mcp

import (
	"errors"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/primitive"
)

// The codes that MCP adds to JSON-RPC (2026-07-28 schema; -32002 is legacy's).
const (
	ResourceNotFound           jsonrpc.Code = -32002
	HeaderMismatch             jsonrpc.Code = -32020
	MissingClientCapability    jsonrpc.Code = -32021
	UnsupportedProtocolVersion jsonrpc.Code = -32022

	// DeniedCode answers a use, other than a tool call, that policy denies. It
	// is outside the range that JSON-RPC and MCP reserve; docs/errors.md lists it.
	DeniedCode jsonrpc.Code = -31403
	// BusyCode answers a request for which there is no slot.
	BusyCode jsonrpc.Code = -31429
)

// A fault is what a failed use looks like on the wire.
type fault struct {
	asResult bool         // of a tool call: a result with isError, for the model to read
	code     jsonrpc.Code // otherwise, and of all other uses
	legacy   jsonrpc.Code // of a resource on legacy, if it differs
	message  string       // all that a client sees when the failure has no detail
}

// faults is the whole table of failed uses. The cause is for the log alone.
var faults = [...]fault{
	primitive.Internal:         {code: jsonrpc.InternalError, message: "internal error"},
	primitive.NotFound:         {code: jsonrpc.InvalidParams, legacy: ResourceNotFound, message: "not found"},
	primitive.InvalidArguments: {asResult: true, code: jsonrpc.InvalidParams, message: "invalid arguments"},
	primitive.InvalidResult:    {asResult: true, code: jsonrpc.InternalError, message: "the plugin gave an invalid result"},
	primitive.Denied:           {asResult: true, code: DeniedCode, message: "denied by policy"},
	primitive.Unavailable:      {asResult: true, code: jsonrpc.InternalError, message: "the plugin is unavailable"},
	primitive.Crashed:          {asResult: true, code: jsonrpc.InternalError, message: "the plugin ended while it served this"},
	primitive.TimedOut:         {asResult: true, code: jsonrpc.InternalError, message: "timed out"},
	primitive.Busy:             {asResult: true, code: BusyCode, message: "too many calls at once; try again"},
	primitive.TooLarge:         {asResult: true, code: jsonrpc.InternalError, message: "the result is larger than the limit"},
	primitive.NeedsInput:       {asResult: true, code: MissingClientCapability, message: "this needs input that the client cannot give"},
	primitive.Foreign:          {code: jsonrpc.InternalError, message: "the plugin reported an error"},
}

// statuses is the HTTP status of modern error responses, by code; 200 for the rest.
// basic/transports/streamable-http: -32601 is 404, what the message itself gets wrong is 400.
var statuses = map[jsonrpc.Code]int{
	jsonrpc.ParseError:         400,
	jsonrpc.InvalidRequest:     400,
	jsonrpc.MethodNotFound:     404,
	HeaderMismatch:             400,
	MissingClientCapability:    400,
	UnsupportedProtocolVersion: 400,
	BusyCode:                   503,
}

// Status returns the HTTP status of an error response with code c. Legacy
// answers everything inside a session with 200: there, 404 means that the
// session is gone.
func Status(l Lineage, c jsonrpc.Code) int {
	if l == Modern {
		if s, ok := statuses[c]; ok {
			return s
		}
	}
	return 200
}

// Fault turns the failure of a use of a primitive of kind k into what the
// client gets: a text for a result with isError set, or a JSON-RPC error.
func Fault(err error, k primitive.Kind, l Lineage) (asResult string, e *jsonrpc.Error) {
	pe, ok := errors.AsType[*primitive.Error](err)
	if !ok {
		pe = &primitive.Error{Failure: primitive.Internal, Err: err}
	}
	f := faults[pe.Failure]
	text := f.message
	if pe.Detail != "" {
		text = pe.Detail
	}
	if pe.Incident != "" {
		text += " (incident " + pe.Incident + ")"
	}
	// A modern client can mend a missing capability, so it is told by an error (basic/index, -32021).
	if f.asResult && k == primitive.KindTool && (pe.Failure != primitive.NeedsInput || l == Legacy) {
		return text, nil
	}
	code := f.code
	switch {
	case pe.Failure == primitive.Foreign:
		code = foreignCode(jsonrpc.Code(pe.Code), l)
		if code == MissingClientCapability && !jsonrpc.IsObject(jsonrpc.Lookup(pe.Data, "requiredCapabilities")) {
			code = jsonrpc.InternalError // basic/index: the data of -32021 MUST name what is missing
		}
	case l == Legacy && k == primitive.KindResource && f.legacy != 0:
		code = f.legacy
	case l == Legacy && code == MissingClientCapability:
		code = jsonrpc.InvalidRequest
	}
	return "", &jsonrpc.Error{Code: code, Message: text, Data: pe.Data}
}

// pluginCodes are the reserved codes that a plugin's own error may have, and
// what they are on each lineage. -32002 MUST NOT be emitted on modern and
// SHOULD be on legacy, which in turn has no -32021 (docs/errors.md).
var pluginCodes = map[jsonrpc.Code]struct{ legacy, modern jsonrpc.Code }{
	jsonrpc.InvalidParams:   {jsonrpc.InvalidParams, jsonrpc.InvalidParams},
	jsonrpc.InternalError:   {jsonrpc.InternalError, jsonrpc.InternalError},
	jsonrpc.MethodNotFound:  {jsonrpc.MethodNotFound, jsonrpc.MethodNotFound},
	MissingClientCapability: {jsonrpc.InvalidRequest, MissingClientCapability},
	ResourceNotFound:        {ResourceNotFound, jsonrpc.InvalidParams},
}

// The range that JSON-RPC and MCP reserve.
const firstReserved, lastReserved jsonrpc.Code = -32768, -32000

// foreignCode returns the code under which a plugin's own error goes out: one
// of the table, or any outside the reserved range; else it is an internal error.
func foreignCode(c jsonrpc.Code, l Lineage) jsonrpc.Code {
	row, ok := pluginCodes[c]
	switch {
	case ok && l == Modern:
		return row.modern
	case ok:
		return row.legacy
	case c >= firstReserved && c <= lastReserved:
		return jsonrpc.InternalError
	}
	return c
}
