// Package telemetry counts what an operator wants to see on a dashboard:
// where each plugin stands, how often it was started again, and which of its
// sandbox's guarantees hold. It is a room for the metrics library alone; who
// knows something tells it here.
package telemetry

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are the figures of one host. Use [New]; the methods may be called
// concurrently.
type Metrics struct {
	registry  *prometheus.Registry
	states    *prometheus.GaugeVec
	restarts  *prometheus.CounterVec
	guarantee *prometheus.GaugeVec
}

// New returns metrics without any plugin, and those of the process itself.
func New() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		states: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "mcphost_plugin_state", Help: "1 for the state that the plugin is in.",
		}, []string{"handle", "state"}),
		restarts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mcphost_plugin_starts_total", Help: "How often a process of the plugin became ready.",
		}, []string{"handle"}),
		guarantee: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "mcphost_sandbox_guarantee", Help: "1 if the guarantee is enforced for the running process, or was given away on purpose; 0 if it is not enforced.",
		}, []string{"handle", "guarantee"}),
	}
	m.registry.MustRegister(m.states, m.restarts, m.guarantee,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// State notes that a plugin is in a state now; ready says that a process of it
// has just become ready.
func (m *Metrics) State(handle, state string, ready bool) {
	// Reset the others of the handle: it is in one state at a time.
	m.states.DeletePartialMatch(prometheus.Labels{"handle": handle})
	m.states.WithLabelValues(handle, state).Set(1)
	if ready {
		m.restarts.WithLabelValues(handle).Inc()
	}
}

// Guarantee notes whether a guarantee of a plugin's sandbox holds.
func (m *Metrics) Guarantee(handle, guarantee string, holds bool) {
	v := 0.0
	if holds {
		v = 1
	}
	m.guarantee.WithLabelValues(handle, guarantee).Set(v)
}

// Forget removes a plugin that is not part of the configuration any more.
func (m *Metrics) Forget(handle string) {
	for _, v := range []interface {
		DeletePartialMatch(labels prometheus.Labels) int
	}{m.states, m.restarts, m.guarantee} {
		v.DeletePartialMatch(prometheus.Labels{"handle": handle})
	}
}

// Handler serves the figures in the text format of Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
