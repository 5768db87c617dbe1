// Package plugin runs plugin processes and makes sources of them.
//
// A [Plugin] is one configured handle: it launches the command behind our own
// guard in front of go-plugin, speaks the contract of proto/mcphost/plugin/v1
// to it, watches its health, restarts it, and offers what it lists as
// [primitive.Primitive]s. Which client sees them, under which name and by
// which rule, is for others.
//
// Everything that comes from a plugin is hostile until it is checked here:
// each string, size, number and JSON text, the lines it prints, the address it
// announces and the time it takes. What breaks the contract is refused; the
// host neither crashes nor waits for it.
//
// The walk of a call: call.go (admission, retry), toproto.go, the wire,
// fromproto.go (failures) and result.go (results). The walk of a process:
// supervisor.go, instance.go, launch.go, process.go.
package plugin
