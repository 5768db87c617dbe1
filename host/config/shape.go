package config

import "strings"

// A Shape is a tools, prompts or resources block: which of a plugin's
// primitives are served, and under which names. The zero value serves all,
// under their own names. Globs and the keys of Rename are a plugin's own names
// (URIs, for resources), in plugins and in endpoints alike.
type Shape struct {
	Place
	Include []string          // globs; empty: everything
	Exclude []string          // globs; wins over Include
	Prefix  string            // put before each name that Rename does not give
	Rename  map[string]string // own name to served name
}

// Serves reports whether the primitive with this own name is served.
func (s *Shape) Serves(own string) bool {
	if matchAny(s.Exclude, own) {
		return false
	}
	return len(s.Include) == 0 || matchAny(s.Include, own)
}

// Name returns the name under which the primitive with this own name is
// served, where base is its name so far: that of [Shape.Rename] if there is
// one, else base with the prefix.
func (s *Shape) Name(own, base string) string {
	if name, ok := s.Rename[own]; ok {
		return name
	}
	return s.Prefix + base
}

func matchAny(globs []string, name string) bool {
	for _, g := range globs {
		if MatchGlob(g, name) {
			return true
		}
	}
	return false
}

// MatchGlob reports whether name matches glob, in which * stands for any run of
// bytes, slashes included, and every other byte for itself. It takes time
// proportional to the product of the lengths at worst.
func MatchGlob(glob, name string) bool {
	first, rest, star := strings.Cut(glob, "*")
	if !star {
		return glob == name
	}
	if !strings.HasPrefix(name, first) {
		return false
	}
	name = name[len(first):]
	parts := strings.Split(rest, "*")
	for _, part := range parts[:len(parts)-1] {
		at := strings.Index(name, part)
		if at < 0 {
			return false
		}
		name = name[at+len(part):]
	}
	return strings.HasSuffix(name, parts[len(parts)-1])
}
