package main

import (
	"fmt"
	"os"
)

// reattachEnv names processes of plugins to use instead of starting them.
const reattachEnv = "MCPHOST_REATTACH"

// reattach returns what reattachEnv says, if --dev lets it be heard. A host that
// a person did not start for this must not be led to other processes.
func (g *globals) reattach() string {
	text := os.Getenv(reattachEnv)
	switch {
	case text == "":
	case !g.dev:
		fmt.Fprintf(os.Stderr, "warning: %s is set and has no effect without --dev\n", reattachEnv)
		return ""
	default:
		fmt.Fprintf(os.Stderr, "warning: %s: plugins that are named there run WITHOUT A SANDBOX and are neither started nor checked by mcphost\n", reattachEnv)
	}
	return text
}
