package integrity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"golang.org/x/text/unicode/norm"

	"github.com/mcphost/mcphost/host/jsonrpc"
)

// wrapAt is where the lines of descriptions are broken, so that a diff shows
// what changed and not the whole.
const wrapAt = 90

// visible returns s with everything that does not show, such as marks of
// direction and tags that only a model reads, as \uXXXX. With hcl set, it also
// hides what the configuration language would take for its own.
func visible(s string, hcl bool) string {
	// HCL turns text into composed form, so anything else must not look like it.
	plain := !hcl || norm.NFC.IsNormalString(s)
	var b strings.Builder
	for i, r := range s {
		switch {
		case r >= 0x7f && (!plain || !unicode.IsPrint(r)):
			escape(&b, r)
		case hcl && (r == '$' || r == '%') && strings.HasPrefix(s[i+1:], "{"):
			escape(&b, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func escape(b *strings.Builder, r rune) {
	if hi, lo := utf16.EncodeRune(r); hi != unicode.ReplacementChar {
		fmt.Fprintf(b, `\u%04x\u%04x`, hi, lo)
		return
	}
	fmt.Fprintf(b, `\u%04x`, r)
}

// quote returns s in quotes, safe to print.
func quote(s string) string { return strconv.QuoteToGraphic(visible(s, false)) }

// indented returns canonical JSON on many lines.
func indented(text []byte, prefix string) string {
	var b bytes.Buffer
	if err := json.Indent(&b, text, prefix, "  "); err != nil {
		return prefix + string(text) // Define made it, or reading the file checked it
	}
	return prefix + b.String()
}

// Readable returns d for people: descriptions as text, the rest as JSON.
func (d *Definition) Readable() string {
	if d == nil {
		return ""
	}
	var b strings.Builder
	rest := d.Text
	for _, name := range []string{"name", "title", "description", Instructions} {
		s, ok := "", false
		if v := jsonrpc.Lookup(d.Text, name); v != nil {
			s, ok = jsonrpc.String(v)
		}
		if !ok {
			continue
		}
		rest = without(rest, name)
		fmt.Fprintf(&b, "%s:\n", name)
		for line := range strings.SplitSeq(s, "\n") {
			wrap(&b, visible(control(line), false))
		}
	}
	if string(rest) != "{}" {
		b.WriteString(visible(indented(rest, ""), false) + "\n")
	}
	return b.String()
}

// control returns s with control characters as JSON has them.
func control(s string) string {
	if !strings.ContainsFunc(s, unicode.IsControl) {
		return s
	}
	quoted := string(jsonrpc.AppendString(nil, s))
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

// wrap writes s, indented, in lines of about wrapAt bytes, broken at spaces.
func wrap(b *strings.Builder, s string) {
	length := 0
	b.WriteString("  ")
	for i, word := range strings.Split(s, " ") {
		if i > 0 {
			if length+len(word) >= wrapAt {
				b.WriteString("\n  ")
				length = 0
			} else {
				b.WriteByte(' ')
				length++
			}
		}
		b.WriteString(word)
		length += len(word)
	}
	b.WriteByte('\n')
}
