package registry

import "github.com/mcphost/mcphost/host/primitive"

// A Shape says which primitives of one kind are taken, and under which names.
// The zero Shape takes all as they are.
type Shape struct {
	Include []string          // globs over own names; empty takes all
	Exclude []string          // globs over own names; they win over Include
	Prefix  string            // put before every name that Rename does not give
	Rename  map[string]string // own name to served name
}

// Shapes is a shape for each kind; resources and templates share one and keep their URIs.
type Shapes struct{ Tools, Prompts, Resources Shape }

func (s *Shapes) of(k primitive.Kind) *Shape {
	switch k {
	case primitive.KindTool:
		return &s.Tools
	case primitive.KindPrompt:
		return &s.Prompts
	case primitive.KindResource, primitive.KindTemplate:
	}
	return &s.Resources
}

// apply returns the name under which a primitive called own is served, which
// key is what earlier shapes made of it, and false if it is not.
func (s *Shape) apply(own, key string) (string, bool) {
	if len(s.Include) > 0 && !matchAny(s.Include, own) || matchAny(s.Exclude, own) {
		return "", false
	}
	if name, ok := s.Rename[own]; ok {
		return name, true
	}
	return s.Prefix + key, true
}

func matchAny(globs []string, name string) bool {
	for _, g := range globs {
		if Match(g, name) {
			return true
		}
	}
	return false
}

// Match reports whether name matches glob: '*' stands for any text, '?' for one
// byte, everything else for itself. It takes time proportional to the product
// of the lengths at worst.
func Match(glob, name string) bool {
	star, mark := -1, 0
	g, n := 0, 0
	for n < len(name) {
		switch {
		case g < len(glob) && glob[g] == '*':
			star, mark = g, n
			g++
		case g < len(glob) && (glob[g] == '?' || glob[g] == name[n]):
			g++
			n++
		case star >= 0:
			mark++
			g, n = star+1, mark
		default:
			return false
		}
	}
	for g < len(glob) && glob[g] == '*' {
		g++
	}
	return g == len(glob)
}
