// Package chaos holds mcphost to its word that a sick plugin is an honest error
// on that plugin's tools and nothing else: it serves eight plugins from real
// hosts, calls them from both transports and both lineages, and has something
// bad happen to some of them every second. It holds tests only.
//
// docs/chaos.md says how to run it and how to read what it prints.
package chaos
