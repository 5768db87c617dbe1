//go:build linux

package plugin_test

import (
	"os"
	"testing"

	"github.com/mcphost/mcphost/host/plugin"
	"github.com/mcphost/mcphost/host/primitive"
)

func BenchmarkCallTool(b *testing.B) {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "mh") //nolint:usetesting // its path must be short
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(dir)
	p := plugin.New(plugin.Options{Handle: "bench", Command: []string{exe}, RunDir: dir, Env: map[string]string{behaviourVar: "good"}})
	if err := p.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	defer p.Close(b.Context())
	echo := p.Catalog().Tools[0]
	use := &primitive.Use{Caller: caller(), CallID: "c", Arguments: []byte(`{}`)}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := p.CallTool(b.Context(), echo, use); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
