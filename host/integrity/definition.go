package integrity

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/primitive"
)

// Instructions is what a plugin says to the model besides its definitions. It
// is pinned like one, without a name.
const Instructions = "instructions"

// blocks are the words of the lock file for the kinds of what is pinned, in its
// order.
var blocks = [...]string{Instructions, "tool", "prompt", "resource", "resource_template"}

// kindWord returns the word of the lock file for k.
func kindWord(k primitive.Kind) string {
	switch k {
	case primitive.KindTool:
		return "tool"
	case primitive.KindPrompt:
		return "prompt"
	case primitive.KindResource:
		return "resource"
	case primitive.KindTemplate:
		return "resource_template"
	}
	return k.String()
}

// A Definition is what a plugin tells of one primitive, or its instructions.
type Definition struct {
	Kind   string // a word of blocks
	Name   string // of a tool or prompt, or the URI; empty of instructions
	SHA256 string // of Text
	Text   []byte // canonical JSON
}

// Define returns the definition of p: everything that a client gets of it, the
// description, the schemas and the annotations among it. The size of a resource
// and when it was modified are its content's affair.
func Define(p *primitive.Primitive) Definition {
	text := p.Definition
	if p.Kind == primitive.KindResource {
		text = without(text, "size")
		if a := jsonrpc.Lookup(text, "annotations"); a != nil && jsonrpc.IsObject(a) {
			text = with(without(text, "annotations"), "annotations", without(a, "lastModified"))
		}
	}
	return define(kindWord(p.Kind), p.Own, text)
}

// DefineInstructions returns instructions as a definition.
func DefineInstructions(s string) Definition {
	return define(Instructions, "", with([]byte("{}"), Instructions, jsonrpc.AppendString(nil, s)))
}

func define(kind, name string, text []byte) Definition {
	d := Definition{Kind: kind, Name: name, Text: jsonrpc.AppendCanonical(nil, text)}
	sum := sha256.Sum256(d.Text)
	d.SHA256 = hex.EncodeToString(sum[:])
	return d
}

// without returns an object without one of its members.
func without(object []byte, name string) []byte { return rewrite(object, name, nil) }

// with returns an object, which has no such member, with one more.
func with(object []byte, name string, value []byte) []byte { return rewrite(object, name, value) }

// rewrite returns an object whose member called name is value; nil leaves it out.
func rewrite(object []byte, name string, value []byte) []byte {
	out := []byte{'{'}
	put := func(key string, v []byte) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(jsonrpc.AppendString(out, key), ':'), v...)
	}
	jsonrpc.Members(object, func(key, v []byte) bool {
		if string(key) != name {
			put(string(key), v)
		}
		return true
	})
	if value != nil {
		put(name, value)
	}
	return append(out, '}')
}

// An id tells a definition from all others of the plugin.
type id struct{ kind, name string }

func (d *Definition) id() id { return id{d.Kind, d.Name} }

// String returns what messages call the definition.
func (i id) String() string {
	if i.name == "" {
		return i.kind
	}
	return i.kind + " " + quote(i.name)
}

// sortDefinitions puts list into the order of the lock file.
func sortDefinitions(list []Definition) {
	slices.SortFunc(list, func(a, b Definition) int { return compareIDs(a.id(), b.id()) })
}

func compareIDs(a, b id) int {
	return cmp.Or(
		cmp.Compare(slices.Index(blocks[:], a.kind), slices.Index(blocks[:], b.kind)),
		cmp.Compare(a.name, b.name),
	)
}
