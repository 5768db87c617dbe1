package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/primitive"
)

const annotation = "x-mcp-header"

// How the keywords hold subschemas. Everything else is data.
var (
	oneKeywords = []string{
		"additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items",
		"not", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
	}
	listKeywords = []string{"allOf", "anyOf", "items", "oneOf", "prefixItems"}
	mapKeywords  = []string{"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
)

// Headers returns the arguments that inputSchema annotates with x-mcp-header,
// in the order in which they stand there. One annotation that is not valid
// makes the whole schema invalid, wherever it is (MCP server/tools
// "x-mcp-header"): a client would drop the tool.
func Headers(inputSchema []byte) ([]primitive.HeaderParam, error) {
	if err := jsonrpc.Check(inputSchema); err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	var h headers
	h.schema(trim(inputSchema), nil, true)
	return h.params, h.err
}

type headers struct {
	params []primitive.HeaderParam
	err    error
}

// schema looks through v. Reachable says that only properties keywords lead from the root to it.
func (h *headers) schema(v []byte, path []string, reachable bool) {
	jsonrpc.Members(v, func(key, value []byte) bool {
		keyword := string(key)
		switch {
		case keyword == annotation:
			h.annotation(v, value, path, reachable)
		case slices.Contains(mapKeywords, keyword) && value[0] == '{':
			jsonrpc.Members(value, func(name, sub []byte) bool {
				h.schema(sub, append(slices.Clone(path), place(keyword, reachable, string(name))...), reachable && keyword == "properties")
				return h.err == nil
			})
		case slices.Contains(listKeywords, keyword) && value[0] == '[':
			jsonrpc.Elements(value, func(sub []byte) bool {
				h.schema(sub, append(slices.Clone(path), keyword), false)
				return h.err == nil
			})
		case slices.Contains(oneKeywords, keyword):
			h.schema(value, append(slices.Clone(path), keyword), false)
		}
		return h.err == nil
	})
}

// place is what a path grows by: the name alone as long as it is one of an argument.
func place(keyword string, reachable bool, name string) []string {
	if reachable && keyword == "properties" {
		return []string{name}
	}
	return []string{keyword, name}
}

func (h *headers) annotation(schema, value []byte, path []string, reachable bool) {
	name, ok := jsonrpc.String(value)
	if err := h.check(schema, name, ok, path, reachable); err != nil {
		h.err = fmt.Errorf("%s %s at %q: %w", annotation, short(value), short([]byte(strings.Join(path, "."))), err)
		return
	}
	typ, _ := jsonrpc.String(jsonrpc.Lookup(schema, "type"))
	h.params = append(h.params, primitive.HeaderParam{Name: name, Path: path, Type: typ})
}

func (h *headers) check(schema []byte, name string, isString bool, path []string, reachable bool) error {
	switch typ, _ := jsonrpc.String(jsonrpc.Lookup(schema, "type")); {
	case !isString:
		return fmt.Errorf("is not a string")
	case !token(name):
		return fmt.Errorf("is not a token that a header's name can hold")
	case !reachable || len(path) == 0:
		return fmt.Errorf("stands where properties alone do not lead")
	case typ != "string" && typ != "integer" && typ != "boolean":
		return fmt.Errorf("is on a property whose type is not string, integer or boolean")
	}
	for _, p := range h.params {
		if strings.EqualFold(p.Name, name) {
			return fmt.Errorf("names the same header as %q", short([]byte(strings.Join(p.Path, "."))))
		}
	}
	return nil
}

// token reports whether s is 1*tchar (RFC 9110 section 5.6.2).
func token(s string) bool {
	for i := range len(s) {
		c := s[i]
		alnum := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !alnum && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}
