package schema

import (
	"bytes"
	"unicode/utf8"

	"github.com/mcphost/mcphost/host/jsonrpc"
)

func (r *run) object(o *objectRules, b []byte, m *marks) bool {
	var small [32]bool
	seen := small[:]
	if len(o.required) > len(small) {
		seen = make([]bool, len(o.required))
	}
	ok, count := true, 0
	jsonrpc.Members(b, func(key, v []byte) bool {
		count++
		p, known := o.props[string(key)]
		if known && p.required >= 0 {
			seen[p.required] = true
		}
		if !r.property(o, p.sub, key, v, m) {
			ok = false
		}
		return r.spend(memberCost) && (ok || !r.done())
	})
	if r.err != nil || !ok && r.done() {
		return false
	}
	for i, name := range o.required {
		if !seen[i] {
			ok = r.fail("the property %q is missing", short([]byte(name)))
			if r.done() {
				return false
			}
		}
	}
	if o.min != nil && count < *o.min {
		ok = r.fail("has %d properties, at least %d are needed", count, *o.min)
	}
	if o.max != nil && count > *o.max {
		ok = r.fail("has %d properties, at most %d are allowed", count, *o.max)
	}
	if len(o.needs)+len(o.also) > 0 && !r.dependents(o, b, m) {
		return false
	}
	return ok
}

// property checks one member; sub is its schema by name, if there is one.
func (r *run) property(o *objectRules, sub *node, key, v []byte, m *marks) bool {
	ok, evaluated := true, sub != nil
	if sub != nil {
		ok = r.member(sub, key, v)
	}
	for i := range o.patterns {
		p := &o.patterns[i]
		if r.spend(memberCost+p.re.cost*len(key)) && p.re.re.Match(key) {
			evaluated = true
			ok = r.member(p.sub, key, v) && ok
		}
	}
	if !evaluated && o.additional != nil {
		evaluated = true
		if o.additional.never {
			ok = r.fail("the property %q is not allowed%s", short(key), o.propertyList)
		} else {
			ok = r.member(o.additional, key, v) && ok
		}
	}
	if evaluated && m != nil && r.spend(markCost) {
		m.prop(key)
	}
	if o.names != nil {
		name := jsonrpc.AppendString(nil, string(key))
		r.quiet++
		fits := r.eval(o.names, name, nil)
		r.quiet--
		if !fits {
			ok = r.fail("the name %q is not allowed for a property", short(key))
		}
	}
	return ok
}

func (r *run) dependents(o *objectRules, b []byte, m *marks) bool {
	ok := true
	for name, needs := range o.needs {
		if !r.spend(len(b)) {
			return false
		}
		if jsonrpc.Lookup(b, name) == nil {
			continue
		}
		for _, need := range needs {
			if r.spend(len(b)) && jsonrpc.Lookup(b, need) == nil {
				ok = r.fail("the property %q is missing, %q needs it", short([]byte(need)), short([]byte(name)))
			}
			if r.done() && !ok {
				return false
			}
		}
	}
	for name, sub := range o.also {
		if r.spend(len(b)) && jsonrpc.Lookup(b, name) != nil && !r.sub(sub, b, m) {
			ok = false
		}
	}
	return ok && r.err == nil
}

func (r *run) array(a *arrayRules, b []byte, m *marks) bool {
	ok, count, matches := true, 0, 0
	jsonrpc.Elements(b, func(v []byte) bool {
		if !r.item(a, count, v, m) {
			ok = false
		}
		if a.contains != nil && (ok || !r.done()) && r.contains(a, count, v, m) {
			matches++
		}
		count++
		return r.spend(memberCost) && (ok || !r.done())
	})
	if r.err != nil || !ok && r.done() {
		return false
	}
	if a.min != nil && count < *a.min {
		ok = r.fail("has %d elements, at least %d are needed", count, *a.min)
	}
	if a.max != nil && count > *a.max {
		ok = r.fail("has %d elements, at most %d are allowed", count, *a.max)
	}
	if a.contains != nil && matches < a.least {
		ok = r.fail("has %d elements of the form that contains names, at least %d are needed", matches, a.least)
	}
	if a.contains != nil && a.most != nil && matches > *a.most {
		ok = r.fail("has %d elements of the form that contains names, at most %d are allowed", matches, *a.most)
	}
	if a.unique && count > 1 && !r.unique(b) {
		ok = false
	}
	return ok
}

func (r *run) item(a *arrayRules, i int, v []byte, m *marks) bool {
	sub := a.rest
	if i < len(a.prefix) {
		sub = a.prefix[i]
	}
	if sub == nil {
		return true
	}
	if m != nil {
		m.items = max(m.items, i+1)
	}
	return r.element(sub, i, v)
}

func (r *run) contains(a *arrayRules, i int, v []byte, m *marks) bool {
	r.quiet++
	ok := r.element(a.contains, i, v)
	r.quiet--
	if ok && a.containsMarks && m != nil && r.spend(markCost) {
		m.item(i)
	}
	return ok
}

func (r *run) unique(b []byte) bool {
	if !r.spend(25 * len(b)) {
		return false
	}
	seen := make(map[string]int)
	ok, i := true, 0
	jsonrpc.Elements(b, func(v []byte) bool {
		key := string(appendCanonical(nil, v))
		if first, dup := seen[key]; dup {
			ok = r.fail("the elements %d and %d are equal, all must differ", first, i)
			return false
		}
		seen[key] = i
		i++
		return r.spend(5 * memberCost)
	})
	return ok && r.err == nil
}

func (r *run) str(s *stringRules, b []byte) bool {
	ok, text := true, b[1:len(b)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		decoded, _ := jsonrpc.String(b)
		text = []byte(decoded)
	}
	if s.min != nil || s.max != nil {
		n := utf8.RuneCount(text)
		if s.min != nil && n < *s.min {
			ok = r.fail("has %d characters, at least %d are needed", n, *s.min)
		}
		if s.max != nil && n > *s.max {
			ok = r.fail("has %d characters, at most %d are allowed", n, *s.max)
		}
	}
	if s.pattern != nil {
		if !r.spend(s.pattern.cost * len(text)) {
			return false
		}
		if !s.pattern.re.Match(text) {
			ok = r.fail("does not match the pattern %s", short([]byte(s.pattern.text)))
		}
	}
	return ok
}

func (r *run) num(n *numberRules, b []byte) bool {
	ok := true
	if n.min != nil && n.min.cmp(b) < 0 {
		ok = r.fail("must be at least %s", n.min.text)
	}
	if n.max != nil && n.max.cmp(b) > 0 {
		ok = r.fail("must be at most %s", n.max.text)
	}
	if n.above != nil && n.above.cmp(b) <= 0 {
		ok = r.fail("must be greater than %s", n.above.text)
	}
	if n.below != nil && n.below.cmp(b) >= 0 {
		ok = r.fail("must be less than %s", n.below.text)
	}
	if n.multiple == nil {
		return ok
	}
	if _, small := smallInt(b); !small && !r.spend(5000) {
		return false
	}
	multiple, known := n.multiple.divides(b)
	if !known {
		r.err = errNumber
		return false
	}
	if !multiple {
		ok = r.fail("must be a multiple of %s", n.multiple.text)
	}
	return ok
}
