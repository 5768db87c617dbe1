package schema

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A pattern is a regular expression of a schema. It matches in time linear in
// the text; re is nil if the expression needs more than that.
type pattern struct {
	text string
	re   *regexp.Regexp
	cost int // of one byte of text, at worst
}

var _ jsonschema.Regexp = (*pattern)(nil)

// MatchString implements jsonschema.Regexp.
func (p *pattern) MatchString(s string) bool { return p.re == nil || p.re.MatchString(s) }

// String returns the expression as the schema has it.
func (p *pattern) String() string { return p.text }

// compilePattern compiles an ECMAScript expression (JSON Schema core 6.4).
func compilePattern(text string) (jsonschema.Regexp, error) {
	if len(text) > maxPattern {
		return nil, fmt.Errorf("the expression has %d bytes, at most %d are allowed", len(text), maxPattern)
	}
	parsed, err := syntax.Parse(translate(text), syntax.Perl)
	if err != nil {
		if onlyECMA(err) {
			return &pattern{text: text}, nil
		}
		return nil, err
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(translate(text))
	if err != nil {
		return nil, err
	}
	return &pattern{text: text, re: re, cost: 3 * len(prog.Inst)}, nil
}

// onlyECMA reports whether an expression is refused for something that
// ECMAScript may have: lookaround, back-references and their like.
func onlyECMA(err error) bool {
	var e *syntax.Error
	if !errors.As(err, &e) {
		return false
	}
	//exhaustive:ignore
	switch e.Code {
	case syntax.ErrInvalidPerlOp, syntax.ErrInvalidEscape, syntax.ErrInvalidCharRange, syntax.ErrInvalidRepeatSize:
		return true
	}
	return false
}

// translate writes \uXXXX, which only ECMAScript knows, as \x{XXXX}.
func translate(text string) string {
	if !strings.Contains(text, `\u`) {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] != '\\' || i+1 == len(text):
			out.WriteByte(text[i])
		case text[i+1] == 'u' && i+6 <= len(text) && isHex(text[i+2:i+6]):
			out.WriteString(`\x{` + text[i+2:i+6] + `}`)
			i += 5
		default:
			out.WriteString(text[i : i+2])
			i++
		}
	}
	return out.String()
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdefABCDEF") == "" }
