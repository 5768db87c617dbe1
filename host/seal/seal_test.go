package seal

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

var (
	now  = time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)
	soon = now.Add(time.Minute)
	bind = Binding([]byte("alice"), []byte("tools/call"), []byte("rows.delete"))
)

func key32(c byte) []byte { return bytes.Repeat([]byte{c}, KeySize) }

func sealer(tb testing.TB, keys ...[]byte) *Sealer {
	tb.Helper()
	s, err := New(keys)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestATokenOpensForWhatItWasSealedFor(t *testing.T) {
	s := sealer(t, key32(1))
	for _, payload := range []string{"", "x", strings.Repeat("long", 10000)} {
		token := s.Seal("state", bind, []byte(payload), soon)
		if strings.Trim(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			t.Fatalf("the token has other characters than base64url: %.80q", token)
		}
		got, err := s.Open("state", bind, token, now)
		if err != nil || string(got) != payload {
			t.Errorf("got %.20q, %v; want %.20q", got, err, payload)
		}
	}
}

func TestATokenIsRefused(t *testing.T) {
	s := sealer(t, key32(1))
	token := s.Seal("state", bind, []byte("payload"), soon)
	other := Binding([]byte("bob"), []byte("tools/call"), []byte("rows.delete"))
	tests := map[string]struct {
		sealer  *Sealer
		purpose string
		binding []byte
		token   string
		now     time.Time
		want    error
	}{
		"another purpose":   {s, "cursor", bind, token, now, ErrTampered},
		"another principal": {s, "state", other, token, now, ErrTampered},
		"no binding":        {s, "state", nil, token, now, ErrTampered},
		"shifted binding":   {s, "stat", append([]byte("e"), bind...), token, now, ErrTampered},
		"expired":           {s, "state", bind, token, soon, ErrExpired},
		"another key":       {sealer(t, key32(2)), "state", bind, token, now, ErrKey},
		"key of a process":  {sealer(t), "state", bind, token, now, ErrKey},
		"empty":             {s, "state", bind, "", now, ErrMalformed},
		"cut":               {s, "state", bind, token[:20], now, ErrMalformed},
		"padded":            {s, "state", bind, token + "=", now, ErrMalformed},
		"line break":        {s, "state", bind, token[:8] + "\n" + token[8:], now, ErrMalformed},
		"not base64":        {s, "state", bind, "!" + token[1:], now, ErrMalformed},
		"too long":          {s, "state", bind, strings.Repeat("A", MaxToken+1), now, ErrMalformed},
		"longer":            {s, "state", bind, token + "AAAA", now, ErrTampered},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := test.sealer.Open(test.purpose, test.binding, test.token, test.now)
			if got != nil || !errors.Is(err, test.want) || !errors.Is(err, ErrInvalid) {
				t.Errorf("got %q, %v; want %v", got, err, test.want)
			}
		})
	}
}

func TestEveryBitOfATokenCounts(t *testing.T) {
	s := sealer(t, key32(1))
	raw, err := base64.RawURLEncoding.DecodeString(s.Seal("state", bind, []byte("p"), soon))
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(raw) * 8 {
		raw[i/8] ^= 1 << (i % 8)
		if _, err := s.Open("state", bind, base64.RawURLEncoding.EncodeToString(raw), now); !errors.Is(err, ErrInvalid) {
			t.Errorf("bit %d turned: %v", i, err)
		}
		raw[i/8] ^= 1 << (i % 8)
	}
}

func TestKeysRotate(t *testing.T) {
	older := sealer(t, key32(1)).Seal("state", bind, []byte("p"), soon)
	rotated := sealer(t, key32(2), key32(1))
	if _, err := rotated.Open("state", bind, older, now); err != nil {
		t.Errorf("a token of the old key: %v", err)
	}
	newer := rotated.Seal("state", bind, []byte("p"), soon)
	if _, err := sealer(t, key32(2)).Open("state", bind, newer, now); err != nil {
		t.Errorf("a replica that knows the new key alone: %v", err)
	}
	if _, err := sealer(t, key32(1)).Open("state", bind, newer, now); !errors.Is(err, ErrKey) {
		t.Errorf("a replica that knows the old key alone: %v", err)
	}
}

func TestTokensDifferAndHideTheirPayload(t *testing.T) {
	s := sealer(t)
	a, b := s.Seal("state", nil, []byte("secret secret"), soon), s.Seal("state", nil, []byte("secret secret"), soon)
	raw, _ := base64.RawURLEncoding.DecodeString(a)
	if a == b || bytes.Contains(raw, []byte("secret")) {
		t.Errorf("%q and %q", a, b)
	}
}

func TestKeysHave32Bytes(t *testing.T) {
	if _, err := New([][]byte{key32(1), make([]byte, 16)}); err == nil || err.Error() != "seal key 2: has 16 bytes, 32 are needed" {
		t.Errorf("got %v", err)
	}
}

func TestBindingTellsPartsApart(t *testing.T) {
	seen := map[string]bool{}
	for _, parts := range [][][]byte{{}, {nil}, {nil, nil}, {[]byte("ab"), []byte("c")}, {[]byte("a"), []byte("bc")}, {[]byte("abc")}} {
		seen[string(Binding(parts...))] = true
	}
	if len(seen) != 6 {
		t.Errorf("%d bindings differ, want 6", len(seen))
	}
}

func TestOnceAcceptsATokenOnce(t *testing.T) {
	o := NewOnce(2)
	if !o.Use("a", soon, now) || o.Use("a", soon, now) {
		t.Error("a is not good for exactly one use")
	}
	if o.Use("b", now, now) {
		t.Error("b was accepted at its expiry")
	}
	if !o.Use("c", soon.Add(time.Hour), now) || o.Use("d", soon, now) {
		t.Error("the bound of two does not hold")
	}
	if !o.Use("d", soon.Add(time.Hour), soon) {
		t.Error("a expired and made no room")
	}
	if o.Use("c", soon.Add(time.Hour), soon) {
		t.Error("c was forgotten before its time")
	}
}

func FuzzOpen(f *testing.F) {
	s := sealer(f, key32(1), key32(2))
	f.Add("state", []byte("b"), s.Seal("state", []byte("b"), []byte("payload"), soon))
	f.Add("cursor", []byte(nil), sealer(f, key32(2)).Seal("cursor", nil, nil, soon))
	f.Add("state", []byte("b"), "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Add("", []byte(nil), "")
	f.Fuzz(func(t *testing.T, purpose string, binding []byte, token string) {
		payload, err := s.Open(purpose, binding, token, now)
		if (err == nil) == (payload == nil) || err != nil && !errors.Is(err, ErrInvalid) {
			t.Fatalf("%q, %v", payload, err)
		}
		again := s.Seal(purpose, binding, []byte(token), soon)
		got, err := s.Open(purpose, binding, again, now)
		if err != nil || string(got) != token {
			t.Fatalf("sealed %q, opened %q, %v", token, got, err)
		}
		if _, err := s.Open(purpose+"x", binding, again, now); !errors.Is(err, ErrTampered) {
			t.Fatalf("another purpose: %v", err)
		}
	})
}

func BenchmarkSealAndOpen(b *testing.B) {
	s := sealer(b, key32(1))
	payload := bytes.Repeat([]byte("x"), 200)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Open("state", bind, s.Seal("state", bind, payload, soon), now); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleSealer() {
	s, err := New(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	token := s.Seal("cursor", Binding([]byte("alice"), []byte("tools/list")), []byte("after: read_file"), soon)
	payload, err := s.Open("cursor", Binding([]byte("alice"), []byte("tools/list")), token, now)
	fmt.Println(string(payload), err)
	// Output: after: read_file <nil>
}
