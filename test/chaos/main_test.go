//go:build linux

package chaos

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcphost/mcphost/host/sandbox"
)

var (
	chaosFor = flag.Duration("for", 20*time.Second, "how `long` TestChaos goes on, quiet phases included")
	seed     = flag.Uint64("seed", 0, "what decides which fault befalls whom; 0 is another one each time")
)

// house is a folder with the programs and all that the hosts leave behind.
var house string

func TestMain(m *testing.M) {
	if code, launched := sandbox.Main(); launched {
		os.Exit(code)
	}
	code, err := furnish(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// furnish builds the house, runs the tests in it and removes it.
func furnish(m *testing.M) (code int, err error) {
	// What loses its parent becomes our child: nothing that a host leaves escapes us.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 1, err
	}
	if house, err = os.MkdirTemp("/tmp", "chaos"); err != nil { // short, for sockets
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(house)) }()
	for _, dir := range []string{"run", "tmp"} {
		if err := os.Mkdir(filepath.Join(house, dir), 0o700); err != nil {
			return 1, err
		}
	}
	builds := [][]string{{"-o", program("mcphost"), "../../cmd/mcphost"}, {"-o", program("plugin"), "./plugin"}}
	if raced {
		builds = append(builds, []string{"-race", "-o", program(racedHost), "../../cmd/mcphost"})
	}
	for _, args := range builds {
		args = append([]string{"build"}, args...)
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			return 1, fmt.Errorf("go %v: %w\n%s", args, err, out)
		}
	}
	for _, handle := range append(healthy, sick...) { // processes are known by their program's name
		if err := os.Link(program("plugin"), program(handle)); err != nil {
			return 1, err
		}
	}
	return m.Run(), nil
}

// racedHost is the mcphost that looks for data races, if the tests do.
const racedHost = "mcphost-raced"

func program(name string) string { return filepath.Join(house, name) }
