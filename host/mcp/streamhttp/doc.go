// Package streamhttp carries MCP over HTTP: Streamable HTTP for both lineages
// on one URL, and beside it the HTTP+SSE pair of 2024-11-05.
//
// A [Handler] is one endpoint. It checks Origin and Host, the verb, who asks,
// and the form of the body; then a [mcp.Front] decides what the message is. A
// modern request is served on the connection that brought it and ends with it.
// A legacy one belongs to a session: it goes on when its connection breaks,
// and its messages are kept for a while in a stream that the client may resume.
//
// The package parses no message and knows no method, but for the one header
// that names subscriptions/listen.
package streamhttp
