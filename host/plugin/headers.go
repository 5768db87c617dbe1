package plugin

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/primitive"
)

// headerKeyword marks an argument that modern HTTP clients mirror into a header.
const headerKeyword = "x-mcp-header"

// headerParams finds the annotated arguments of an input schema.
//
// basic/transports "Custom Headers": a name is a token, unique whatever its
// case; the argument is a string, an integer or a boolean, and reached through
// "properties" alone. A client drops a tool that breaks this, so we do.
func headerParams(schema []byte) ([]primitive.HeaderParam, error) {
	if !strings.Contains(string(schema), headerKeyword) {
		return nil, nil
	}
	var found []primitive.HeaderParam
	if err := findHeaders(schema, nil, &found); err != nil {
		return nil, err
	}
	if n := countHeaders(schema, false); n != len(found) {
		return nil, fmt.Errorf("its inputSchema has %s where no header can come from: only properties of properties can have one", headerKeyword)
	}
	seen := make(map[string]struct{})
	for _, h := range found {
		lower := strings.ToLower(h.Name)
		if _, twice := seen[lower]; twice {
			return nil, fmt.Errorf("its inputSchema has the %s %q twice", headerKeyword, h.Name)
		}
		seen[lower] = struct{}{}
	}
	return found, nil
}

func findHeaders(schema []byte, path []string, found *[]primitive.HeaderParam) (err error) {
	properties := jsonrpc.Lookup(schema, "properties")
	if properties == nil || !jsonrpc.IsObject(properties) {
		return nil
	}
	jsonrpc.Members(properties, func(k, v []byte) bool {
		if !jsonrpc.IsObject(v) {
			return true
		}
		at := append(path[:len(path):len(path)], string(k))
		if value := jsonrpc.Lookup(v, headerKeyword); value != nil {
			var h primitive.HeaderParam
			if h, err = headerParam(value, v); err != nil {
				return false
			}
			h.Path = at
			*found = append(*found, h)
		}
		err = findHeaders(v, at, found)
		return err == nil
	})
	return err
}

func headerParam(value, property []byte) (primitive.HeaderParam, error) {
	name, ok := jsonrpc.String(value)
	if !ok || !isToken(name) {
		return primitive.HeaderParam{}, fmt.Errorf("its inputSchema has an %s that is no header name", headerKeyword)
	}
	kind, _ := jsonrpc.String(orNull(jsonrpc.Lookup(property, "type")))
	switch kind {
	case "string", "integer", "boolean":
		return primitive.HeaderParam{Name: name, Type: kind}, nil
	}
	return primitive.HeaderParam{}, errors.New("its inputSchema has an " + headerKeyword + " on an argument that is no string, integer or boolean")
}

// countHeaders counts the keyword anywhere in a schema. Inside a "properties"
// object the keys are names of arguments, not keywords.
func countHeaders(v []byte, isProperties bool) (n int) {
	switch {
	case jsonrpc.IsObject(v):
		jsonrpc.Members(v, func(k, member []byte) bool {
			switch key := string(k); {
			case !isProperties && key == headerKeyword:
				n++
			case !isProperties && isLiteral(key):
			default:
				n += countHeaders(member, !isProperties && key == "properties")
			}
			return true
		})
	case jsonrpc.IsArray(v):
		jsonrpc.Elements(v, func(element []byte) bool {
			n += countHeaders(element, false)
			return true
		})
	}
	return n
}

// isLiteral reports whether the value of a keyword is data, not a schema.
func isLiteral(keyword string) bool {
	return keyword == "const" || keyword == "enum" || keyword == "default" || keyword == "examples"
}

// isToken reports whether s is a token of RFC 9110.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != "" && len(s) <= maxShort
}
