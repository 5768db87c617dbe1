package server

import (
	"encoding/json"
	"strings"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/primitive"
)

// A verdict says which rules a message is served by, or why it is not.
type verdict struct {
	lineage  mcp.Lineage
	revision mcp.Revision
	fault    *jsonrpc.Error
	status   int // of the fault, on HTTP
}

func serve(r mcp.Revision) verdict { return verdict{lineage: r.Lineage(), revision: r} }

func fail(status int, e *jsonrpc.Error) verdict { return verdict{fault: e, status: status} }

func failf(status int, c jsonrpc.Code, format string, args ...any) verdict {
	return fail(status, jsonrpc.Errorf(c, format, args...))
}

// A claim is what a message says of its revision, in _meta or in a header.
type claim struct {
	present   bool
	malformed bool
	text      string
	revision  mcp.Revision // 0: not served
}

func (c claim) modern() bool  { return c.revision != 0 && c.revision.Lineage() == mcp.Modern }
func (c claim) unknown() bool { return c.present && !c.malformed && c.revision == 0 }

func bodyClaim(x *mcp.Exchange) (c claim) {
	raw := x.Meta.ProtocolVersion
	if raw == nil {
		return c
	}
	c.present = true
	var ok bool
	if c.text, ok = jsonrpc.String(raw); !ok {
		c.malformed = true
		return c
	}
	c.revision, _ = mcp.ParseRevision(c.text)
	return c
}

// versionHeader is the header that repeats the claim.
const versionHeader = "Mcp-Protocol-Version"

func headerClaim(x *mcp.Exchange) (c claim) {
	values := x.Headers.Values(versionHeader)
	if len(values) == 0 {
		return c
	}
	c.present = true
	if len(values) > 1 {
		c.malformed = true // which of them counts would be a guess
		return c
	}
	c.text = strings.Trim(values[0], " \t")
	c.revision, _ = mcp.ParseRevision(c.text)
	return c
}

// classify decides which lineage the message of x belongs to. Lineage is a
// property of each message: a request with a claim that names a modern revision
// is modern, initialize and what has no claim is legacy
// (basic/versioning, "Backward compatibility"; docs/design/protocol.md).
func classify(x *mcp.Exchange) verdict {
	c := bodyClaim(x)
	if c.malformed {
		// Before any comparison with a header.
		return failf(400, jsonrpc.InvalidParams, "_meta[%q] must be a string", mcp.MetaProtocolVersion)
	}
	if x.Headers == nil {
		return classifyPipe(x, c)
	}
	return classifyHTTP(x, c, headerClaim(x))
}

// classifyPipe decides for one line of stdio.
func classifyPipe(x *mcp.Exchange, c claim) verdict {
	switch {
	case x.Message.IsResponse():
		return serve(mcp.LatestLegacy) // only a legacy session asks anything; else it is dropped
	case c.modern():
		return serve(c.revision)
	case c.unknown():
		return fail(400, unsupported(c.text))
	}
	session := x.Conn.Session()
	method := x.Message.Method
	switch {
	case session != nil && method == mcp.MethodInitialize.Name:
		return failf(400, jsonrpc.InvalidRequest, "initialize was done already")
	case session != nil:
		return serve(session.Revision)
	case method == mcp.MethodInitialize.Name, method == mcp.MethodPing.Name, x.Message.IsNotification():
		return serve(mcp.LatestLegacy)
	case modernOnly(method):
		return failf(400, jsonrpc.InvalidParams, "%s needs _meta[%q]", method, mcp.MetaProtocolVersion)
	}
	return failf(400, jsonrpc.InvalidRequest, "not initialized: send initialize first, or name a revision in _meta[%q]", mcp.MetaProtocolVersion)
}

// modernOnly reports whether only modern revisions have the method.
func modernOnly(method string) bool {
	_, legacy := mcp.LookupMethod(method, mcp.LatestLegacy)
	_, modern := mcp.LookupMethod(method, mcp.R20260728)
	return modern && !legacy
}

// classifyHTTP decides for one message in a POST, by its claim c and the version header h.
func classifyHTTP(x *mcp.Exchange, c, h claim) verdict {
	if h.malformed || !c.present {
		if v := checkVersionHeader(h); v.fault != nil {
			return v
		}
	}
	switch {
	case x.Message.IsResponse():
		return classifyResponse(x, h)
	case x.Message.IsNotification():
		return classifyNotification(x, c, h)
	case c.modern(), c.unknown():
		return classifyModern(c, h)
	case h.present && c.present && h.text != c.text:
		return mismatch(c, h)
	case x.Message.Method == mcp.MethodInitialize.Name:
		return classifyInitialize(x, h)
	case h.modern():
		return failf(400, jsonrpc.InvalidParams, "_meta[%q] is missing", mcp.MetaProtocolVersion)
	}
	if modernOnly(x.Message.Method) && x.State != mcp.SessionLive {
		return failf(400, jsonrpc.InvalidParams, "%s needs _meta[%q]", x.Message.Method, mcp.MetaProtocolVersion)
	}
	return inSession(x)
}

// checkVersionHeader refuses what has no claim and a version header that is
// none of ours, whatever else it says.
func checkVersionHeader(h claim) verdict {
	switch {
	case h.malformed:
		return failf(400, mcp.HeaderMismatch, "more than one %s header", "MCP-Protocol-Version")
	case h.unknown():
		return fail(400, unsupported(h.text))
	}
	return verdict{}
}

// classifyModern walks the first rungs of the modern ladder: header, then support.
func classifyModern(c, h claim) verdict {
	switch {
	case !h.present:
		return failf(400, mcp.HeaderMismatch, "the MCP-Protocol-Version header is missing")
	case h.text != c.text:
		return mismatch(c, h)
	case c.unknown():
		return fail(400, unsupported(c.text))
	}
	return serve(c.revision)
}

func mismatch(c, h claim) verdict {
	return failf(400, mcp.HeaderMismatch, "the MCP-Protocol-Version header is %q, _meta says %q", h.text, c.text)
}

func classifyInitialize(x *mcp.Exchange, h claim) verdict {
	switch {
	case h.modern():
		return failf(400, mcp.HeaderMismatch, "initialize does not belong to revision %s", h.text)
	case x.State == mcp.SessionLive:
		return failf(400, jsonrpc.InvalidRequest, "initialize was done already in this session")
	}
	return serve(mcp.LatestLegacy)
}

func classifyResponse(x *mcp.Exchange, h claim) verdict {
	if h.modern() {
		// J-07: a modern client never responds.
		return failf(400, jsonrpc.InvalidRequest, "a response does not belong to revision %s", h.text)
	}
	return inSession(x)
}

func classifyNotification(x *mcp.Exchange, c, h claim) verdict {
	switch {
	case c.unknown():
		return fail(400, unsupported(c.text))
	case c.present && h.present && c.text != h.text:
		return mismatch(c, h)
	case c.modern() || !c.present && h.modern():
		// Header rules for notifications are undefined; one that says something else is still wrong.
		if v := x.Headers.Values("Mcp-Method"); len(v) > 0 && strings.Trim(v[0], " \t") != x.Message.Method {
			return failf(400, mcp.HeaderMismatch, "the Mcp-Method header is not the method")
		}
		return serve(mcp.R20260728)
	}
	return inSession(x)
}

// inSession serves x by its legacy session. 404 tells the client to initialize
// again (2025-11-25 basic/transports, "Session Management").
func inSession(x *mcp.Exchange) verdict {
	switch x.State {
	case mcp.SessionLive:
		return serve(x.Conn.Session().Revision)
	case mcp.SessionUnknown:
		return failf(404, jsonrpc.InvalidRequest, "the session does not exist or has ended: send initialize")
	case mcp.SessionNone:
	}
	return failf(400, jsonrpc.InvalidRequest, "no Mcp-Session-Id: send initialize first, or name a revision in _meta[%q]", mcp.MetaProtocolVersion)
}

// unsupported is the error for a revision that is not served (basic/versioning).
func unsupported(requested string) *jsonrpc.Error {
	data := []byte(`{"supported":[`)
	for i, r := range mcp.Revisions {
		if i > 0 {
			data = append(data, ',')
		}
		data = jsonrpc.AppendString(data, r.String())
	}
	data = append(data, `],"requested":`...)
	data = append(jsonrpc.AppendString(data, requested), '}')
	return &jsonrpc.Error{Code: mcp.UnsupportedProtocolVersion, Message: "unsupported protocol version", Data: json.RawMessage(data)}
}

// newCaller says who sent x, from the message itself on modern and from the
// session on legacy: nothing of a modern message comes from an earlier one.
func newCaller(x *mcp.Exchange, v verdict) *primitive.Caller {
	c := &primitive.Caller{
		Principal: x.Principal,
		Endpoint:  x.Endpoint.Name,
		Transport: x.Endpoint.Transport,
		Revision:  v.revision.String(),
		Meta:      x.Params.Meta,
	}
	c.Traceparent, _ = jsonrpc.String(x.Meta.Traceparent)
	c.Tracestate, _ = jsonrpc.String(x.Meta.Tracestate)
	if v.lineage == mcp.Modern {
		c.ClientInfo, c.ClientCapabilities = x.Meta.ClientInfo, x.Meta.ClientCapabilities
		return c
	}
	if session := x.Conn.Session(); session != nil {
		c.Session = session.Name
		c.ClientInfo, c.ClientCapabilities = session.ClientInfo, session.Capabilities
	}
	return c
}
