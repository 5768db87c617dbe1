package plugin

import (
	"context"
	"errors"

	"github.com/mcphost/mcphost/host/primitive"
	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

const (
	maxPage   = 1000
	maxCursor = 4 << 10
)

// ListResources returns one page of the resources that a plugin has beyond its
// catalog, and the cursor of the next, empty for none. It is called only if the
// plugin announced it. What breaks a rule is left out.
func (p *Plugin) ListResources(ctx context.Context, c *primitive.Caller, cursor string) ([]*primitive.Primitive, string, error) {
	ctx, cancel := p.bound(ctx, 0)
	defer cancel()
	cc := callContext(c, nil)
	req := &pluginv1.ListResourcesRequest{Context: cc, Cursor: cursor, PageSize: maxPage}
	resp := &pluginv1.ListResourcesResponse{}
	i, err := p.invoke(ctx, pluginv1.PluginService_ListResources_FullMethodName, cc, heldState{}, req, resp, true)
	if err != nil {
		return nil, "", err
	}
	list, next := resp.GetResources(), resp.GetNextCursor()
	switch {
	case len(list) > 10*maxPage:
		return nil, "", brokenContract("a page of %d resources", len(list))
	case len(next) > maxCursor || next != "" && next == cursor:
		return nil, "", primitive.Wrap(primitive.InvalidResult, errors.New("a page whose next one is no other page"))
	}
	part := &pluginv1.CatalogPart{Resources: list, Last: true}
	w := watcher{i: i, parts: newAssembly(p, i.caps)}
	catalog := w.parts.add(part)
	w.report(catalog)
	return catalog.Resources, next, nil
}
