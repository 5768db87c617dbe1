// Package peers drives a real mcphost from outside: with the official Go and
// TypeScript clients, and with messages written by hand where no client would
// send them. It holds tests only and imports nothing of the host.
//
// Every message that mcphost sends in these tests is recorded on its way, at
// the pipe or at the HTTP response, and validated against the schema that was
// published with its revision.
//
// The TypeScript clients and the schemas come from npm, as
// npm/package-lock.json pins them; the tests install them below .cache once.
package peers
