package plugin_test

import (
	"testing"
)

func TestPluginServes(t *testing.T) {
	o, log := options(t, "good")
	p := start(t, o)
	if got := mustText(t, p, `{}`); got != "ok" {
		t.Errorf("got %q, want ok", got)
	}
	t.Log(log)
}
