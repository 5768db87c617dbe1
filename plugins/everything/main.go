// Plugin-everything is the conformance fixture: it offers what @modelcontextprotocol/conformance wants of a server, so that
// the official suite tests the whole way from the wire to a plugin process and back.
package main

import "context"

func main() {
	p, tick := newPlugin()
	go tick(context.Background()) // ends with the process
	p.Main()
}
