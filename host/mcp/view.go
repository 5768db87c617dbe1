package mcp

import "github.com/mcphost/mcphost/host/primitive"

// Lookup returns the primitive of kind k with the given key, if the caller may see it.
func (v View) Lookup(k primitive.Kind, key string) (*primitive.Primitive, bool) {
	list := v.Snapshot.List(k)
	i := firstAfter(list, key) - 1
	if i < 0 || list[i].Key != key || v.Hidden != nil && v.Hidden(k, i) {
		return nil, false
	}
	return list[i], true
}

// InfoJSON returns who we are as revision r has it. It is made once.
func (ep *Endpoint) InfoJSON(r Revision) []byte {
	if b := ep.info[r].Load(); b != nil {
		return *b
	}
	b := ep.Info.JSON(r)
	ep.info[r].Store(&b)
	return b
}

// ListMethods returns the notifications for the lists that changed.
func (i Interest) ListMethods() (methods []string) {
	if i.Tools {
		methods = append(methods, "notifications/tools/list_changed")
	}
	if i.Prompts {
		methods = append(methods, "notifications/prompts/list_changed")
	}
	if i.Resources {
		methods = append(methods, "notifications/resources/list_changed")
	}
	return methods
}
