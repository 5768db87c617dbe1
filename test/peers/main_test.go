package peers

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// house is a folder with what a checkout has after make build: bin, the
// configurations, and the state of the hosts that run.
var house string

func TestMain(m *testing.M) {
	if dir := os.Getenv(tapEnv); dir != "" {
		os.Exit(tap(dir))
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
	if house, err = os.MkdirTemp("", "mcphost-peers"); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(house)) }()
	args := []string{"build"}
	if raced {
		args = append(args, "-race")
	}
	build := func(args ...string) error {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("go %v: %w\n%s", args, err, out)
		}
		return nil
	}
	if err := build(append(args, "-o", filepath.Join(house, "bin", "mcphost"), "../../cmd/mcphost")...); err != nil {
		return 1, err
	}
	for _, name := range []string{"clock", "files", "everything"} {
		if err := build("build", "-o", filepath.Join(house, "bin", "plugin-"+name), "../../plugins/"+name); err != nil {
			return 1, err
		}
	}
	for _, name := range []string{"config.hcl", "examples/everything.hcl"} {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			return 1, err
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(house, name)), 0o755); err != nil {
			return 1, err
		}
		if err := os.WriteFile(filepath.Join(house, name), text, 0o644); err != nil {
			return 1, err
		}
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil { // they wait for processes and not for a processor
		return 1, err
	}
	return m.Run(), nil
}

// environment is that of the hosts of a test: a state of their own, and an end
// at the first data race.
func environment(t *testing.T) []string {
	t.Helper()
	return append(os.Environ(), "XDG_STATE_HOME="+t.TempDir(), "GORACE=halt_on_error=1 atexit_sleep_ms=0")
}

// tapEnv makes this program a tap: it runs the command of its arguments and
// records what passes through stdin and stdout into a new file of the folder
// that it names. So a client of another house can start a host and be overheard.
const tapEnv = "MCPHOST_PEERS_TAP"

// The directions of a recorded line.
const (
	fromClient = '>'
	fromHost   = '<'
)

func tap(dir string) int {
	file, err := os.CreateTemp(dir, "tap-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	t := &tapped{file: file}
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stderr = os.Stderr
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut, cmd.Start()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	go func() { // ends with our input; the process ends before it otherwise
		t.copy(fromClient, in, os.Stdin)
		in.Close()
	}()
	t.copy(fromHost, os.Stdout, out)
	if err := cmd.Wait(); err != nil {
		fmt.Fprintln(os.Stderr, "tap:", err)
		return 1
	}
	return 0
}

type tapped struct {
	mu   sync.Mutex // guards file
	file *os.File
}

// copy copies lines; each is recorded before it is passed on, so that a
// request stands in the record before its answer.
func (t *tapped) copy(direction byte, w io.Writer, r io.Reader) {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			t.mu.Lock()
			_, failed := t.file.Write(append([]byte{direction}, append(bytes.TrimRight(line, "\r\n"), '\n')...))
			t.mu.Unlock()
			if _, err := w.Write(line); err != nil || failed != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
