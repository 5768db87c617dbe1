package plugin

import "github.com/hashicorp/go-hclog"

// logLevels are the levels of RFC 5424 that MCP knows, and ours for them.
var logLevels = map[string]hclog.Level{
	"debug": hclog.Debug, "info": hclog.Info, "notice": hclog.Info, "warning": hclog.Warn,
	"error": hclog.Error, "critical": hclog.Error, "alert": hclog.Error, "emergency": hclog.Error,
}

// hclogLevel returns our level for one of MCP's; Info if there is no such.
func hclogLevel(level string) hclog.Level {
	if l, ok := logLevels[level]; ok {
		return l
	}
	return hclog.Info
}
