package config

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// A value is that of one argument, known and not null, with its place.
type value struct {
	d     *decoder
	name  string
	expr  hcl.Expression
	v     cty.Value
	place *Place
}

// at returns the place of the argument, or of an item or key in it.
func (a value) at(path ...string) Range {
	return a.place.At(append([]string{a.name}, path...)...)
}

func (a value) wrong(at Range, want string) {
	a.d.errorf(at, "Invalid value", "The argument %q must be %s", a.name, sentence(want))
}

func text(a value) (string, bool) {
	s, ok := asString(a.v)
	if !ok {
		a.wrong(a.at(), "a string")
	}
	return s, ok
}

// asString takes strings, numbers and booleans, as HCL does everywhere.
func asString(v cty.Value) (string, bool) {
	s, err := convert.Convert(v, cty.String)
	if err != nil || s.IsNull() {
		return "", false
	}
	return s.AsString(), true
}

func texts(a value) ([]string, bool) {
	if t := a.v.Type(); !t.IsTupleType() && !t.IsListType() && !t.IsSetType() {
		a.wrong(a.at(), `a list of strings, such as ["a", "b"]`)
		return nil, false
	}
	list, good := make([]string, 0, a.v.LengthInt()), true
	for i, item := range a.v.AsValueSlice() {
		s, ok := asString(item)
		if !ok {
			a.wrong(a.at(strconv.Itoa(i)), "a list of strings, and this item is none")
			good = false
		}
		list = append(list, s)
	}
	return list, good
}

func textMap(a value) (map[string]string, bool) {
	if t := a.v.Type(); !t.IsObjectType() && !t.IsMapType() {
		a.wrong(a.at(), `a map of strings, such as { NAME = "value" }`)
		return nil, false
	}
	m, good := map[string]string{}, true
	for key, item := range a.v.AsValueMap() {
		s, ok := asString(item)
		if !ok {
			a.wrong(a.at(key), fmt.Sprintf("a map of strings, and the value of %q is none", key))
			good = false
		}
		m[key] = s
	}
	return m, good
}

func secretMap(a value) (map[string]Secret, bool) {
	plain, ok := textMap(a)
	m := make(map[string]Secret, len(plain))
	for key, s := range plain {
		m[key] = NewSecret(s)
	}
	return m, ok
}

func boolean(a value) (bool, bool) {
	b, err := convert.Convert(a.v, cty.Bool)
	if err != nil {
		a.wrong(a.at(), "true or false")
		return false, false
	}
	return b.True(), true
}

// choice reads one of a few words.
func choice[T ~string](words ...T) func(a value) (T, bool) {
	return func(a value) (T, bool) {
		s, ok := asString(a.v)
		if w, found := pick(s, words); ok && found {
			return w, true
		}
		a.wrong(a.at(), "one of "+listing(words)+foundWord(s, ok, words))
		return "", false
	}
}

// choices reads a list of a few words.
func choices[T ~string](words ...T) func(a value) ([]T, bool) {
	return func(a value) ([]T, bool) {
		list, good := texts(a)
		out := make([]T, 0, len(list))
		for i, s := range list {
			w, found := pick(s, words)
			if good && !found {
				a.d.errorf(a.at(strconv.Itoa(i)), "Invalid value", "The argument %q takes %s%s", a.name, listing(words), sentence(foundWord(s, true, words)))
			}
			good = good && found
			out = append(out, w)
		}
		return out, good
	}
}

func pick[T ~string](s string, words []T) (T, bool) {
	for _, w := range words {
		if string(w) == s {
			return w, true
		}
	}
	return "", false
}

func foundWord[T ~string](s string, ok bool, words []T) string {
	if !ok {
		return ""
	}
	plain := make([]string, len(words))
	for i, w := range words {
		plain[i] = string(w)
	}
	return fmt.Sprintf(", not %q.%s", s, didYouMean(s, plain))
}

// sentence puts a full stop where there is no end yet.
func sentence(s string) string {
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}

// A bound says what a number, size or duration may be.
type bound struct {
	zero bool // 0 is allowed, and means none
}

func (b bound) allows(n float64) bool { return n > 0 || b.zero && n == 0 }

func (b bound) words() string {
	if b.zero {
		return "0 or more"
	}
	return "more than 0"
}

func count(b bound) func(a value) (int, bool) {
	return func(a value) (int, bool) {
		n, problem := parseCount(rawNumber(a.v), b)
		return n, a.told(problem, "Invalid number")
	}
}

func size(b bound) func(a value) (int64, bool) {
	return func(a value) (int64, bool) {
		n, problem := parseSize(rawNumber(a.v), b)
		return n, a.told(problem, "Invalid size")
	}
}

func duration(b bound) func(a value) (time.Duration, bool) {
	return func(a value) (time.Duration, bool) {
		n, problem := parseDuration(rawNumber(a.v), b)
		return n, a.told(problem, "Invalid duration")
	}
}

func fraction(b bound) func(a value) (float64, bool) {
	return func(a value) (float64, bool) {
		f, err := strconv.ParseFloat(rawNumber(a.v), 64)
		if err != nil || math.IsInf(f, 0) || math.IsNaN(f) || !b.allows(f) {
			return 0, a.told("must be a number, "+b.words(), "Invalid number")
		}
		return f, true
	}
}

// told complains about a problem and reports whether there is none.
func (a value) told(problem, summary string) bool {
	if problem != "" {
		a.d.errorf(a.at(), summary, "The argument %q %s.", a.name, problem)
	}
	return problem == ""
}

// rawNumber is the text of a number or string; empty for anything else.
func rawNumber(v cty.Value) string {
	switch v.Type() {
	case cty.String:
		return v.AsString()
	case cty.Number:
		return numberText(v.AsBigFloat())
	}
	return ""
}

// numberText writes a number without loss, and short where it is huge.
func numberText(f *big.Float) string {
	if exp := f.MantExp(nil); exp > 1024 || exp < -1024 {
		return f.Text('g', -1)
	}
	return f.Text('f', -1)
}

// The parse functions serve the file and the environment. The problem is what
// follows on "The argument x", and empty if there is none.

func parseCount(s string, b bound) (n int, problem string) {
	i, err := strconv.ParseInt(strings.TrimSpace(s), 10, 32)
	if err != nil || !b.allows(float64(i)) {
		return 0, fmt.Sprintf("must be a whole number, %s and at most %d%s", b.words(), math.MaxInt32, notThis(s))
	}
	return int(i), ""
}

var units = []struct {
	name  string
	bytes int64
}{ // longest first: every name ends in B
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"TiB", 1 << 40},
	{"KB", 1e3},
	{"kB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"B", 1},
}

func parseSize(s string, b bound) (n int64, problem string) {
	digits, unit := strings.TrimSpace(s), int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(digits, u.name); ok {
			digits, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !b.allows(float64(n)) || n > math.MaxInt64/unit {
		return 0, fmt.Sprintf(`must be a size, %s: whole bytes, or a string such as "64KiB", "1MiB" or "2GiB"%s`, b.words(), notThis(s))
	}
	return n * unit, ""
}

func parseDuration(s string, b bound) (d time.Duration, problem string) {
	trimmed := strings.TrimSpace(s)
	d, err := time.ParseDuration(trimmed)
	if seconds, numErr := strconv.ParseFloat(trimmed, 64); numErr == nil {
		d, err = fromSeconds(seconds)
	}
	if err != nil || !b.allows(float64(d)) {
		return 0, fmt.Sprintf(`must be a duration, %s: seconds, or a string such as "500ms", "30s" or "5m"%s`, b.words(), notThis(s))
	}
	return d, ""
}

func fromSeconds(s float64) (time.Duration, error) {
	if math.IsNaN(s) || math.Abs(s) > float64(math.MaxInt64/int64(time.Second)) {
		return 0, strconv.ErrRange
	}
	return time.Duration(s * float64(time.Second)), nil
}

func notThis(s string) string {
	if s == "" {
		return ""
	}
	return fmt.Sprintf(", not %q", s)
}
