package config

import (
	"fmt"
	"math/big"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

const (
	maxSummary = 200
	maxDetail  = 4000
	maxListed  = 30 // names in one sentence
)

// A translator turns what a schema finds wrong into diagnostics at the tightest place.
type translator struct {
	walker *configWalker
	schema *schema
	plugin string
	diags  hcl.Diagnostics
}

func (t *translator) add(at Range, format string, args ...any) {
	t.diags = append(t.diags, NewError(at, "Invalid plugin configuration", clean(fmt.Sprintf(format, args...), maxDetail)))
}

func (t *translator) translate(e *jsonschema.ValidationError) {
	pointer := ""
	for _, token := range e.InstanceLocation {
		pointer = join(pointer, token)
	}
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			t.unexpected(pointer, name)
		}
	case *kind.FalseSchema:
		if n := len(e.InstanceLocation); n > 0 {
			t.unexpected(pointer[:strings.LastIndexByte(pointer, '/')], e.InstanceLocation[n-1])
		} else {
			t.add(t.at(pointer), "The plugin %q accepts no configuration.", t.plugin)
		}
	case *kind.Required:
		for _, name := range k.Missing {
			t.add(t.at(pointer), "The argument %q is required%s.", name, inside(e.InstanceLocation))
		}
	case *kind.PropertyNames:
		t.add(t.nameAt(join(pointer, k.Property)), "The name %q is not allowed here.", k.Property)
	case *kind.AnyOf, *kind.OneOf:
		t.alternatives(e, pointer)
	default:
		if len(e.Causes) == 0 {
			t.leaf(e, pointer)
		}
		for _, cause := range e.Causes {
			t.translate(cause)
		}
	}
}

func (t *translator) at(pointer string) Range {
	return nearest(t.walker.places, pointer).value
}

func (t *translator) nameAt(pointer string) Range {
	return nearest(t.walker.places, pointer).name
}

func (t *translator) unexpected(pointer, name string) {
	n := t.schema.node()
	for _, token := range splitPointer(pointer) {
		if n.isArray() {
			n = n.items()
		} else {
			n = n.property(token)
		}
	}
	names := n.names()
	accepts := fmt.Sprintf("the plugin %q accepts %s", t.plugin, listing(names[:min(len(names), maxListed)]))
	if len(names) == 0 {
		accepts = fmt.Sprintf("the plugin %q accepts none", t.plugin)
	}
	t.add(t.nameAt(join(pointer, name)), "An argument named %q is not expected here: %s.%s", name, accepts, didYouMean(name, names))
}

// alternatives speaks of the one branch that was meant, if that is clear: the
// one that has the right type. Otherwise it says what each would want.
func (t *translator) alternatives(e *jsonschema.ValidationError, pointer string) {
	var meant []*jsonschema.ValidationError
	for _, cause := range e.Causes {
		if k, ok := innermost(cause).ErrorKind.(*kind.Type); !ok || k == nil || len(innermost(cause).InstanceLocation) > len(e.InstanceLocation) {
			meant = append(meant, cause)
		}
	}
	if len(meant) == 1 {
		t.translate(meant[0])
		return
	}
	var wants []string
	for _, cause := range e.Causes {
		inner := innermost(cause)
		wants = append(wants, t.problem(inner, t.isSecret(inner.InstanceLocation)))
	}
	if len(wants) == 0 {
		wants = []string{"matches more than one of the alternatives of the schema"}
	}
	t.add(t.at(pointer), "The argument %s fits none of its forms: %s.", argument(e.InstanceLocation), strings.Join(wants[:min(len(wants), maxListed)], "; or "))
}

// innermost follows single causes down.
func innermost(e *jsonschema.ValidationError) *jsonschema.ValidationError {
	for len(e.Causes) == 1 {
		e = e.Causes[0]
	}
	return e
}

func (t *translator) leaf(e *jsonschema.ValidationError, pointer string) {
	t.add(t.at(pointer), "The argument %s %s.", argument(e.InstanceLocation), t.problem(e, t.isSecret(e.InstanceLocation)))
}

func (t *translator) isSecret(location []string) bool {
	pointer := ""
	if t.walker.secret[pointer] {
		return true
	}
	for _, token := range location {
		if pointer = join(pointer, token); t.walker.secret[pointer] {
			return true
		}
	}
	return false
}

// problem is what follows on "The argument x". It shows nothing of a secret value.
func (t *translator) problem(e *jsonschema.ValidationError, secret bool) string {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return fmt.Sprintf("must be %s, not %s", strings.Join(k.Want, " or "), k.Got)
	case *kind.Enum:
		return "must be one of " + jsonList(k.Want)
	case *kind.Minimum:
		return "must be at least " + number(k.Want) + notNumber(k.Got, secret)
	case *kind.Maximum:
		return "must be at most " + number(k.Want) + notNumber(k.Got, secret)
	case *kind.ExclusiveMinimum:
		return "must be more than " + number(k.Want) + notNumber(k.Got, secret)
	case *kind.ExclusiveMaximum:
		return "must be less than " + number(k.Want) + notNumber(k.Got, secret)
	case *kind.Pattern:
		return fmt.Sprintf("must match the pattern %q%s", k.Want, notText(k.Got, secret))
	}
	if secret {
		return fmt.Sprintf("breaks the rule %q of the schema", strings.Join(e.ErrorKind.KeywordPath(), "."))
	}
	return "is not valid: " + e.ErrorKind.LocalizedString(message.NewPrinter(language.English))
}

func number(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	f, _ := r.Float64() // for a reader: the nearest will do
	return fmt.Sprint(f)
}

func notNumber(got *big.Rat, secret bool) string {
	if secret {
		return ""
	}
	return ", not " + number(got)
}

func notText(got string, secret bool) string {
	if secret {
		return ""
	}
	return fmt.Sprintf(", and %q does not", got)
}

func jsonList(values []any) string {
	var out []string
	for _, v := range values[:min(len(values), maxListed)] {
		out = append(out, fmt.Sprintf("%#v", v))
	}
	return strings.Join(out, ", ")
}

// argument names a place in a config: "retry.max".
func argument(location []string) string { return fmt.Sprintf("%q", strings.Join(location, ".")) }

func inside(location []string) string {
	if len(location) == 0 {
		return ""
	}
	return fmt.Sprintf(" in %s", argument(location))
}

// clean makes untrusted text fit to print: one that cannot steer a terminal, of
// at most limit bytes. Line ends stay.
func clean(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return strings.TrimSpace(s)
}
