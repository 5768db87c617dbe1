package sdk

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
)

// FuzzEachMember compares the names that a scan of an object finds with those of encoding/json.
func FuzzEachMember(f *testing.F) {
	for _, seed := range []string{
		`{}`, ` { "a" : 1 , "b":{"c":[{"d":"}"}]}, "e":"\"{", "f":null}`, `{"\u0061\n":[1,"x"],"":true}`, `[{"a":1}]`, `null`, `"{"`, `{"é\ud800":0}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			t.Skip()
		}
		var want map[string]json.RawMessage
		isObject := json.Unmarshal(raw, &want) == nil && want != nil
		got := map[string]json.RawMessage{}
		found := eachMember(raw, func(key []byte, first byte) {
			// encoding/json replaces what is not UTF-8 in names.
			name := string([]rune(string(key)))
			got[name] = []byte{first}
		})
		if found != isObject {
			t.Fatalf("object: %v, want %v", found, isObject)
		}
		if !isObject {
			return
		}
		names := slices.Sorted(maps.Keys(got))
		if wanted := slices.Sorted(maps.Keys(want)); !slices.Equal(names, wanted) {
			t.Fatalf("names %q, want %q", names, wanted)
		}
		for name, value := range want {
			if got[name][0] != value[0] {
				t.Errorf("value of %q begins with %q, want %q", name, got[name], value)
			}
		}
	})
}

// FuzzDecode holds that no arguments make a decoder panic, and that what it takes is an object.
func FuzzDecode(f *testing.F) {
	type in struct {
		A string         `json:"a"`
		B int            `json:"b" default:"3"`
		C []string       `json:"c,omitempty"`
		D *bool          `json:"d,omitempty"`
		E map[string]any `json:"e,omitempty"`
	}
	d, _, err := newDecoder[in]()
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{``, `{}`, `{"a":"x"}`, `{"a":"x","b":1,"c":["y"],"d":null,"e":{}}`, `{"a":1}`, `null`, `[`, `{"a":"x","A":1}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		value, err := d.decode(raw)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without a word")
			}
			return
		}
		var object map[string]any
		if json.Unmarshal(raw, &object) != nil || object == nil {
			t.Fatalf("took %q as %+v", raw, value)
		}
		if _, ok := object["a"]; !ok {
			t.Fatalf("took %q without a", raw)
		}
	})
}
