//go:build linux

package plugin_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// The test binary is also the plugins that the tests run: with behaviourVar in
// its environment it is the one that is named there.
const behaviourVar = "TEST_PLUGIN"

func TestMain(m *testing.M) {
	if name := os.Getenv(behaviourVar); name != "" {
		os.Exit(servePlugin(name))
	}
	if dir := os.Getenv(hostVar); dir != "" {
		fmt.Fprintln(os.Stderr, serveHost(dir))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("github.com/mcphost/mcphost/host/sandbox.forkForever"))
}
