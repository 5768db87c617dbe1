package modern

import (
	"context"
	"slices"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
)

// listen answers subscriptions/listen (patterns/subscriptions): the
// acknowledgement first, then what the client asked for and nothing else, each
// message tagged with the id of the request, until either side ends it.
func listen(ctx context.Context, r *request) ([]byte, *fault) {
	want, f := r.interest()
	if f != nil {
		return nil, f
	}
	// Subscribe before the acknowledgement: a change right after it must not be missed.
	sub := r.Endpoint.Catalog.Subscribe(r.Caller, want)
	defer sub.Close()
	if err := r.Out.Notify(r.acknowledgement(want)); err != nil {
		return nil, nil // the client is gone
	}
	for {
		select {
		case <-ctx.Done():
			return nil, nil // the client ended it: nothing more may be sent
		case <-r.Endpoint.Closing():
			r.end()
			return nil, nil
		case <-sub.Ready():
			if !r.deliver(sub.Take()) {
				return nil, nil
			}
		}
	}
}

// interest reads the filter, less what this endpoint cannot honour.
func (r *request) interest() (want mcp.Interest, f *fault) {
	filter := r.Params.Notifications
	if filter == nil || !jsonrpc.IsObject(filter) {
		return want, faultf(200, jsonrpc.InvalidParams, "params.notifications must be an object")
	}
	jsonrpc.Members(filter, func(k, v []byte) bool {
		switch name := string(k); name {
		case "toolsListChanged":
			f = flag(name, v, &want.Tools)
		case "promptsListChanged":
			f = flag(name, v, &want.Prompts)
		case "resourcesListChanged":
			f = flag(name, v, &want.Resources)
		case "resourceSubscriptions":
			want.URIs, f = uris(v)
		}
		return f == nil
	})
	s := r.view.Snapshot
	want.Prompts = want.Prompts && s.HasPrompts
	want.Resources = want.Resources && s.HasResources
	if !s.ResourceUpdates {
		want.URIs = nil
	}
	want.URIs = want.URIs[:min(len(want.URIs), r.Endpoint.Limits.MaxResourceSubscription)]
	want.URIs = slices.DeleteFunc(want.URIs, func(uri string) bool { return !r.Endpoint.Catalog.Readable(r.view, uri) })
	return want, f
}

func flag(name string, v []byte, dst *bool) *fault {
	switch string(v) {
	case "true":
		*dst = true
	case "false":
	default:
		return faultf(200, jsonrpc.InvalidParams, "params.notifications.%s must be a boolean", name)
	}
	return nil
}

// uris reads the resources to watch. One whose URI is longer than we keep is
// left out, and so is not acknowledged.
func uris(v []byte) (list []string, f *fault) {
	ok := jsonrpc.IsArray(v)
	seen := make(map[string]bool)
	jsonrpc.Elements(v, func(e []byte) bool {
		uri, isString := jsonrpc.String(e)
		if ok = ok && isString; ok && !seen[uri] && len(uri) <= mcp.MaxWatchedURI {
			seen[uri] = true
			list = append(list, uri)
		}
		return ok
	})
	if !ok {
		return nil, faultf(200, jsonrpc.InvalidParams, "params.notifications.resourceSubscriptions must be an array of strings")
	}
	return list, nil
}

// tag appends the _meta that every message of a subscription carries, with the
// id in its original type.
func (r *request) tag(b []byte) []byte {
	b = append(b, `"_meta":{"`+mcp.MetaSubscriptionID+`":`...)
	b = append(b, r.Message.ID...)
	return append(b, '}')
}

func (r *request) acknowledgement(want mcp.Interest) []byte {
	b := r.tag([]byte(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{`))
	b = append(b, `,"notifications":{`...)
	sep := ""
	member := func(text string) {
		b = append(append(b, sep...), text...)
		sep = ","
	}
	if want.Tools {
		member(`"toolsListChanged":true`)
	}
	if want.Prompts {
		member(`"promptsListChanged":true`)
	}
	if want.Resources {
		member(`"resourcesListChanged":true`)
	}
	if len(want.URIs) > 0 {
		member(`"resourceSubscriptions":[`)
		for i, uri := range want.URIs {
			if i > 0 {
				b = append(b, ',')
			}
			b = jsonrpc.AppendString(b, uri)
		}
		b = append(b, ']')
	}
	return append(b, "}}}"...)
}

// deliver sends what changed; it reports false if the client is gone.
func (r *request) deliver(changed mcp.Interest) bool {
	for _, method := range changed.ListMethods() {
		b := r.tag([]byte(`{"jsonrpc":"2.0","method":"` + method + `","params":{`))
		if r.Out.Notify(append(b, "}}"...)) != nil {
			return false
		}
	}
	for _, uri := range changed.URIs {
		b := jsonrpc.AppendString([]byte(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":`), uri)
		b = r.tag(append(b, ','))
		if r.Out.Notify(append(b, "}}"...)) != nil {
			return false
		}
	}
	return true
}

// end ends the subscription from our side: its result, and on a pipe a
// cancellation as well. Result first: clients settle a bare cancel as an abort.
func (r *request) end() {
	b := append(r.start(), `{"resultType":"complete","_meta":{"`+mcp.MetaSubscriptionID+`":`...)
	b = append(b, r.Message.ID...)
	b = append(b, `,"`+mcp.MetaServerInfo+`":`...)
	b = append(append(b, r.encoder.ServerInfo...), "}}}"...)
	if r.Headers == nil {
		if r.Out.Notify(b) != nil {
			return
		}
		c := append([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`), r.Message.ID...)
		r.Out.Reply(append(r.tag(append(c, ',')), "}}"...), 200)
		return
	}
	r.Out.Reply(b, 200)
}
