package host

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// A PluginList says how the plugins of a running host are.
type PluginList struct {
	Serves  string         `json:"serves"` // the command line that would serve the same
	Plugins []PluginStatus `json:"plugins"`
}

// A PluginStatus says how one plugin is.
type PluginStatus struct {
	Handle   string    `json:"handle"`
	State    string    `json:"state"`
	PID      int       `json:"pid"` // 0: no process
	Restarts int       `json:"restarts"`
	Since    time.Time `json:"since"` // of the state
	// NotEnforced are the guarantees of the sandbox that do not hold for the
	// newest process.
	NotEnforced []string `json:"not_enforced"`
	Reason      string   `json:"reason,omitempty"` // of a state that has one
}

// Plugins returns how the plugins are, by handle.
func (h *Host) Plugins() PluginList {
	h.mu.Lock()
	members := slices.Collect(maps.Values(h.plugins))
	scope := h.scope
	h.mu.Unlock()
	list := PluginList{Serves: "serve", Plugins: []PluginStatus{}}
	if scope.Local != "" {
		list.Serves = "start " + scope.Local
	}
	for _, m := range members {
		list.Plugins = append(list.Plugins, m.status())
	}
	slices.SortFunc(list.Plugins, func(a, b PluginStatus) int { return cmp.Compare(a.Handle, b.Handle) })
	return list
}

func (m *member) status() PluginStatus {
	s := m.plugin.Status()
	p := PluginStatus{
		Handle: m.cfg.Handle, State: s.State.String(), PID: s.PID, Since: s.Since,
		Restarts: max(0, s.Starts-1), NotEnforced: []string{},
	}
	if s.Reason != nil {
		p.Reason = s.Reason.Error()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p.NotEnforced = append(p.NotEnforced, m.lacking...)
	return p
}
