package schema

import (
	"bytes"
	"math/big"
	"strconv"
)

// A decimal is an exact number: 0.digits × 10^exp. The digits have no zeros at
// either end; zero has none.
type decimal struct {
	neg    bool
	digits []byte
	exp    int64
}

// maxExp is where exponents saturate, far beyond what any two can tell apart by their digits.
const maxExp = 1 << 40

// parseDecimal reads v, a valid JSON number.
func parseDecimal(v []byte) decimal {
	var d decimal
	if v[0] == '-' {
		d.neg, v = true, v[1:]
	}
	if i := bytes.IndexAny(v, "eE"); i >= 0 {
		n, err := strconv.ParseInt(string(v[i+1:]), 10, 64)
		if err != nil { // it saturates in the right direction
			n = max(min(n, maxExp), -maxExp)
		}
		d.exp, v = max(min(n, maxExp), -maxExp), v[:i]
	}
	point := bytes.IndexByte(v, '.')
	if point < 0 {
		d.digits, point = v, len(v)
	} else {
		d.digits = append(append(make([]byte, 0, len(v)), v[:point]...), v[point+1:]...)
	}
	d.exp += int64(point)
	trimmed := bytes.TrimLeft(d.digits, "0")
	d.exp -= int64(len(d.digits) - len(trimmed))
	d.digits = bytes.TrimRight(trimmed, "0")
	if len(d.digits) == 0 {
		return decimal{}
	}
	return d
}

func (d decimal) isInteger() bool { return len(d.digits) == 0 || d.exp >= int64(len(d.digits)) }

// append appends one form for all the ways to write a number.
func (d decimal) append(dst []byte) []byte {
	if len(d.digits) == 0 {
		return append(dst, '0')
	}
	if d.neg {
		dst = append(dst, '-')
	}
	dst = append(append(dst, d.digits...), 'e')
	return strconv.AppendInt(dst, d.exp, 10)
}

func (d decimal) sign() int {
	switch {
	case len(d.digits) == 0:
		return 0
	case d.neg:
		return -1
	}
	return 1
}

// cmp compares as big.Rat does.
func (d decimal) cmp(e decimal) int {
	if d.sign() != e.sign() {
		return sign(int64(d.sign() - e.sign()))
	}
	c := sign(d.exp - e.exp)
	if c == 0 {
		c = bytes.Compare(d.digits, e.digits)
	}
	if d.neg {
		return -c
	}
	return c
}

func sign(n int64) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

// A limit is a number of a schema.
type limit struct {
	text    string
	dec     decimal
	rat     *big.Rat
	small   int64
	isSmall bool // small holds it all
}

func limitOf(r *big.Rat) *limit {
	if r == nil {
		return nil
	}
	digits, _ := r.FloatPrec() // exact: the schema wrote it in decimal
	l := &limit{text: r.FloatString(digits), rat: r}
	l.dec = parseDecimal([]byte(l.text))
	l.small, l.isSmall = smallInt([]byte(l.text))
	return l
}

// cmp compares the number v with l.
func (l *limit) cmp(v []byte) int {
	if n, ok := smallInt(v); ok && l.isSmall {
		switch {
		case n < l.small:
			return -1
		case n > l.small:
			return 1
		}
		return 0
	}
	return parseDecimal(v).cmp(l.dec)
}

// divides reports whether v is a multiple of l; ok is false if v is too large to tell.
func (l *limit) divides(v []byte) (multiple, ok bool) {
	if n, small := smallInt(v); small && l.isSmall && l.small != 0 {
		return n%l.small == 0, true
	}
	if d := parseDecimal(v); len(d.digits) > maxDigits || d.exp > maxDigits || d.exp < -maxDigits {
		return false, false
	}
	r, ok := new(big.Rat).SetString(string(v))
	if !ok {
		return false, false
	}
	return r.Quo(r, l.rat).IsInt(), true
}

// smallInt decodes v if it is an integer of at most 18 digits, written plainly.
func smallInt(v []byte) (n int64, ok bool) {
	neg := v[0] == '-'
	if neg {
		v = v[1:]
	}
	if len(v) > 18 {
		return 0, false
	}
	for _, c := range v {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if neg {
		n = -n
	}
	return n, true
}

// isInteger reports whether the number v has no fraction, however it is written.
func isInteger(v []byte) bool {
	if _, ok := smallInt(v); ok {
		return true
	}
	return parseDecimal(v).isInteger()
}
