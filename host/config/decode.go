package config

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// A decoder turns bodies into typed values and gathers every complaint.
type decoder struct {
	opts   Options
	config *Config
	diags  hcl.Diagnostics

	vars   map[string]cty.Value // by name; unknown where the value is missing; nil until they are read
	scopes map[string]*hcl.EvalContext

	seen map[string]hcl.Range // "server", `plugin "x"`: where each thing that may stand once does
}

func newDecoder(opts Options, src *sources, files []string) *decoder {
	return &decoder{
		opts:   opts,
		config: &Config{Server: defaultServer(), HTTP: defaultHTTP(), Limits: defaultLimits(), Files: files, sources: src},
		scopes: map[string]*hcl.EvalContext{},
		seen:   map[string]hcl.Range{},
	}
}

func (d *decoder) errorf(at Range, summary, format string, args ...any) {
	d.diags = append(d.diags, NewError(at, summary, fmt.Sprintf(format, args...)))
}

func (d *decoder) warnf(at Range, summary, format string, args ...any) {
	d.diags = append(d.diags, NewWarning(at, summary, fmt.Sprintf(format, args...)))
}

// A fields table says what may stand in a body and where it goes.
type fields struct {
	args   map[string]setter
	blocks map[string]child
	secret []string // the arguments that may have sensitive values
}

// A setter takes the value of one argument. It is called only with a value
// that is known and not null.
type setter func(a value)

// A child is a kind of block inside a body.
type child struct {
	labels []string
	once   bool
	read   func(b *hcl.Block)
}

// set makes a setter of a destination and the function that reads its type.
func set[T any](dst *T, read func(a value) (T, bool)) setter {
	return func(a value) {
		if v, ok := read(a); ok {
			*dst = v
		}
	}
}

// with returns the table with more arguments and blocks.
func (f fields) with(more fields) fields {
	out := fields{args: maps.Clone(f.args), blocks: maps.Clone(f.blocks), secret: slices.Concat(f.secret, more.secret)}
	if out.blocks == nil {
		out.blocks = map[string]child{}
	}
	maps.Copy(out.args, more.args)
	maps.Copy(out.blocks, more.blocks)
	return out
}

func (f fields) schema() *hcl.BodySchema {
	s := &hcl.BodySchema{}
	for _, name := range slices.Sorted(maps.Keys(f.args)) {
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: name})
	}
	for _, name := range slices.Sorted(maps.Keys(f.blocks)) {
		s.Blocks = append(s.Blocks, hcl.BlockHeaderSchema{Type: name, LabelNames: f.blocks[name].labels})
	}
	return s
}

// body reads a body by its table and notes where each argument stands.
func (d *decoder) body(b hcl.Body, place *Place, f fields) {
	content, diags := b.Content(f.schema())
	d.diags = append(d.diags, diags...)
	if content == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(content.Attributes)) {
		d.argument(content.Attributes[name], place, f)
	}
	first := map[string]*hcl.Block{}
	for _, block := range content.Blocks {
		kind := f.blocks[block.Type]
		if earlier := first[block.Type]; earlier != nil && kind.once {
			d.errorf(block.DefRange, "Duplicate block", "There can be only one %q block here; the first is at %s.", block.Type, where(earlier.DefRange))
			continue
		}
		first[block.Type] = block
		kind.read(block)
	}
}

func (d *decoder) argument(attr *hcl.Attribute, place *Place, f fields) {
	place.put(attr.Name, attr.Expr.Range())
	if slices.Contains(f.secret, attr.Name) && attr.Name != "env" {
		d.config.sources.mask(attr.Expr)
	}
	v, ok := d.eval(attr.Expr)
	if !ok {
		return
	}
	if v.IsNull() { // as if it were not written
		delete(place.args, attr.Name)
		return
	}
	d.placeItems(attr.Expr, attr.Name, place)
	if v.ContainsMarked() {
		if !slices.Contains(f.secret, attr.Name) {
			d.errorf(attr.Expr.Range(), "Sensitive value", "The argument %q shows in lists and logs, so it cannot take the value of a sensitive variable.", attr.Name)
			return
		}
		v, _ = v.UnmarkDeep()
	}
	f.args[attr.Name](value{d: d, name: attr.Name, expr: attr.Expr, v: v, place: place})
}

// placeItems notes where the items of a literal list or object stand.
func (d *decoder) placeItems(expr hcl.Expression, name string, place *Place) {
	if items, diags := hcl.ExprList(expr); !diags.HasErrors() {
		for i, item := range items {
			place.put(fmt.Sprintf("%s/%d", name, i), item.Range())
		}
	}
	if pairs, diags := hcl.ExprMap(expr); !diags.HasErrors() {
		for _, pair := range pairs {
			if key, ok := d.key(pair.Key); ok {
				place.put(name+"/"+key, pair.Value.Range())
			}
		}
	}
}

// key returns the key of an object literal, if it is known and no secret.
func (d *decoder) key(expr hcl.Expression) (string, bool) {
	return literalKey(expr, d.scope(expr.Range().Filename))
}

func literalKey(expr hcl.Expression, ctx *hcl.EvalContext) (string, bool) {
	k, diags := expr.Value(ctx)
	if diags.HasErrors() || k.IsMarked() || !k.IsKnown() || k.IsNull() || k.Type() != cty.String {
		return "", false
	}
	return k.AsString(), true
}

// eval gives the value of an expression, or false after it complained or where
// a variable has no value, which was a complaint of its own.
func (d *decoder) eval(expr hcl.Expression) (cty.Value, bool) {
	v, diags := evaluate(expr, d.scope(expr.Range().Filename))
	d.diags = append(d.diags, diags...)
	return v, !diags.HasErrors() && v.IsWhollyKnown()
}

// evaluate gives the value of an expression, with complaints in our words.
func evaluate(expr hcl.Expression, ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if diags := unknownVariables(expr, ctx); diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	v, diags := expr.Value(ctx)
	for i, diag := range diags {
		diags[i] = reworded(diag)
	}
	return v, diags
}

// reworded returns the complaint of one of our functions in its own words, at
// the whole call, and any other as it is.
func reworded(diag *hcl.Diagnostic) *hcl.Diagnostic {
	extra, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](diag)
	if !ok {
		return diag
	}
	var call *callError
	if !errors.As(extra.FunctionCallError(), &call) {
		return diag
	}
	at := subject(diag)
	if diag.Context != nil {
		at = *diag.Context
	}
	return NewError(at, call.summary, call.detail)
}

// once complains when a thing that may stand once stands again.
func (d *decoder) once(key string, at Range, summary, detail string) bool {
	if earlier, ok := d.seen[key]; ok {
		d.errorf(at, summary, "%s; the first is at %s.", detail, where(earlier))
		return false
	}
	d.seen[key] = at
	return true
}

func where(r Range) string {
	return fmt.Sprintf("%s, line %d", filepath.Base(r.Filename), r.Start.Line)
}
