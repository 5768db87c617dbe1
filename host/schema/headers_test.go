package schema

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphost/mcphost/host/primitive"
)

func TestHeadersFindsTheAnnotatedArguments(t *testing.T) {
	got, err := Headers([]byte(`{"type":"object","properties":{
		"region":{"type":"string","x-mcp-header":"Region"},
		"x-mcp-header":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"Method"},"ok":{"x-mcp-header":"o!k","type":"boolean"}}},
		"other":{"enum":[{"x-mcp-header":""}],"default":{"x-mcp-header":7}}}}`))
	want := []primitive.HeaderParam{
		{Name: "Region", Path: []string{"region"}, Type: "string"},
		{Name: "Method", Path: []string{"x-mcp-header", "n"}, Type: "integer"},
		{Name: "o!k", Path: []string{"x-mcp-header", "ok"}, Type: "boolean"},
	}
	if err != nil || !cmp.Equal(want, got) {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
}

func TestHeadersRefuses(t *testing.T) {
	tests := map[string]struct{ schema, want string }{
		"empty":              {`{"properties":{"a":{"type":"string","x-mcp-header":""}}}`, "token"},
		"space":              {`{"properties":{"a":{"type":"string","x-mcp-header":"a b"}}}`, "token"},
		"line break":         {`{"properties":{"a":{"type":"string","x-mcp-header":"a\r\nb"}}}`, "token"},
		"not ASCII":          {`{"properties":{"a":{"type":"string","x-mcp-header":"é"}}}`, "token"},
		"not a string":       {`{"properties":{"a":{"type":"string","x-mcp-header":7}}}`, "not a string"},
		"same but for case":  {`{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}`, "same header"},
		"number":             {`{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}`, "type is not"},
		"object":             {`{"properties":{"a":{"type":"object","x-mcp-header":"A"}}}`, "type is not"},
		"nullable":           {`{"properties":{"a":{"type":["string","null"],"x-mcp-header":"A"}}}`, "type is not"},
		"no type":            {`{"properties":{"a":{"x-mcp-header":"A"}}}`, "type is not"},
		"root":               {`{"type":"string","x-mcp-header":"A"}`, "do not lead"},
		"items":              {`{"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}}`, "do not lead"},
		"oneOf":              {`{"oneOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}`, "do not lead"},
		"definition":         {`{"$defs":{"a":{"type":"string","x-mcp-header":"A"}}}`, "do not lead"},
		"patternProperties":  {`{"patternProperties":{"a":{"type":"string","x-mcp-header":"A"}}}`, "do not lead"},
		"not JSON":           {`{`, "not JSON"},
		"properties of then": {`{"then":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}`, "do not lead"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := Headers([]byte(test.schema)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want something with %q", err, test.want)
			}
		})
	}
}

func TestLegacyRewritesOnlyBooleansUnderProperties(t *testing.T) {
	tests := map[string]struct{ schema, want string }{
		"both":      {` {"a":true, "properties" : {"x":true,"y": false ,"z":{"not":false,"properties":{"q":true}}},"items":false} `, ` {"a":true, "properties" : {"x":{},"y": {"not":{}} ,"z":{"not":false,"properties":{"q":true}}},"items":false} `},
		"none":      {`{"properties":{"x":{"type":"string"}},"additionalProperties":false}`, `{"properties":{"x":{"type":"string"}},"additionalProperties":false}`},
		"odd":       {`{"properties":[true]}`, `{"properties":[true]}`},
		"no object": {`true`, `true`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := string(Legacy([]byte(test.schema))); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestIsObjectRoot(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"type":"object"}`: true, `{"type": "\u006fbject"}`: true, `{"type":["object"]}`: false, `{}`: false, `true`: false, `{"type":"array"}`: false,
	} {
		if got := IsObjectRoot([]byte(schema)); got != want {
			t.Errorf("IsObjectRoot(%s) = %v", schema, got)
		}
	}
}
