package legacy

import (
	"bytes"
	"context"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/primitive"
)

// initialize opens the session. The revision that the client wants is taken if
// it is a legacy one that is served; otherwise the newest legacy one is offered
// (2025-11-25 basic/lifecycle, "Version Negotiation"): never a modern one.
func initialize(ctx context.Context, r *request) ([]byte, *jsonrpc.Error) {
	wanted, ok := jsonrpc.String(r.Params.ProtocolVersion)
	if !ok {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, "params.protocolVersion must be a string")
	}
	caps, info := r.Params.Capabilities, r.Params.ClientInfo
	if caps != nil && !jsonrpc.IsObject(caps) || info != nil && !jsonrpc.IsObject(info) {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, "params.capabilities and params.clientInfo must be objects")
	}
	// The session keeps both; on modern they are part of _meta, with this limit.
	if n, limit := len(caps)+len(info), r.Endpoint.Limits.MaxMetadataSize; int64(n) > limit {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, "params.capabilities and params.clientInfo have %d bytes, the limit is %d", n, limit)
	}
	revision, ok := mcp.ParseRevision(wanted)
	if !ok || revision.Lineage() != mcp.Legacy {
		revision = mcp.LatestLegacy
	}
	session := mcp.NewSession(context.WithoutCancel(ctx), revision)
	session.Name = mcp.NewCallID() // not the id, which is a secret of the client
	session.Principal = r.Principal
	session.ClientInfo, session.Capabilities = bytes.Clone(info), bytes.Clone(caps)
	if e := r.open(session); e != nil {
		session.Close()
		return nil, e
	}
	return r.initialized(revision), nil
}

// open makes session that of the connection.
func (r *request) open(session *mcp.Session) *jsonrpc.Error {
	if r.NewSession != nil {
		if err := r.NewSession(session); err != nil {
			return jsonrpc.Errorf(mcp.BusyCode, "%v", err)
		}
		return nil
	}
	session.Send = r.Conn.Send
	if !r.Conn.Open(session) {
		return jsonrpc.Errorf(jsonrpc.InvalidRequest, "initialize was done already")
	}
	return nil
}

// initialized returns the response to initialize.
func (r *request) initialized(revision mcp.Revision) []byte {
	b := append(r.start(), `{"protocolVersion":"`...)
	b = append(b, revision.String()...)
	b = append(b, `","capabilities":`...)
	b = append(b, mcp.CapabilitiesJSON(r.view.Snapshot, revision)...)
	b = append(b, `,"serverInfo":`...)
	b = append(b, r.Endpoint.InfoJSON(revision)...)
	if text := r.view.Snapshot.Instructions; text != "" {
		b = append(b, `,"instructions":`...)
		b = jsonrpc.AppendString(b, text)
	}
	return append(b, "}}"...)
}

// subscribe answers resources/subscribe.
func subscribe(_ context.Context, r *request) ([]byte, *jsonrpc.Error) {
	uri, ok := jsonrpc.String(r.Params.URI)
	if !ok {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, "params.uri must be a string")
	}
	if len(uri) > mcp.MaxWatchedURI {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, "params.uri has %d bytes, the limit is %d", len(uri), mcp.MaxWatchedURI)
	}
	if !r.Endpoint.Catalog.Readable(r.view, uri) {
		return nil, r.fault(primitive.Errorf(primitive.NotFound, "no resource %q", uri), primitive.KindResource)
	}
	if limit := r.Endpoint.Limits.MaxResourceSubscription; !r.session.Watch(uri, limit) {
		return nil, jsonrpc.Errorf(mcp.BusyCode, "this session watches %d resources already, which is the limit", limit)
	}
	return r.empty(), nil
}

// unsubscribe answers resources/unsubscribe.
func unsubscribe(_ context.Context, r *request) ([]byte, *jsonrpc.Error) {
	uri, ok := jsonrpc.String(r.Params.URI)
	if !ok {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, "params.uri must be a string")
	}
	r.session.Unwatch(uri)
	return r.empty(), nil
}

// forwardChanges subscribes the session to what changes and tells the client,
// until the session or its client ends.
func (r *request) forwardChanges() {
	caller := *r.Caller // of the session: nothing of this message is kept
	caller.Meta = nil
	sub := r.Endpoint.Catalog.Subscribe(&caller, mcp.Interest{})
	session := r.session
	session.SetChanges(sub)
	loop := func(ctx context.Context) {
		defer sub.Close()
		for {
			select {
			case <-ctx.Done():
				return
			case <-sub.Ready():
				if !deliver(session, sub.Take()) {
					return
				}
			}
		}
	}
	if !session.Go(loop) {
		sub.Close() // the session has just ended
	}
}

// deliver sends what changed; it reports false if the client is gone.
func deliver(s *mcp.Session, changed mcp.Interest) bool {
	for _, method := range changed.ListMethods() {
		if s.Send(jsonrpc.AppendNotification(nil, method, nil)) != nil {
			return false
		}
	}
	for _, uri := range changed.URIs {
		params := append(jsonrpc.AppendString([]byte(`{"uri":`), uri), '}')
		if s.Send(jsonrpc.AppendNotification(nil, "notifications/resources/updated", params)) != nil {
			return false
		}
	}
	return true
}
