// Package raw proves that the contract is pleasant from outside Go: a plugin in
// Python and one in Node, each written straight on plugin.proto without an SDK,
// run in a real host, in the default sandbox, with mTLS and without.
//
// docs/plugin-protocol.md shows the one in Python as its example. What they
// need comes from PyPI and npm, pinned, and is installed below .cache once.
package raw
