package mcp

import (
	"sync/atomic"
	"time"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/primitive"
)

// pages holds the definitions of the current snapshot in the form of each
// revision that was asked for, so that a page is a copy and no encoding.
type pages struct {
	current atomic.Pointer[projection]
}

// A projection is one snapshot in all revisions.
type projection struct {
	snapshot *primitive.Snapshot
	lists    [len(names)][len(primitive.Kinds)]atomic.Pointer[[][]byte]
}

// items returns the list of kind k of s in the form of r, in the order of the snapshot.
func (p *pages) items(s *primitive.Snapshot, k primitive.Kind, r Revision) [][]byte {
	c := p.current.Load()
	if c == nil || c.snapshot != s {
		// Two callers may both make one; the loser's is garbage, and right as well.
		c = &projection{snapshot: s}
		p.current.Store(c)
	}
	if items := c.lists[r][k].Load(); items != nil {
		return *items
	}
	list := s.List(k)
	items := make([][]byte, len(list))
	for i, d := range list {
		items[i] = Project(nil, d, r)
	}
	c.lists[r][k].Store(&items)
	return items
}

// cursorPurpose keeps cursors apart from other sealed tokens.
const cursorPurpose = "cursor"

// AppendPage appends the result of a list method: the page of kind k that
// starts after cursor, as v shows it in revision e.Revision.
//
// A cursor names the last entry of the page before, sealed: any replica with
// the same keys reads it, nobody forges it, and it stays good while the list
// changes around it (utilities/pagination).
func (ep *Endpoint) AppendPage(b []byte, e Encoder, v View, k primitive.Kind, cursor []byte) ([]byte, *jsonrpc.Error) {
	after, fault := ep.openCursor(cursor, k)
	if fault != nil {
		return nil, fault
	}
	list, items := v.Snapshot.List(k), ep.pages.items(v.Snapshot, k, e.Revision)
	i := 0
	if cursor != nil {
		i = firstAfter(list, after)
	}
	page, end := ep.cut(v, k, items, i)
	next := ""
	if len(page) > 0 && moreVisible(v, k, len(list), end) {
		next = ep.Sealer.Seal(cursorPurpose, ep.cursorBinding(k), []byte(list[end-1].Key), time.Time{})
	}
	hint := v.Snapshot.Lists
	if v.Hidden != nil {
		hint.Public = false // filtered by caller (utilities/caching)
	}
	return e.Page(b, k, page, next, hint), nil
}

// envelopeSize is more than what a page has around its entries.
const envelopeSize = 4 << 10

// cut returns the page of items that starts at index i, as many entries as the
// page size and the size of a response allow, at least one, and the index
// after its last. Without a filter it is a slice and costs nothing.
func (ep *Endpoint) cut(v View, k primitive.Kind, items [][]byte, i int) (page [][]byte, end int) {
	size, room := ep.Limits.DefaultPageSize, ep.Limits.MaxResponseSize-envelopeSize
	start := i
	for end = i; i < len(items) && size > 0; i++ {
		if v.Hidden != nil && v.Hidden(k, i) {
			continue
		}
		if room -= int64(len(items[i]) + 1); room < 0 && size < ep.Limits.DefaultPageSize {
			break
		}
		size--
		end = i + 1
		if v.Hidden != nil {
			page = append(page, items[i])
		}
	}
	if v.Hidden == nil {
		page = items[start:end]
	}
	return page, end
}

func (ep *Endpoint) cursorBinding(k primitive.Kind) []byte {
	return append([]byte(ep.Name), 0, byte(k))
}

func (ep *Endpoint) openCursor(cursor []byte, k primitive.Kind) (string, *jsonrpc.Error) {
	if cursor == nil {
		return "", nil
	}
	token, ok := jsonrpc.String(cursor)
	if ok {
		var after []byte
		if after, ok = ep.Sealer.Open(cursorPurpose, ep.cursorBinding(k), token); ok {
			return string(after), nil
		}
	}
	// utilities/pagination: an invalid cursor SHOULD be -32602.
	return "", jsonrpc.Errorf(jsonrpc.InvalidParams, "invalid cursor")
}

// firstAfter returns the index of the first entry of list whose key is greater than key.
func firstAfter(list []*primitive.Primitive, key string) int {
	lo, hi := 0, len(list)
	for lo < hi {
		if mid := (lo + hi) / 2; list[mid].Key <= key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// moreVisible reports whether v shows an entry at index i or later.
func moreVisible(v View, k primitive.Kind, n, i int) bool {
	if v.Hidden == nil {
		return i < n
	}
	for ; i < n; i++ {
		if !v.Hidden(k, i) {
			return true
		}
	}
	return false
}
