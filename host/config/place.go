package config

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// A Range is a stretch of a source file.
type Range = hcl.Range

// A Place says where a block and its arguments stand. Blocks that are absent
// have the place of the block around them.
type Place struct {
	// Block is the block's header, for example `plugin "files"`. It is the zero
	// Range where nothing was written at all.
	Block Range

	// args has the values of the arguments, and what is inside of literals
	// under "plugins/0" or "env/LANG".
	args map[string]Range
}

// At returns the place of an argument's value, or of an item or key in it
// (At("plugins", "0")), as near as it is known; the block's header if the
// argument is not written.
func (p *Place) At(path ...string) Range {
	for n := len(path); n > 0; n-- {
		if r, ok := p.args[strings.Join(path[:n], "/")]; ok {
			return r
		}
	}
	return p.Block
}

// Has reports whether the argument is written in the file.
func (p *Place) Has(name string) bool {
	_, ok := p.args[name]
	return ok
}

func (p *Place) put(key string, r Range) {
	if p.args == nil {
		p.args = map[string]Range{}
	}
	p.args[key] = r
}
