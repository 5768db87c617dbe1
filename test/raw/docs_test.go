package raw

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestDocsQuoteThePlugin keeps docs/plugin-protocol.md true: its Python is that
// of the plugin which the tests run.
func TestDocsQuoteThePlugin(t *testing.T) {
	page, err := os.ReadFile("../../docs/plugin-protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	plugin, err := os.ReadFile("python/plugin.py")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```python\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 5 {
		t.Fatalf("only %d blocks of Python", len(blocks))
	}
	for _, block := range blocks {
		if !strings.Contains(string(plugin), block[1]) {
			t.Errorf("plugin.py has not:\n%s", block[1])
		}
	}
}
