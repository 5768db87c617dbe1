package integrity

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// A Difference is one thing in which a plugin is not what the lock file has.
type Difference struct {
	Handle string
	What   string // "program", "files", "version", "plugin", or a definition such as `tool "now"`

	// Old and New are what is compared: digests, versions, or empty; of a
	// definition, digests.
	Old, New string
	// Before and After are the definitions; nil where there is none.
	Before, After *Definition
	Definition    bool
}

// String returns the difference as one line.
func (d Difference) String() string {
	how := fmt.Sprintf("%s changed to %s", d.Old, d.New)
	switch {
	case d.Definition && d.Old != "" && d.New != "":
		how = "changed"
	case d.Old == "":
		how = "is new"
	case d.New == "":
		how = "is gone"
	}
	return fmt.Sprintf("plugin %q: %s %s", d.Handle, d.What, how)
}

// Diff returns what of a definition changed, for people; empty if the
// difference is about none.
func (d Difference) Diff() string {
	if !d.Definition {
		return ""
	}
	name := func(def *Definition, where string) string {
		if def == nil {
			return "(none)"
		}
		return fmt.Sprintf("%s %s %s", d.Handle, d.What, where)
	}
	text := diff.Diff(name(d.Before, "(accepted)"), []byte(d.Before.Readable()), name(d.After, "(now)"), []byte(d.After.Readable()))
	// The first line repeats the names.
	_, rest, _ := strings.Cut(string(text), "\n")
	return rest
}

// Compare returns in what found, what plugins are made of now, differs from l,
// which may be nil. If all is set, found has all plugins, and entries for others
// are differences, too.
func (l *Lock) Compare(found []*Entry, all bool) []Difference {
	var list []Difference
	known := make(map[string]bool)
	for _, now := range sortedEntries(found) {
		known[now.Handle] = true
		list = append(list, compareEntries(l.entry(now.Handle), now)...)
	}
	if l == nil || !all {
		return list
	}
	for _, handle := range slices.Sorted(maps.Keys(l.Entries)) {
		if !known[handle] {
			list = append(list, Difference{Handle: handle, What: "plugin", Old: "locked"})
		}
	}
	return list
}

// Open reports whether l, which may be nil, leaves the resources of the plugin unpinned.
func (l *Lock) Open(handle string) bool {
	e := l.entry(handle)
	return e != nil && e.OpenResources
}

func (l *Lock) entry(handle string) *Entry {
	if l == nil {
		return nil
	}
	return l.Entries[handle]
}

func sortedEntries(list []*Entry) []*Entry {
	return slices.SortedFunc(slices.Values(list), func(a, b *Entry) int { return strings.Compare(a.Handle, b.Handle) })
}

func compareEntries(old, now *Entry) []Difference {
	list := []Difference{}
	note := func(what, a, b string) {
		if a != b {
			list = append(list, Difference{Handle: now.Handle, What: what, Old: a, New: b})
		}
	}
	if old == nil {
		note("plugin", "", "unlocked")
		old = &Entry{}
	}
	platform := Platform()
	note("version", old.Version, now.Version)
	note("program", old.Program[platform], now.Program[platform])
	note("files", old.Files[platform], now.Files[platform])
	if old.OpenResources != now.OpenResources {
		note("open_resources", fmt.Sprint(old.OpenResources), fmt.Sprint(now.OpenResources))
	}
	return append(list, compareDefinitions(old, now)...)
}

func compareDefinitions(old, now *Entry) []Difference {
	ids := make(map[id]bool)
	for _, e := range []*Entry{old, now} {
		for i := range e.Definitions {
			ids[e.Definitions[i].id()] = true
		}
	}
	var list []Difference
	for _, i := range slices.SortedFunc(maps.Keys(ids), compareIDs) {
		d := Difference{Handle: now.Handle, What: i.String(), Before: old.find(i), After: now.find(i), Definition: true}
		if d.Before != nil {
			d.Old = d.Before.SHA256
		}
		if d.After != nil {
			d.New = d.After.SHA256
		}
		if d.Old != d.New {
			list = append(list, d)
		}
	}
	return list
}

// Accept returns l, which may be nil, with found in place of what it has of the
// same plugins. If all is set, found has all plugins, and others are dropped.
// Digests for other platforms stay as long as the version does.
func (l *Lock) Accept(found []*Entry, all bool) *Lock {
	next := &Lock{Entries: make(map[string]*Entry)}
	if l != nil && !all {
		maps.Copy(next.Entries, l.Entries)
	}
	for _, now := range found {
		e := *now
		if old := l.entry(now.Handle); old != nil && old.Version == now.Version {
			e.Program = merged(old.Program, now.Program)
			e.Files = merged(old.Files, now.Files)
		}
		next.Entries[e.Handle] = &e
	}
	return next
}

// merged returns the digests of old for other platforms, and those of now.
func merged(old, now map[string]string) map[string]string {
	m := maps.Clone(old)
	delete(m, Platform())
	if m == nil {
		m = make(map[string]string)
	}
	maps.Copy(m, now)
	return m
}
