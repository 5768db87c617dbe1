// Package sandbox starts plugin processes that can be trusted with nothing and
// says honestly how far the machine holds them.
//
// A Policy speaks of what a plugin is granted (read, write, network, hosts,
// exec, memory, cpu, pids). Everything else is denied. How it is denied is this
// package's affair: the mcphost binary runs itself again as `mcphost
// sandbox-exec`, which confines itself and becomes the plugin, and reports
// which guarantees really hold. A guarantee that was required and does not hold
// keeps the plugin from running.
//
// The package knows nothing of plugins' protocols or of HCL.
package sandbox
