package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// A configWalker turns the body of a config block into a JSON value and notes
// where each part of it stands, by JSON pointer.
type configWalker struct {
	eval   *hcl.EvalContext
	places map[string]span
	marked []string // pointers of values that came from a sensitive variable
	secret map[string]bool
	diags  hcl.Diagnostics
}

// open returns what is in a body whose schema is not ours. In JSON syntax
// nothing tells a block from an object: everything is an argument there.
func open(body hcl.Body) ([]*hcl.Attribute, []*hclsyntax.Block, hcl.Diagnostics) {
	if native, ok := body.(*hclsyntax.Body); ok {
		args := make([]*hcl.Attribute, 0, len(native.Attributes))
		for _, name := range keys(native.Attributes) {
			args = append(args, native.Attributes[name].AsHCLAttribute())
		}
		return args, native.Blocks, nil
	}
	attrs, diags := body.JustAttributes()
	args := make([]*hcl.Attribute, 0, len(attrs))
	for _, name := range keys(attrs) {
		args = append(args, attrs[name])
	}
	return args, nil, diags
}

func (w *configWalker) body(body hcl.Body, pointer string, n node) map[string]any {
	args, blocks, diags := open(body)
	w.diags = append(w.diags, diags...)
	out := map[string]any{}
	for _, attr := range args {
		w.argument(attr, join(pointer, attr.Name), out)
	}
	for _, b := range blocks {
		w.block(b, join(pointer, b.Type), n.property(b.Type), out)
	}
	return out
}

func (w *configWalker) argument(attr *hcl.Attribute, pointer string, out map[string]any) {
	v, diags := evaluate(attr.Expr, w.eval)
	w.diags = append(w.diags, diags...)
	w.places[pointer] = span{attr.Expr.Range(), attr.NameRange, attr.Expr}
	w.literal(attr.Expr, pointer)
	if diags.HasErrors() || v.IsNull() { // null is as if it were not written
		return
	}
	v, marks := v.UnmarkDeepWithPaths()
	for _, m := range marks {
		w.marked = append(w.marked, pointer+pathPointer(m.Path))
	}
	j, err := jsonValue(v)
	if err != nil {
		w.diags = append(w.diags, NewError(attr.Expr.Range(), "Invalid plugin configuration", fmt.Sprintf("The argument %q cannot be written as JSON: %v.", attr.Name, err)))
		return
	}
	out[attr.Name] = j
}

// literal notes where the parts of an object or list literal stand.
func (w *configWalker) literal(expr hcl.Expression, pointer string) {
	if pairs, diags := hcl.ExprMap(expr); !diags.HasErrors() {
		for _, pair := range pairs {
			if key, ok := literalKey(pair.Key, w.eval); ok {
				at := join(pointer, key)
				w.places[at] = span{pair.Value.Range(), pair.Key.Range(), pair.Value}
				w.literal(pair.Value, at)
			}
		}
		return
	}
	if items, diags := hcl.ExprList(expr); !diags.HasErrors() {
		for i, item := range items {
			at := join(pointer, strconv.Itoa(i))
			w.places[at] = span{item.Range(), item.Range(), item}
			w.literal(item, at)
		}
	}
}

// block puts a block into out: as an item of an array, under its labels into a
// map, or as an object.
func (w *configWalker) block(b *hclsyntax.Block, pointer string, n node, out map[string]any) {
	place := span{value: b.DefRange(), name: b.TypeRange}
	if len(b.Labels) > 0 && !n.isMap() {
		w.diags = append(w.diags, NewError(b.LabelRanges[0], "Unexpected label", fmt.Sprintf("Blocks of type %q take no label here.", b.Type)))
		return
	}
	existing, again := out[b.Type]
	switch {
	case len(b.Labels) > 0:
		w.labelled(b, pointer, n, out)
	case n.isArray():
		items, ok := existing.([]any)
		if again && (!ok || w.places[pointer].expr != nil) {
			w.duplicate(b)
			return
		}
		if !again {
			w.places[pointer] = place
		}
		at := join(pointer, strconv.Itoa(len(items)))
		w.places[at] = place
		out[b.Type] = append(items, w.body(b.Body, at, n.items()))
	case again || w.places[pointer].expr != nil:
		w.duplicate(b)
	default:
		w.places[pointer] = place
		out[b.Type] = w.body(b.Body, pointer, n)
	}
}

// labelled puts a block under its labels, one map a label.
func (w *configWalker) labelled(b *hclsyntax.Block, pointer string, n node, out map[string]any) {
	at, key := out, b.Type
	if w.places[pointer].expr != nil {
		w.duplicate(b)
		return
	}
	for i, label := range b.Labels {
		if _, ok := at[key]; !ok {
			at[key] = map[string]any{}
		}
		inner, ok := at[key].(map[string]any)
		if !ok {
			w.duplicate(b)
			return
		}
		if _, ok := w.places[pointer]; !ok {
			w.places[pointer] = span{value: b.DefRange(), name: b.TypeRange}
		}
		at, key = inner, label
		pointer, n = join(pointer, label), n.property(label)
		if _, taken := at[key]; taken && i == len(b.Labels)-1 {
			w.duplicate(b)
			return
		}
	}
	w.places[pointer] = span{value: b.DefRange(), name: b.LabelRanges[len(b.LabelRanges)-1]}
	at[key] = w.body(b.Body, pointer, n)
}

func (w *configWalker) duplicate(b *hclsyntax.Block) {
	w.diags = append(w.diags, NewError(b.DefRange(), "Duplicate block", fmt.Sprintf("There can be only one %q here.", b.Type)))
}

// findSecrets notes the pointers of all values that must not be shown.
func (w *configWalker) findSecrets(v any, pointer string, n node, inside bool) {
	if w.secret == nil {
		w.secret = map[string]bool{}
		for _, marked := range w.marked {
			w.secret[marked] = true
		}
	}
	inside = inside || n.isSecret() || w.secret[pointer]
	if inside {
		w.secret[pointer] = true
	}
	switch v := v.(type) {
	case map[string]any:
		for name, child := range v {
			w.findSecrets(child, join(pointer, name), n.property(name), inside)
		}
	case []any:
		for i, child := range v {
			w.findSecrets(child, join(pointer, strconv.Itoa(i)), n.items(), inside)
		}
	}
}

func (w *configWalker) mask(s *sources) {
	for pointer := range w.secret {
		if at := w.places[pointer]; at.expr != nil {
			s.mask(at.expr)
		}
	}
}

// Pointers are RFC 6901.

var (
	pointerEscape   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescape = strings.NewReplacer("~1", "/", "~0", "~")
)

func join(pointer, token string) string { return pointer + "/" + pointerEscape.Replace(token) }

func splitPointer(pointer string) []string {
	if pointer == "" {
		return nil
	}
	tokens := strings.Split(pointer, "/")[1:]
	for i, token := range tokens {
		tokens[i] = pointerUnescape.Replace(token)
	}
	return tokens
}

func lookup(v any, pointer string) any {
	for _, token := range splitPointer(pointer) {
		switch at := v.(type) {
		case map[string]any:
			v = at[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(at) {
				return nil
			}
			v = at[i]
		default:
			return nil
		}
	}
	return v
}

func pathPointer(path cty.Path) string {
	pointer := ""
	for _, step := range path {
		switch step := step.(type) {
		case cty.GetAttrStep:
			pointer = join(pointer, step.Name)
		case cty.IndexStep:
			pointer = join(pointer, rawNumber(step.Key))
		}
	}
	return pointer
}

var errUnknown = errors.New("it is not known")

// jsonValue loses nothing: numbers keep all their digits.
func jsonValue(v cty.Value) (any, error) {
	t := v.Type()
	switch {
	case !v.IsKnown():
		return nil, errUnknown
	case v.IsNull():
		return nil, nil
	case t == cty.String:
		return v.AsString(), nil
	case t == cty.Bool:
		return v.True(), nil
	case t == cty.Number:
		if f := v.AsBigFloat(); f.IsInf() {
			return nil, errors.New("it is infinite")
		}
		return json.Number(rawNumber(v)), nil
	case t.IsObjectType() || t.IsMapType():
		return jsonObject(v)
	case t.IsTupleType() || t.IsListType() || t.IsSetType():
		out := make([]any, 0, v.LengthInt())
		for _, item := range v.AsValueSlice() {
			j, err := jsonValue(item)
			if err != nil {
				return nil, err
			}
			out = append(out, j)
		}
		return out, nil
	}
	return nil, fmt.Errorf("it is a %s", t.FriendlyName())
}

func jsonObject(v cty.Value) (any, error) {
	out := map[string]any{}
	values := v.AsValueMap()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		j, err := jsonValue(values[name])
		if err != nil {
			return nil, err
		}
		out[name] = j
	}
	return out, nil
}
