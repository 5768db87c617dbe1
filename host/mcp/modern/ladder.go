package modern

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/primitive"
)

// climb checks a request in the order in which the rules win over each other
// (basic/transports/streamable-http; docs/design/protocol.md): what is left of
// _meta, the Mcp-Method header, the method, Mcp-Name, then Mcp-Param. The
// version is settled before. On stdio there are no headers to check.
func (r *request) climb(ctx context.Context) *fault {
	if f := r.checkMeta(); f != nil {
		return f
	}
	if f := r.checkMethodHeader(); f != nil {
		return f
	}
	r.view = r.Endpoint.Catalog.View(ctx, r.Caller)
	r.encoder = mcp.Encoder{Revision: r.revision, ServerInfo: r.Endpoint.InfoJSON(r.revision)}
	m := r.Method
	if m.Name == "" || !m.Advertised(r.view.Snapshot) {
		return faultf(404, jsonrpc.MethodNotFound, "method not found")
	}
	if f := r.checkParams(); f != nil {
		return f
	}
	if f := r.checkNameHeader(); f != nil {
		return f
	}
	if m.Name == mcp.MethodCallTool.Name {
		if t, ok := r.lookupTool(); ok {
			r.tool = t
			return r.checkParamHeaders()
		}
	}
	return nil
}

// lookupTool returns the tool that the request names, if the caller may see it.
func (r *request) lookupTool() (*primitive.Primitive, bool) {
	return r.view.Lookup(primitive.KindTool, r.name)
}

// checkMeta demands what every request carries (basic/index, "General fields").
func (r *request) checkMeta() *fault {
	if int64(len(r.Params.Meta)) > r.Endpoint.Limits.MaxMetadataSize {
		return faultf(400, jsonrpc.InvalidParams, "_meta has %d bytes, the limit is %d", len(r.Params.Meta), r.Endpoint.Limits.MaxMetadataSize)
	}
	switch caps := r.Meta.ClientCapabilities; {
	case caps == nil:
		return faultf(400, jsonrpc.InvalidParams, "_meta[%q] is missing", mcp.MetaClientCapabilities)
	case !jsonrpc.IsObject(caps):
		return faultf(400, jsonrpc.InvalidParams, "_meta[%q] must be an object", mcp.MetaClientCapabilities)
	}
	if info := r.Meta.ClientInfo; info != nil && !validImplementation(info) {
		return faultf(400, jsonrpc.InvalidParams, "_meta[%q] must be an object with a name and a version", mcp.MetaClientInfo)
	}
	if t := r.Meta.ProgressToken; t != nil && !mcp.ValidToken(t) {
		return faultf(400, jsonrpc.InvalidParams, "_meta.progressToken must be a string or an integer")
	}
	return nil
}

func validImplementation(v []byte) bool {
	if !jsonrpc.IsObject(v) {
		return false
	}
	_, name := jsonrpc.String(jsonrpc.Lookup(v, "name"))
	_, version := jsonrpc.String(jsonrpc.Lookup(v, "version"))
	return name && version
}

// checkParams demands the member that names what the request is about, and a
// log level that is one.
func (r *request) checkParams() *fault {
	if l := r.Meta.LogLevel; l != nil {
		if level, ok := jsonrpc.String(l); !ok || !mcp.ValidLevel(level) {
			// utilities/logging: an unknown level SHOULD be -32602.
			return faultf(200, jsonrpc.InvalidParams, "_meta[%q] is not a log level", mcp.MetaLogLevel)
		}
	}
	raw := r.Params.Name
	if r.Method.Mirror == "uri" {
		raw = r.Params.URI
	}
	if r.Method.Mirror == "" {
		return nil
	}
	var ok bool
	if r.name, ok = jsonrpc.String(raw); !ok {
		return faultf(200, jsonrpc.InvalidParams, "params.%s must be a string", r.Method.Mirror)
	}
	return nil
}

func (r *request) checkMethodHeader() *fault {
	if r.Headers == nil {
		return nil
	}
	switch v, ok := one(r.Headers, "Mcp-Method"); {
	case !ok:
		return mismatchf("exactly one Mcp-Method header is needed")
	case v != r.Message.Method:
		return mismatchf("the Mcp-Method header is %q, the method is %q", v, r.Message.Method)
	}
	return nil
}

func (r *request) checkNameHeader() *fault {
	if r.Headers == nil || r.Method.Mirror == "" {
		return nil
	}
	v, ok := one(r.Headers, "Mcp-Name")
	if !ok {
		return mismatchf("exactly one Mcp-Name header is needed")
	}
	if v, ok = decodeHeader(v); !ok {
		return mismatchf("the Mcp-Name header is not well encoded")
	}
	if v != r.name {
		return mismatchf("the Mcp-Name header does not equal params.%s", r.Method.Mirror)
	}
	return nil
}

// checkParamHeaders compares the Mcp-Param headers with the arguments that the
// tool's schema annotates (streamable-http, "Custom Headers").
func (r *request) checkParamHeaders() *fault {
	if r.Headers == nil {
		return nil
	}
	for _, h := range r.tool.Headers {
		name := "Mcp-Param-" + h.Name
		values := r.Headers.Values(canonical(name))
		arg := argument(r.Params.Arguments, h.Path)
		place := "arguments." + strings.Join(h.Path, ".")
		switch {
		case arg == nil && len(values) == 0:
		case arg == nil:
			return mismatchf("the %s header is there, %s is not", name, place)
		case len(values) != 1:
			return mismatchf("exactly one %s header is needed for %s", name, place)
		default:
			v, ok := decodeHeader(strings.Trim(values[0], " \t"))
			if !ok {
				return mismatchf("the %s header is not well encoded", name)
			}
			if !equalHeader(v, arg) {
				return mismatchf("the %s header does not equal %s", name, place)
			}
		}
	}
	return nil
}

// argument returns the value at path in args; nil if it is absent or null.
func argument(args []byte, path []string) []byte {
	for _, name := range path {
		if args == nil || !jsonrpc.IsObject(args) {
			return nil
		}
		args = jsonrpc.Lookup(args, name)
	}
	if bytes.Equal(args, []byte("null")) {
		return nil
	}
	return args
}

func mismatchf(format string, args ...any) *fault {
	return &fault{&jsonrpc.Error{Code: mcp.HeaderMismatch, Message: fmt.Sprintf(format, args...)}, 400}
}
