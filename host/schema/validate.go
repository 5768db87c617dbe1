package schema

import (
	"errors"
	"fmt"
	"sync"

	"github.com/mcphost/mcphost/host/jsonrpc"
)

// Bounds of one validation.
const (
	// budget is the work that one value may cost, in about nanoseconds.
	budget = 50_000_000
	// maxNesting is how many subschemas may apply inside one another.
	maxNesting = 1024

	nodeCost   = 40  // of one subschema
	memberCost = 20  // of one member or element
	markCost   = 300 // of one that is remembered as evaluated
)

var (
	// ErrCost says that a value could not be checked within the bounds.
	ErrCost = errors.New("too costly to check against the schema")

	errNumber = fmt.Errorf("%w: a number is too large", ErrCost)
)

// Validate checks doc, which need not be valid JSON. The error is nil, an
// [*Invalid] that says how doc breaks the schema, [ErrCost], or that of
// [jsonrpc.Check]; its text is short and fit for the client and its model.
func (s *Schema) Validate(doc []byte) error {
	if err := jsonrpc.Check(doc); err != nil {
		return err
	}
	r, _ := runs.Get().(*run)
	defer runs.Put(r)
	r.reset()
	if r.eval(s.root, trim(doc), nil) {
		return r.err
	}
	if r.err != nil {
		return r.err
	}
	return &Invalid{Complaints: r.complaints}
}

var runs = sync.Pool{New: func() any { return new(run) }}

// A run is one validation.
type run struct {
	left    int // of the budget
	nesting int
	err     error // ends the run

	quiet      int // above zero, a verdict is wanted and no complaint
	complaints []Complaint
	explaining bool // why none of several forms matches

	path []step // to the value at hand
}

// A step leads from a value into one of its members or elements.
type step struct {
	key   []byte // nil for an element
	index int
}

func (r *run) reset() {
	*r = run{left: budget, path: r.path[:0]}
}

// spend takes cost from the budget and reports whether the run may go on.
func (r *run) spend(cost int) bool {
	if r.left -= cost; r.left < 0 && r.err == nil {
		r.err = ErrCost
	}
	return r.err == nil
}

// done reports whether more complaints are of no use.
func (r *run) done() bool {
	return r.err != nil || r.quiet > 0 || len(r.complaints) >= maxComplaints
}

// Marks note which members and elements of one value have been evaluated, for
// unevaluatedProperties and unevaluatedItems.
type marks struct {
	allProps, allItems bool
	props              map[string]struct{}
	items              int // the first ones
	more               map[int]struct{}
}

func (m *marks) prop(key []byte) {
	if m.allProps {
		return
	}
	if m.props == nil {
		m.props = make(map[string]struct{})
	}
	m.props[string(key)] = struct{}{}
}

func (m *marks) hasProp(key []byte) bool {
	_, ok := m.props[string(key)]
	return ok || m.allProps
}

func (m *marks) item(i int) {
	if m.allItems || i < m.items {
		return
	}
	if m.more == nil {
		m.more = make(map[int]struct{})
	}
	m.more[i] = struct{}{}
}

func (m *marks) hasItem(i int) bool {
	_, ok := m.more[i]
	return ok || m.allItems || i < m.items
}

func (m *marks) merge(o *marks) {
	m.allProps = m.allProps || o.allProps
	m.allItems = m.allItems || o.allItems
	m.items = max(m.items, o.items)
	for key := range o.props {
		m.prop([]byte(key))
	}
	for i := range o.more {
		m.item(i)
	}
}

// eval reports whether b satisfies n, and notes in m what n evaluated. When it
// does not and a complaint is wanted, there is one more of them afterwards.
func (r *run) eval(n *node, b []byte, m *marks) bool {
	if n.always {
		return r.err == nil
	}
	if n.never {
		return r.fail("nothing is allowed here")
	}
	if !r.spend(nodeCost + len(b)) {
		return false
	}
	if r.nesting++; r.nesting > maxNesting {
		r.err = ErrCost
		return false
	}
	defer func() { r.nesting-- }()
	if m == nil && (n.unevaluatedProps != nil || n.unevaluatedItems != nil) {
		m = &marks{}
	}
	if !r.simple(n, b) {
		return false
	}
	ok := r.byType(n, b, m)
	if !ok && r.done() {
		return false
	}
	if !r.inPlace(n, b, m) {
		ok = false
		if r.done() {
			return false
		}
	}
	return r.unevaluated(n, b, m) && ok && r.err == nil
}

// simple checks type, const and enum: nothing more is said of a value that breaks them.
func (r *run) simple(n *node, b []byte) bool {
	if n.types != 0 && !n.types.has(b) {
		return r.fail("got %v, want %v", typeOf(b), n.types)
	}
	if n.one != nil && (!r.spend(10*len(b)) || !n.one.is(b)) {
		return r.fail("must be %s", short(n.one.text))
	}
	if n.values == nil {
		return true
	}
	cost := len(b)
	if b[0] == '[' || b[0] == '{' || isNumber(b) {
		cost *= 10
	}
	for i := range n.values {
		if !r.spend(5 + min(cost, 10*len(n.values[i].canonical)+cost/8)) {
			return false
		}
		if n.values[i].is(b) {
			return true
		}
	}
	return r.fail("must be one of %s", valueList(n.values))
}

func (r *run) byType(n *node, b []byte, m *marks) bool {
	switch {
	case b[0] == '{' && n.object != nil:
		return r.object(n.object, b, m)
	case b[0] == '[' && n.array != nil:
		return r.array(n.array, b, m)
	case b[0] == '"' && n.str != nil:
		return r.str(n.str, b)
	case n.num != nil && isNumber(b):
		return r.num(n.num, b)
	}
	return true
}

// sub evaluates n for the same value. Marks of a subschema that fails count for nothing.
func (r *run) sub(n *node, b []byte, m *marks) bool {
	if m == nil {
		return r.eval(n, b, nil)
	}
	var own marks
	if !r.eval(n, b, &own) {
		return false
	}
	if !r.spend(markCost * (len(own.props) + len(own.more))) {
		return false
	}
	m.merge(&own)
	return true
}

// silently is sub without complaints.
func (r *run) silently(n *node, b []byte, m *marks) bool {
	r.quiet++
	ok := r.sub(n, b, m)
	r.quiet--
	return ok
}

// inPlace checks the subschemas that apply to the value itself.
func (r *run) inPlace(n *node, b []byte, m *marks) bool {
	ok := true
	for _, list := range [...][]*node{n.refs, n.all} {
		for _, sub := range list {
			if !r.sub(sub, b, m) {
				ok = false
				if r.done() {
					return false
				}
			}
		}
	}
	if n.not != nil && r.silently(n.not, b, nil) {
		ok = r.fail("is of a form that the schema excludes")
	}
	if len(n.any) > 0 && !r.anyOf(n, b, m) {
		ok = false
	}
	if len(n.one1) > 0 && !r.oneOf(n, b, m) {
		ok = false
	}
	if n.cond != nil && !r.condition(n.cond, b, m) {
		ok = false
	}
	return ok && r.err == nil
}

func (r *run) anyOf(n *node, b []byte, m *marks) bool {
	matched := false
	for _, sub := range n.any {
		if r.silently(sub, b, m) {
			matched = true
			if m == nil { // else all of them must have their say
				return true
			}
		}
		if r.err != nil {
			return false
		}
	}
	return matched || r.none("anyOf", n.any, b)
}

func (r *run) oneOf(n *node, b []byte, m *marks) bool {
	first := -1
	for i, sub := range n.one1 {
		if r.silently(sub, b, m) {
			if first >= 0 {
				return r.fail("matches both form %d and form %d of oneOf, exactly one is allowed", first+1, i+1)
			}
			first = i
		}
		if r.err != nil {
			return false
		}
	}
	return first >= 0 || r.none("oneOf", n.one1, b)
}

func (r *run) condition(c *condition, b []byte, m *marks) bool {
	if r.silently(c.test, b, m) {
		return c.then == nil || r.sub(c.then, b, m)
	}
	return r.err == nil && (c.otherwise == nil || r.sub(c.otherwise, b, m))
}

func (r *run) unevaluated(n *node, b []byte, m *marks) bool {
	ok := true
	switch {
	case n.unevaluatedProps != nil && b[0] == '{':
		jsonrpc.Members(b, func(key, v []byte) bool {
			if !m.hasProp(key) && !r.member(n.unevaluatedProps, key, v) {
				ok = false
			}
			return ok || !r.done()
		})
		m.allProps = true
	case n.unevaluatedItems != nil && b[0] == '[':
		i := 0
		jsonrpc.Elements(b, func(v []byte) bool {
			if !m.hasItem(i) && !r.element(n.unevaluatedItems, i, v) {
				ok = false
			}
			i++
			return ok || !r.done()
		})
		m.allItems = true
	}
	return ok
}

// member evaluates n for the value v of the member key.
func (r *run) member(n *node, key, v []byte) bool {
	r.path = append(r.path, step{key: key})
	ok := r.eval(n, v, nil)
	r.path = r.path[:len(r.path)-1]
	return ok
}

// element evaluates n for the element i, which is v.
func (r *run) element(n *node, i int, v []byte) bool {
	r.path = append(r.path, step{index: i})
	ok := r.eval(n, v, nil)
	r.path = r.path[:len(r.path)-1]
	return ok
}
