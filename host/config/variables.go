package config

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// envPrefix stands before the name of a variable in the environment.
const envPrefix = "MCPHOST_VAR_"

// sensitive marks values that must not be seen.
const sensitive = "sensitive"

// A variable is a variable block while it is read.
type variable struct {
	name      string
	block     *hcl.Block
	typ       cty.Type   // cty.DynamicPseudoType: as given
	fallback  *cty.Value // nil: must be given
	sensitive bool
}

// variables reads the variable blocks first, since everything else may use them.
func (d *decoder) variables(blocks hcl.Blocks) {
	vars := map[string]cty.Value{}
	for _, block := range blocks {
		name := block.Labels[0]
		if !hclsyntax.ValidIdentifier(name) {
			d.errorf(block.LabelRanges[0], "Invalid name", "The name of a variable is a letter, then letters, digits, dashes and underscores; %q is not.", name)
			continue
		}
		if !d.once("variable "+name, block.DefRange, "Duplicate variable", fmt.Sprintf("The variable %q is declared twice", name)) {
			continue
		}
		v := d.variable(name, block)
		value := d.variableValue(v)
		if v.sensitive {
			value = value.Mark(sensitive)
		}
		vars[name] = value
	}
	for _, name := range slices.Sorted(maps.Keys(d.opts.Vars)) {
		if _, ok := vars[name]; !ok {
			d.errorf(Range{}, "Unknown variable", "A value is given for the variable %q, but no file declares it.%s", name, didYouMean(name, keys(vars)))
		}
	}
	d.vars = vars
	clear(d.scopes) // from here on there is var
}

func (d *decoder) variable(name string, block *hcl.Block) *variable {
	v := &variable{name: name, block: block, typ: cty.DynamicPseudoType}
	content, diags := block.Body.Content(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{
		{Name: "type"}, {Name: "default"}, {Name: "description"}, {Name: "sensitive"},
	}})
	d.diags = append(d.diags, diags...)
	var place Place
	read := func(name string, s setter) {
		if attr, ok := content.Attributes[name]; ok {
			d.argument(attr, &place, fields{args: map[string]setter{name: s}})
		}
	}
	var description string // for the reader of the file alone
	read("description", set(&description, text))
	read("sensitive", set(&v.sensitive, boolean))
	if attr, ok := content.Attributes["type"]; ok {
		t, diags := typeexpr.TypeConstraint(attr.Expr)
		d.diags = append(d.diags, diags...)
		if !diags.HasErrors() {
			v.typ = t
		}
	}
	if attr, ok := content.Attributes["default"]; ok {
		d.variableDefault(v, attr)
	}
	return v
}

func (d *decoder) variableDefault(v *variable, attr *hcl.Attribute) {
	if v.sensitive {
		d.config.sources.mask(attr.Expr)
	}
	value, ok := d.eval(attr.Expr)
	if !ok { // complained; do not complain again that there is none
		value = cty.DynamicVal
	}
	value, err := convert.Convert(value, v.typ)
	if err != nil {
		d.errorf(attr.Expr.Range(), "Invalid value", "The default of the variable %q does not have its type: %v.", v.name, err)
		value = cty.DynamicVal
	}
	v.fallback = &value
}

// variableValue returns the value of a variable; unknown, after a complaint,
// if there is none.
func (d *decoder) variableValue(v *variable) cty.Value {
	given, from := d.opts.Vars[v.name], "-var"
	_, ok := d.opts.Vars[v.name]
	if !ok {
		from = envPrefix + v.name
		given, ok = d.opts.Env(from)
	}
	switch {
	case ok:
		value, problem := parseVariable(given, v.typ)
		if problem != "" {
			d.errorf(v.block.DefRange, "Invalid value", "The value that %s gives to the variable %q %s.", from, v.name, problem)
		}
		return value
	case v.fallback != nil:
		return *v.fallback
	}
	d.errorf(v.block.DefRange, "Missing variable", "The variable %q has no value. Give one by -var %s=VALUE or by the environment variable %s, or write a default.", v.name, v.name, envPrefix+v.name)
	return cty.DynamicVal
}

// parseVariable reads a value given outside of the files: text as it is where
// the type is a string or open, an HCL literal otherwise. The problem does not
// show the value, which may be secret.
func parseVariable(given string, typ cty.Type) (_ cty.Value, problem string) {
	value := cty.StringVal(given)
	if !typ.IsPrimitiveType() && typ != cty.DynamicPseudoType {
		const name = "value"
		if len(given) > maxFileSize || tooDeep([]byte(given), name) != nil {
			return cty.DynamicVal, "is too large"
		}
		expr, diags := hclsyntax.ParseExpression([]byte(given), name, hcl.InitialPos)
		if !diags.HasErrors() {
			value, diags = expr.Value(nil)
		}
		if diags.HasErrors() {
			return cty.DynamicVal, "is not an HCL literal such as [\"a\", \"b\"]"
		}
	}
	value, err := convert.Convert(value, typ)
	if err != nil {
		return cty.DynamicVal, "does not have its type: " + err.Error()
	}
	return value, ""
}

// unknownVariables complains about names that do not exist.
func unknownVariables(expr hcl.Expression, ctx *hcl.EvalContext) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, t := range expr.Variables() {
		root, ok := ctx.Variables[t.RootName()]
		switch {
		case !ok && t.RootName() == "var":
			diags = append(diags, NewError(t.SourceRange(), "Unknown variable", "The default of a variable cannot use another variable."))
		case !ok:
			diags = append(diags, NewError(t.SourceRange(), "Unknown variable", fmt.Sprintf("There is no %q here. Write var.NAME for a variable, path.config_dir, path.home or path.cwd for a folder, and quotes around text.", t.RootName())))
		case len(t) > 1:
			if step, ok := t[1].(hcl.TraverseAttr); ok && !root.Type().HasAttribute(step.Name) {
				name := t.RootName() + "." + step.Name
				diags = append(diags, NewError(t.SourceRange(), "Unknown variable", fmt.Sprintf("There is no %s.%s", name, didYouMean(step.Name, keys(root.Type().AttributeTypes())))))
			}
		}
	}
	return diags
}

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
