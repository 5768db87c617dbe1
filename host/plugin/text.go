package plugin

import (
	"strings"
	"unicode/utf8"
)

// clean returns s without what could deceive a reader or a terminal: control
// characters (line breaks and tabs stay if multiline), bidirectional overrides
// and the invisible tag characters, and cut to limit bytes.
func clean(s string, limit int, multiline bool) string {
	if len(s) > limit {
		s = cut(s, limit)
	}
	if !strings.ContainsFunc(s, func(r rune) bool { return deceptive(r, multiline) }) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if deceptive(r, multiline) {
			return utf8.RuneError
		}
		return r
	}, s)
}

// cut returns the longest prefix of s of at most limit bytes that ends with a whole character.
func cut(s string, limit int) string {
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

func deceptive(r rune, multiline bool) bool {
	switch {
	case r == '\n' || r == '\t':
		return !multiline
	case r < ' ', r >= 0x7f && r < 0xa0: // C0, DEL, C1
		return true
	case r == 0x2028, r == 0x2029: // line and paragraph separators
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // bidirectional overrides
		return true
	case r >= 0xe0000 && r <= 0xe007f: // tags, which models read and people do not see
		return true
	}
	return false
}
