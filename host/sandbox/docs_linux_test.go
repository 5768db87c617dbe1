package sandbox

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestDocsListWhatEveryPluginMayRead(t *testing.T) {
	text, err := os.ReadFile("../../docs/sandbox.md")
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(text))
	for _, path := range slices.Concat(systemPaths, networkPaths) {
		if !slices.Contains(words, path) {
			t.Errorf("docs/sandbox.md does not list %s", path)
		}
	}
}

func TestAppArmorProfileIsShipped(t *testing.T) {
	if !strings.Contains(AppArmorProfile, "userns,") {
		t.Errorf("the profile grants no user namespaces:\n%s", AppArmorProfile)
	}
}
