package schema

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A node is one subschema in the form that a run evaluates. What a schema does
// not say is the zero value.
type node struct {
	never, always bool // a boolean schema

	types  typeSet
	values []value // enum
	one    *value  // const

	refs           []*node // $ref, $dynamicRef, $recursiveRef
	all, any, one1 []*node // allOf, anyOf, oneOf
	not            *node
	cond           *condition

	object *objectRules
	array  *arrayRules
	str    *stringRules
	num    *numberRules

	unevaluatedProps, unevaluatedItems *node
}

type condition struct{ test, then, otherwise *node }

type objectRules struct {
	min, max     *int
	required     []string
	props        map[string]property
	patterns     []patternProp
	additional   *node
	names        *node
	needs        map[string][]string // dependentRequired
	also         map[string]*node    // dependentSchemas
	propertyList string              // the names of props, for complaints
}

type property struct {
	sub      *node // nil if the name is only required
	required int   // its index in required, or -1
}

type patternProp struct {
	re  *pattern
	sub *node
}

type arrayRules struct {
	min, max      *int
	unique        bool
	prefix        []*node
	rest          *node // of what follows the prefix
	contains      *node
	least         int // matches of contains
	most          *int
	containsMarks bool // what contains matches counts as evaluated: from 2020-12
}

type stringRules struct {
	min, max *int
	pattern  *pattern
}

type numberRules struct {
	min, max, above, below, multiple *limit
}

// A builder makes nodes of what the library compiled.
type builder struct {
	nodes     map[*jsonschema.Schema]*node
	unchecked []string
	exact     int // above zero where a pattern that is not enforced would turn the verdict around
	err       error
}

// build makes a Schema of compiled, whose text decodes to doc.
func build(compiled *jsonschema.Schema, doc any) (*Schema, error) {
	if err := singleResource(doc); err != nil {
		return nil, err
	}
	b := builder{nodes: make(map[*jsonschema.Schema]*node)}
	root := b.node(compiled)
	if b.err != nil {
		return nil, b.err
	}
	if err := acyclic(b.nodes); err != nil {
		return nil, err
	}
	return &Schema{root: root, unchecked: b.unchecked}, nil
}

// node returns the node of s, which may still be in the making.
func (b *builder) node(s *jsonschema.Schema) *node {
	if s == nil {
		return nil
	}
	if n := b.nodes[s]; n != nil {
		return n
	}
	n := &node{}
	b.nodes[s] = n
	if !strings.HasPrefix(s.Location, base+"#") {
		b.fail(fmt.Errorf("a reference leaves the document: %.200q", s.Location))
		return n
	}
	if s.Bool != nil {
		n.always, n.never = *s.Bool, !*s.Bool
		return n
	}
	b.references(n, s)
	if s.DraftVersion < 2019 && s.Ref != nil {
		return n // what stands beside a $ref is ignored there
	}
	b.general(n, s)
	n.object = b.object(s)
	n.array = b.array(s)
	n.str = b.str(s)
	n.num = b.num(s)
	return n
}

func (b *builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

func (b *builder) list(s []*jsonschema.Schema) []*node {
	var out []*node
	for _, sub := range s {
		out = append(out, b.node(sub))
	}
	return out
}

func (b *builder) exactly(f func()) {
	b.exact++
	f()
	b.exact--
}

func (b *builder) references(n *node, s *jsonschema.Schema) {
	targets := []*jsonschema.Schema{s.Ref, s.RecursiveRef}
	if s.DynamicRef != nil {
		// There is one resource (singleResource), so the dynamic scope has nothing else to offer.
		targets = append(targets, s.DynamicRef.Ref)
	}
	for _, t := range targets {
		if t != nil {
			n.refs = append(n.refs, b.node(t))
		}
	}
}

func (b *builder) general(n *node, s *jsonschema.Schema) {
	if s.Types != nil {
		n.types = typesOf(s.Types.ToStrings())
	}
	if s.Const != nil {
		v := valueOf(*s.Const)
		n.one = &v
	}
	if s.Enum != nil {
		n.values = []value{}
		for _, v := range s.Enum.Values {
			n.values = append(n.values, valueOf(v))
		}
	}
	n.all = b.list(s.AllOf)
	n.any = b.list(s.AnyOf)
	b.exactly(func() {
		n.one1 = b.list(s.OneOf)
		n.not = b.node(s.Not)
		if s.If != nil {
			n.cond = &condition{test: b.node(s.If)}
		}
	})
	if n.cond != nil {
		n.cond.then, n.cond.otherwise = b.node(s.Then), b.node(s.Else)
	}
	n.unevaluatedProps = b.node(s.UnevaluatedProperties)
	n.unevaluatedItems = b.node(s.UnevaluatedItems)
}

func (b *builder) object(s *jsonschema.Schema) *objectRules {
	o := &objectRules{min: s.MinProperties, max: s.MaxProperties, names: b.node(s.PropertyNames), needs: map[string][]string{}, also: map[string]*node{}}
	for _, name := range s.Required {
		if !slices.Contains(o.required, name) {
			o.required = append(o.required, name)
		}
	}
	o.props = make(map[string]property, len(s.Properties))
	var names []string
	for name, sub := range s.Properties {
		o.props[name] = property{sub: b.node(sub), required: -1}
		names = append(names, name)
	}
	slices.Sort(names)
	o.propertyList = shortList(names)
	for i, name := range o.required {
		o.props[name] = property{sub: o.props[name].sub, required: i}
	}
	for re, sub := range s.PatternProperties {
		p, ok := re.(*pattern)
		if !ok || p.re == nil {
			b.fail(fmt.Errorf("patternProperties has an expression that is not supported: %.200q", re.String()))
			continue
		}
		o.patterns = append(o.patterns, patternProp{p, b.node(sub)})
	}
	o.additional = b.boolOrSchema(s.AdditionalProperties)
	b.dependencies(o, s)
	if o.min == nil && o.max == nil && o.names == nil && o.additional == nil &&
		len(o.props)+len(o.patterns)+len(o.needs)+len(o.also) == 0 {
		return nil
	}
	return o
}

func (b *builder) dependencies(o *objectRules, s *jsonschema.Schema) {
	for name, sub := range s.DependentSchemas {
		o.also[name] = b.node(sub)
	}
	maps.Copy(o.needs, s.DependentRequired)
	for name, dep := range s.Dependencies {
		switch dep := dep.(type) {
		case []string:
			o.needs[name] = append(slices.Clone(dep), o.needs[name]...)
		case *jsonschema.Schema:
			n := b.node(dep)
			if other := o.also[name]; other != nil {
				n = &node{all: []*node{n, other}}
			}
			o.also[name] = n
		}
	}
}

func (b *builder) boolOrSchema(v any) *node {
	switch v := v.(type) {
	case bool:
		return &node{always: v, never: !v}
	case *jsonschema.Schema:
		return b.node(v)
	}
	return nil
}

func (b *builder) array(s *jsonschema.Schema) *arrayRules {
	a := &arrayRules{min: s.MinItems, max: s.MaxItems, unique: s.UniqueItems, prefix: b.list(s.PrefixItems), rest: b.node(s.Items2020)}
	if s.DraftVersion < 2020 {
		switch items := s.Items.(type) {
		case *jsonschema.Schema:
			a.rest = b.node(items)
		case []*jsonschema.Schema:
			a.prefix, a.rest = b.list(items), b.boolOrSchema(s.AdditionalItems)
		}
	}
	if s.Contains != nil {
		b.exactly(func() { a.contains = b.node(s.Contains) })
		a.least, a.most, a.containsMarks = 1, s.MaxContains, s.DraftVersion >= 2020
		if s.MinContains != nil {
			a.least = *s.MinContains
		}
	}
	if a.min == nil && a.max == nil && !a.unique && a.rest == nil && a.contains == nil && len(a.prefix) == 0 {
		return nil
	}
	return a
}

func (b *builder) str(s *jsonschema.Schema) *stringRules {
	if s.MinLength == nil && s.MaxLength == nil && s.Pattern == nil {
		return nil
	}
	r := &stringRules{min: s.MinLength, max: s.MaxLength}
	if p, ok := s.Pattern.(*pattern); ok {
		switch {
		case p.re != nil:
			r.pattern = p
		case b.exact > 0:
			b.fail(fmt.Errorf("a pattern under not, if, oneOf or contains is not supported: %.200q", p.text))
		default:
			b.unchecked = append(b.unchecked, p.text)
		}
	}
	return r
}

func (b *builder) num(s *jsonschema.Schema) *numberRules {
	r := numberRules{limitOf(s.Minimum), limitOf(s.Maximum), limitOf(s.ExclusiveMinimum), limitOf(s.ExclusiveMaximum), limitOf(s.MultipleOf)}
	if r == (numberRules{}) {
		return nil
	}
	return &r
}

// singleResource refuses the one thing that is not supported: dynamic
// references in a document that embeds resources of their own.
func singleResource(doc any) error {
	var dynamic, embedded bool
	var look func(v any, depth int)
	look = func(v any, depth int) {
		switch v := v.(type) {
		case map[string]any:
			for key, sub := range v {
				if _, ok := sub.(string); ok {
					dynamic = dynamic || key == "$dynamicRef" || key == "$recursiveRef"
					embedded = embedded || key == "$id" && depth > 0
				}
				look(sub, depth+1)
			}
		case []any:
			for _, sub := range v {
				look(sub, depth+1)
			}
		}
	}
	look(doc, 0)
	if dynamic && embedded {
		return errors.New("dynamic references beside an embedded $id are not supported")
	}
	return nil
}

// acyclic refuses schemas that apply to a value what they apply to it already:
// no value could ever be checked.
func acyclic(nodes map[*jsonschema.Schema]*node) error {
	state := make(map[*node]int) // 1 open, 2 done
	var visit func(n *node) error
	visit = func(n *node) error {
		if n == nil || state[n] == 2 {
			return nil
		}
		if state[n] == 1 {
			return errors.New("a reference leads back to itself")
		}
		state[n] = 1
		for _, sub := range n.inPlace() {
			if err := visit(sub); err != nil {
				return err
			}
		}
		state[n] = 2
		return nil
	}
	for _, n := range nodes {
		if err := visit(n); err != nil {
			return err
		}
	}
	return nil
}

// inPlace lists the subschemas that apply to the very value that n applies to.
func (n *node) inPlace() []*node {
	list := slices.Concat(n.refs, n.all, n.any, n.one1, []*node{n.not})
	if n.cond != nil {
		list = append(list, n.cond.test, n.cond.then, n.cond.otherwise)
	}
	if n.object != nil {
		for _, sub := range n.object.also {
			list = append(list, sub)
		}
	}
	return list
}
