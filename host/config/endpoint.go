package config

// A Local is a local block: an endpoint on stdin and stdout, by its handle.
type Local struct {
	Place
	Handle     string
	Plugins    []string   // handles, in order; its own one for a block with a command
	Scopes     []string   // of the local user, who is the principal here
	OnConflict OnConflict // default ConflictPrefix

	Tools     Shape
	Prompts   Shape
	Resources Shape
}

// A Web is a web block: an endpoint on the HTTP listener, by its path.
type Web struct {
	Place
	Path       string     // absolute, clean, no slash at the end but for "/"
	Plugins    []string   // handles, in order
	OnConflict OnConflict // default ConflictPrefix

	Tools     Shape
	Prompts   Shape
	Resources Shape
}

// An OnConflict says what happens in an endpoint when two plugins serve the
// same name. The plugin that stands first in the endpoint's plugins keeps it.
type OnConflict string

// The ways to settle a clash; all speak of the later plugin.
const (
	ConflictPrefix OnConflict = "prefix" // its name gets its handle and an underscore in front
	ConflictSkip   OnConflict = "skip"   // its primitive is left out, with a line in the log
	ConflictError  OnConflict = "error"  // its primitive is left out, and the config is refused where that is known at load
)
