package schema

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is said about one value.
const (
	maxComplaints = 5
	maxListed     = 10   // names or values in a list
	maxShort      = 80   // bytes of foreign text
	maxText       = 2048 // bytes of the whole
)

// An Invalid says how a value breaks its schema, for a model to mend.
type Invalid struct {
	Complaints []Complaint // the first few
}

// A Complaint is one rule that a value breaks.
type Complaint struct {
	Place string // a JSON pointer, empty for the whole value
	Rule  string
}

// Error lists the complaints on one line of bounded length.
func (e *Invalid) Error() string {
	var out strings.Builder
	for i, c := range e.Complaints {
		if i > 0 {
			out.WriteString("; ")
		}
		if c.Place != "" {
			out.WriteString(c.Place + ": ")
		}
		out.WriteString(c.Rule)
	}
	return cut(out.String(), maxText)
}

// fail notes a complaint about the value at hand, if one is wanted, and returns false.
func (r *run) fail(format string, args ...any) bool {
	if !r.done() {
		r.complaints = append(r.complaints, Complaint{r.place(), fmt.Sprintf(format, args...)})
	}
	return false
}

// place is the JSON pointer (RFC 6901) to the value at hand.
func (r *run) place() string {
	var out strings.Builder
	for i, s := range r.path {
		if out.Len() > 4*maxShort {
			fmt.Fprintf(&out, "/…(%d more)", len(r.path)-i)
			break
		}
		out.WriteByte('/')
		if s.key == nil {
			out.WriteString(strconv.Itoa(s.index))
			continue
		}
		out.WriteString(strings.ReplaceAll(strings.ReplaceAll(short(s.key), "~", "~0"), "/", "~1"))
	}
	return out.String()
}

// none complains that b matches none of list, with what each of the first says against it.
func (r *run) none(keyword string, list []*node, b []byte) bool {
	if r.done() {
		return false
	}
	if r.explaining { // one level tells enough, and all of them could take forever
		return r.fail("matches none of the %d forms of %s", len(list), keyword)
	}
	r.explaining = true
	defer func() { r.explaining = false }()
	var reasons []string
	for i, sub := range list {
		if i == 3 {
			reasons = append(reasons, "…")
			break
		}
		kept := r.complaints
		// Room for one: the first thing that is wrong tells what this form wants.
		r.complaints = make([]Complaint, maxComplaints-1, maxComplaints)
		r.eval(sub, b, nil)
		if r.err == nil && len(r.complaints) == maxComplaints {
			c := r.complaints[maxComplaints-1]
			reasons = append(reasons, fmt.Sprintf("form %d: %s", i+1, strings.TrimPrefix(c.Place+": ", ": ")+c.Rule))
		}
		r.complaints = kept
		if r.err != nil {
			return false
		}
	}
	return r.fail("matches none of the %d forms of %s (%s)", len(list), keyword, cut(strings.Join(reasons, " | "), 4*maxShort))
}

// short is b as it may stand in a complaint: bounded and printable.
func short(b []byte) string {
	clean := strings.Map(func(c rune) rune {
		if !unicode.IsGraphic(c) {
			return unicode.ReplacementChar
		}
		return c
	}, string(b[:min(len(b), maxShort+utf8.UTFMax)]))
	return cut(clean, maxShort)
}

// cut shortens s to about n bytes.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// shortList is what a complaint about an unknown property adds.
func shortList(names []string) string {
	if len(names) == 0 {
		return ""
	}
	var quoted []string
	for i, name := range names {
		if i == maxListed {
			quoted = append(quoted, "…")
			break
		}
		quoted = append(quoted, strconv.Quote(short([]byte(name))))
	}
	return "; allowed are " + strings.Join(quoted, ", ")
}

func valueList(values []value) string {
	var list []string
	for i := range values {
		if i == maxListed {
			list = append(list, "…")
			break
		}
		list = append(list, short(values[i].text))
	}
	return strings.Join(list, ", ")
}
