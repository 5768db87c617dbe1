package host

import (
	"github.com/mcphost/mcphost/host/plugin"
	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// PluginContract is the version of the contract with plugins that this host speaks.
const PluginContract = pluginv1.ProtocolVersion

// RunDir returns the folder of sockets and of what processes have while they run.
func RunDir() string { return plugin.DefaultRunDir() }
