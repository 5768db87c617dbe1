package telemetry_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcphost/mcphost/host/telemetry"
)

func scrape(m *telemetry.Metrics) string {
	rec := httptest.NewRecorder()
	m.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return rec.Body.String()
}

func TestAPluginIsInOneState(t *testing.T) {
	m := telemetry.New()
	m.State("clock", "starting", false)
	m.State("clock", "ready", true)
	m.State("clock", "backoff", false)
	m.State("clock", "ready", true)
	m.Guarantee("clock", "fs", true)
	m.Guarantee("clock", "memory", false)
	got := scrape(m)
	for _, want := range []string{
		`mcphost_plugin_state{handle="clock",state="ready"} 1`,
		`mcphost_plugin_starts_total{handle="clock"} 2`,
		`mcphost_sandbox_guarantee{guarantee="fs",handle="clock"} 1`,
		`mcphost_sandbox_guarantee{guarantee="memory",handle="clock"} 0`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, `state="backoff"`) {
		t.Error("a state that is over is still there")
	}
	m.Forget("clock")
	if got := scrape(m); strings.Contains(got, "clock") {
		t.Errorf("a forgotten plugin is still there:\n%s", got)
	}
}
