package host

import (
	"fmt"
	"maps"
	"slices"

	"github.com/mcphost/mcphost/host/config"
	"github.com/mcphost/mcphost/host/plugin"
)

// reattached reads Options.Reattach; each handle must be one of cfg.
func reattached(cfg *config.Config, text string) (map[string]*plugin.Reattach, error) {
	if text == "" {
		return nil, nil
	}
	list, err := plugin.ParseReattach(text)
	if err != nil {
		return nil, fmt.Errorf("MCPHOST_REATTACH: %w", err)
	}
	for _, handle := range slices.Sorted(maps.Keys(list)) {
		if _, ok := cfg.Plugin(handle); !ok {
			return nil, fmt.Errorf("MCPHOST_REATTACH: the configuration has no plugin %q; rename the key to the handle that the plugin has there", handle)
		}
	}
	return list, nil
}
