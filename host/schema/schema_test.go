package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcphost/mcphost/host/jsonrpc"
)

func mustCompile(tb testing.TB, text string) *Schema {
	tb.Helper()
	s, err := Compile([]byte(text))
	if err != nil {
		tb.Fatalf("Compile(%s): %v", text, err)
	}
	return s
}

func TestComplaintsNameThePlaceAndTheRule(t *testing.T) {
	const schema = `{"type":"object","required":["city","days"],"additionalProperties":false,"properties":{
		"city":{"type":"string","minLength":2},"days":{"type":"integer","minimum":1,"maximum":14},
		"unit":{"enum":["C","F"]},"tags":{"type":"array","items":{"type":"string","pattern":"^[a-z]+$"},"uniqueItems":true},
		"where":{"anyOf":[{"type":"string"},{"type":"object","required":["lat"]}]}}}`
	tests := map[string]struct{ doc, want string }{
		"valid":      {`{"city":"Oslo","days":3,"unit":"C","tags":["a","b"],"where":"x"}`, ""},
		"missing":    {`{"city":"Oslo"}`, `the property "days" is missing`},
		"wrong type": {`{"city":7,"days":"3"}`, `/city: got number, want string; /days: got string, want integer`},
		"too large":  {`{"city":"Oslo","days":99999999999999999999}`, `/days: must be at most 14`},
		"enum":       {`{"city":"Oslo","days":3,"unit":"K"}`, `/unit: must be one of "C", "F"`},
		"unknown":    {`{"city":"Oslo","days":3,"town":1}`, `the property "town" is not allowed; allowed are "city", "days", "tags", "unit", "where"`},
		"deep":       {`{"city":"Oslo","days":3,"tags":["a","B"]}`, `/tags/1: does not match the pattern ^[a-z]+$`},
		"twice":      {`{"city":"Oslo","days":3,"tags":["a","a"]}`, `/tags: the elements 0 and 1 are equal, all must differ`},
		"no form":    {`{"city":"Oslo","days":3,"where":{}}`, `/where: matches none of the 2 forms of anyOf (form 1: /where: got object, want string | form 2: /where: the property "lat" is missing)`},
		"not object": {`[]`, `got array, want object`},
		"not JSON":   {`{`, `not JSON`},
	}
	s := mustCompile(t, schema)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := s.Validate([]byte(test.doc)); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestComplaintsAreFewAndShort(t *testing.T) {
	s := mustCompile(t, `{"additionalProperties":false,"properties":{"a":{"type":"string"}}}`)
	var doc strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&doc, `,"%s\u0007%d":1`, strings.Repeat("k", 5000), i)
	}
	err := s.Validate([]byte("{" + doc.String()[1:] + "}"))
	var invalid *Invalid
	if !errors.As(err, &invalid) || len(invalid.Complaints) != maxComplaints {
		t.Fatalf("got %v, want %d complaints", err, maxComplaints)
	}
	if n := len(err.Error()); n > maxText+10 {
		t.Errorf("the text has %d bytes", n)
	}
}

func TestNumbersAreExact(t *testing.T) {
	tests := []struct {
		schema, doc string
		valid       bool
	}{
		{`{"maximum":9007199254740993}`, `9007199254740993`, true},
		{`{"maximum":9007199254740993}`, `9007199254740994`, false},
		{`{"const":9007199254740993}`, `9007199254740992`, false},
		{`{"const":1.50}`, `15e-1`, true},
		{`{"type":"integer"}`, `1e400`, true},
		{`{"type":"integer"}`, `1.0`, true},
		{`{"type":"integer"}`, `1e-99999999999999999999`, false},
		{`{"minimum":0}`, `-1e99999999999999999999`, false},
		{`{"maximum":0.1}`, `0.1000000000000000000000000000001`, false},
		{`{"multipleOf":0.01}`, `19.99`, true},
		{`{"multipleOf":0.01}`, `19.999`, false},
		{`{"exclusiveMinimum":-0.0}`, `0e5`, false},
		{`{"uniqueItems":true}`, `[1,1.0]`, false},
		{`{"uniqueItems":true}`, `[9007199254740993,9007199254740992]`, true},
	}
	for _, test := range tests {
		if err := mustCompile(t, test.schema).Validate([]byte(test.doc)); (err == nil) != test.valid {
			t.Errorf("%s on %s: %v, want valid %v", test.schema, test.doc, err, test.valid)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	tests := map[string]struct{ schema, want string }{
		"unknown dialect":    {`{"$schema":"https://example.com/mine"}`, "dialect not supported"},
		"dialect not string": {`{"$schema":7}`, "dialect not supported"},
		"remote reference":   {`{"$ref":"https://example.com/s.json"}`, "leaves the document"},
		"file reference":     {`{"$ref":"file:///etc/passwd"}`, "leaves the document"},
		"meta-schema":        {`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, "leaves the document"},
		"dangling":           {`{"$ref":"#/$defs/x"}`, "not found"},
		"circle":             {`{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#"}]}}}`, "leads back to itself"},
		"not JSON":           {`{"type":`, "not JSON"},
		"not a schema":       {`{"type":"strnig"}`, "at \"/type\": value must be one of"},
		"bad expression":     {`{"pattern":"("}`, "pattern"},
		"long expression":    {`{"pattern":"` + strings.Repeat("a", maxPattern+1) + `"}`, "4096"},
		"large number":       {`{"maximum":1e999999999}`, "too large"},
		"many objects":       {`{"allOf":[{}` + strings.Repeat(",{}", maxObjects) + `]}`, "more than 4096 objects"},
		"large":              {`{"x":"` + strings.Repeat("a", maxBytes) + `"}`, "bytes"},
		"deep":               {strings.Repeat(`{"not":`, 200) + "{}" + strings.Repeat("}", 200), "deep"},
		"lookahead in not":   {`{"not":{"pattern":"(?=a)"}}`, "not supported"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := Compile([]byte(test.schema)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want something with %q", err, test.want)
			}
		})
	}
}

func TestDialects(t *testing.T) {
	// Each schema refuses [1, "x"] by a keyword as only its dialect reads it.
	for dialect, rest := range map[string]string{
		`https://json-schema.org/draft/2020-12/schema`: `"prefixItems":[{},{"type":"number"}]`,
		`https://json-schema.org/draft/2019-09/schema`: `"items":[{},{"type":"number"}]`,
		`http://json-schema.org/draft-07/schema#`:      `"items":[{},{"type":"number"}]`,
		`http://json-schema.org/draft-06/schema#`:      `"items":[{},{"type":"number"}]`,
		`http://json-schema.org/draft-04/schema#`:      `"items":{"minimum":1,"exclusiveMinimum":true}`,
	} {
		s := mustCompile(t, `{"$schema":"`+dialect+`",`+rest+`}`)
		if err := s.Validate([]byte(`[1,"x"]`)); err == nil {
			t.Errorf("%s: no complaint", dialect)
		}
		if err := s.Validate([]byte(`[2,3]`)); err != nil {
			t.Errorf("%s: %v", dialect, err)
		}
	}
}

func TestAPatternThatNeedsBacktrackingIsReportedAndNotEnforced(t *testing.T) {
	s := mustCompile(t, `{"type":"string","pattern":"^(?!\\.)[a-z.]+$"}`)
	if got := s.Unchecked(); len(got) != 1 || got[0] != `^(?!\.)[a-z.]+$` {
		t.Errorf("Unchecked() = %q", got)
	}
	if err := s.Validate([]byte(`".a"`)); err != nil {
		t.Error(err)
	}
	if err := s.Validate([]byte(`1`)); err == nil {
		t.Error("the type went unchecked too")
	}
}

// hostile are pairs of a schema and a value of about 1 MiB that are meant to take forever.
func hostile() map[string][2]string {
	const size = 1 << 20
	list := func(of string) string { return "[" + strings.Repeat(of+",", size/(len(of)+1)) + of + "]" }
	var doubling strings.Builder
	for i := range 60 {
		fmt.Fprintf(&doubling, `,"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i+1, i+1)
	}
	var patterns strings.Builder
	for i := range 200 {
		fmt.Fprintf(&patterns, `,"(a|b|c)*%d(x|y){0,50}$":{}`, i)
	}
	distinct := make([]string, 0, size/8)
	for i := range size / 8 {
		distinct = append(distinct, fmt.Sprint(1000000+i))
	}
	return map[string][2]string{
		"doubling references":  {`{"$ref":"#/$defs/d0","$defs":{"d60":{}` + doubling.String() + `}}`, `1`},
		"branching in depth":   {`{"anyOf":[{"properties":{"a":{"$ref":"#"}},"required":["x"]},{"properties":{"a":{"$ref":"#"}},"required":["y"]}]}`, strings.Repeat(`{"a":`, 120) + "{}" + strings.Repeat("}", 120)},
		"expression":           {`{"pattern":"^(a|aa|b?a){1,200}(c|d)*$"}`, `"` + strings.Repeat("a", size) + `"`},
		"expressions on names": {`{"patternProperties":{` + patterns.String()[1:] + `}}`, `{"` + strings.Repeat("a", size) + `":1}`},
		"unique numbers":       {`{"uniqueItems":true}`, "[" + strings.Join(distinct, ",") + "]"},
		"unique objects":       {`{"uniqueItems":true}`, list(`{"b":[1,2,{"c":3}],"a":1}`)},
		"huge exponents":       {`{"items":{"multipleOf":0.7,"minimum":1e300}}`, list(`1e999999999`)},
		"long numbers":         {`{"items":{"multipleOf":0.7}}`, "[" + strings.Repeat("7", size) + "]"},
		"deep arrays":          {`{"items":{"$ref":"#"},"contains":{"$ref":"#"}}`, strings.Repeat("[", 127) + list("[]") + strings.Repeat("]", 127)},
		"many complaints":      {`{"items":{"type":"string","minLength":3}}`, list("1")},
		"unevaluated":          {`{"allOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}],"unevaluatedItems":false,"contains":{"const":1}}`, list("1")},
		"large enum":           {`{"items":{"enum":[` + strings.Repeat(`"aaaaaaaaaaaaaaaaaaaaaaaaaaaa",`, 5000) + `1]}}`, list(`"bbb"`)},
		"dependents":           {`{"dependentRequired":{` + manyNeeds() + `}}`, `{"a":"` + strings.Repeat("x", size) + `"}`},
	}
}

func manyNeeds() string {
	var out strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&out, `,"n%d":["m"]`, i)
	}
	return out.String()[1:]
}

func TestHostileValuesEndSoon(t *testing.T) {
	// The budget is some 50 ms of work on an idle machine; with the race
	// detector, on a busy one, it is a second or so. What it must not be is minutes.
	const bound = 10 * time.Second
	for name, pair := range hostile() {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			s, err := Compile([]byte(pair[0]))
			if err != nil {
				t.Fatal(err)
			}
			compiled := time.Since(start)
			start = time.Now()
			err = s.Validate([]byte(pair[1]))
			took := time.Since(start)
			t.Logf("compiled in %v, validated in %v: %.100v", compiled, took, err)
			if took > bound || compiled > bound {
				t.Errorf("took %v and %v", compiled, took)
			}
		})
	}
}

func TestCacheIsBoundedAndRemembersFailures(t *testing.T) {
	c := NewCache(2)
	first, err := c.Compile([]byte(`{"minimum":1}`))
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := c.Compile([]byte(`{"minimum":1}`)); again != first {
		t.Error("compiled again")
	}
	for i := range 5 {
		if _, err := c.Compile(fmt.Appendf(nil, `{"type":"nonsense%d"}`, i)); err == nil {
			t.Error("no error")
		}
	}
	if len(c.entries) != 2 || len(c.order) != 2 {
		t.Errorf("%d entries and %d in order, want 2", len(c.entries), len(c.order))
	}
}

// differs says how our verdict on doc differs from the library's, empty if not.
func differs(t *testing.T, schema, doc []byte) string {
	t.Helper()
	s, err := Compile(schema)
	if err != nil || len(s.unchecked) > 0 {
		return ""
	}
	decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return ""
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(compilePattern)
	for _, f := range formats {
		c.RegisterFormat(&jsonschema.Format{Name: f, Validate: func(any) error { return nil }})
	}
	if err := c.AddResource(base, decoded); err != nil {
		return ""
	}
	oracle, err := c.Compile(base)
	if err != nil {
		return ""
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return ""
	}
	ours := s.Validate(doc)
	if errors.Is(ours, ErrCost) {
		return ""
	}
	if theirs := oracle.Validate(value); (ours == nil) != (theirs == nil) {
		return fmt.Sprintf("%s on %s: we say %v, the library %v", schema, doc, ours, theirs)
	}
	return ""
}

// formats are annotations for us and rules of older dialects for the library.
var formats = []string{
	"json-pointer", "relative-json-pointer", "uuid", "duration", "period", "ipv4", "ipv6", "hostname", "email", "date",
	"time", "date-time", "uri", "iri", "uri-reference", "iri-reference", "uri-template", "semver",
}

// tame reports whether the library can judge doc without a crash or an endless computation.
func tame(doc []byte) bool {
	return walkable(doc) && walk(trim(doc), func(v []byte) error {
		if !isNumber(v) {
			return nil
		}
		if d := parseDecimal(v); len(d.digits) > 50 || d.exp > 300 || d.exp < -300 || bytes.ContainsAny(v, "eE") && len(v) > 10 {
			return ErrCost
		}
		return nil
	}) == nil
}

// walkable reports whether doc is short JSON that names no member twice, where the verdicts may differ.
func walkable(doc []byte) bool {
	var v json.RawMessage
	if len(doc) > 2000 || json.Unmarshal(doc, &v) != nil || jsonrpc.Check(doc) != nil || bytes.Contains(doc, []byte(`"regex"`)) {
		return false
	}
	return walk(trim(doc), func(v []byte) error {
		seen := map[string]bool{}
		twice := false
		jsonrpc.Members(v, func(key, _ []byte) bool {
			twice = twice || seen[string(key)]
			seen[string(key)] = true
			return true
		})
		if twice {
			return ErrCost
		}
		return nil
	}) == nil
}

func FuzzAgreesWithTheLibrary(f *testing.F) {
	seeds := [][2]string{
		{`{"type":["integer","null"],"minimum":1,"multipleOf":0.5}`, `7`},
		{`{"properties":{"a":{"type":"string","maxLength":3}},"required":["a"],"additionalProperties":false}`, `{"a":"\u00e9xyz"}`},
		{`{"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false}`, `{"a":1,"b":2}`},
		{`{"prefixItems":[{"const":1}],"items":{"enum":[2,"x",null]},"contains":{"type":"string"}}`, `[1,2,"x"]`},
		{`{"oneOf":[{"type":"integer"},{"minimum":2}]}`, `2`},
		{`{"if":{"required":["a"]},"then":{"minProperties":2},"else":{"maxProperties":0}}`, `{"a":1}`},
		{`{"$defs":{"t":{"properties":{"n":{"$ref":"#/$defs/t"}},"required":["v"]}},"$ref":"#/$defs/t"}`, `{"v":1,"n":{"n":1}}`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"],"b":{"minProperties":3}}}`, `{"a":1,"b":2}`},
		{`{"patternProperties":{"^x":{"type":"number"}},"propertyNames":{"maxLength":2},"not":{"required":["q"]}}`, `{"x1":1,"q":2}`},
		{`{"uniqueItems":true,"minItems":1,"maxItems":3}`, `[1.0,1,{"a":[1]}]`},
		{`{"const":{"a":[1,2.0],"b":"\n"}}`, `{"b":"\u000a","a":[1.0,2]}`},
		{`{"contains":{"minimum":5},"minContains":2,"maxContains":3,"unevaluatedItems":{"type":"string"}}`, `[5,6,"x"]`},
	}
	for _, s := range seeds {
		f.Add([]byte(s[0]), []byte(s[1]))
	}
	f.Fuzz(func(t *testing.T, schema, doc []byte) {
		s, err := Compile(schema)
		if err != nil {
			return
		}
		_ = s.Validate(doc) // whatever it is, it ends
		if !tame(schema) || !tame(doc) {
			return
		}
		if d := differs(t, schema, doc); d != "" {
			t.Error(d)
		}
	})
}

func BenchmarkValidate(b *testing.B) {
	s := mustCompile(b, `{"type":"object","required":["path","limit","tags","content"],"additionalProperties":false,"properties":{
		"path":{"type":"string","minLength":1,"maxLength":4096},"limit":{"type":"integer","minimum":1,"maximum":1000},
		"mode":{"enum":["read","write","append"]},"tags":{"type":"array","items":{"type":"string"},"maxItems":32},
		"opts":{"type":"object","properties":{"a":{"type":"boolean"},"b":{"type":"number"}}},"content":{"type":"string"}}}`)
	doc := []byte(`{"path":"/home/user/notes.txt","limit":100,"mode":"append","tags":["one","two","three","four"],"opts":{"a":true,"b":1.5},"content":"` + strings.Repeat("lorem ipsum ", 75) + `"}`)
	b.Run("1KiB", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(doc)))
		for b.Loop() {
			if err := s.Validate(doc); err != nil {
				b.Fatal(err)
			}
		}
	})
}
