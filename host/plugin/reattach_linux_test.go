package plugin_test

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/mcphost/mcphost/host/plugin"
	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// byHand starts a plugin as its author would, and returns its process, its
// socket, and a channel that says how it ended.
func byHand(t *testing.T) (process *os.Process, socket string, ended <-chan error) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), behaviourVar+"=good", pluginv1.MagicCookieKey+"="+pluginv1.MagicCookieValue,
		"PLUGIN_PROTOCOL_VERSIONS=1", "PLUGIN_UNIX_SOCKET_DIR="+shortDir(t))
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end := make(chan error, 1)
	line, err := bufio.NewReader(stdout).ReadString('\n')
	fields := strings.Split(line, "|")
	if err != nil || len(fields) < 5 {
		t.Fatalf("handshake %q: %v", line, err)
	}
	go func() { end <- cmd.Wait() }() // ends with the process, which its test kills
	return cmd.Process, fields[3], end
}

// TestReattachedProcessIsNotOurs uses a process that somebody else started: it
// outlives its hosts, and when it ends nobody starts another one.
func TestReattachedProcessIsNotOurs(t *testing.T) {
	t.Parallel()
	process, socket, ended := byHand(t)
	o, _ := commandOptions(t, "/no/such/program")
	o.Reattach = &plugin.Reattach{PID: process.Pid, Socket: socket}
	for range 2 {
		p := plugin.New(o)
		if err := p.Start(t.Context()); err != nil {
			t.Fatal("Start: ", err)
		}
		tool(t, p, "echo")
		if got := p.Status().PID; got != process.Pid {
			t.Errorf("process %d serves, want %d", got, process.Pid)
		}
		shut(t, p)
		select {
		case err := <-ended:
			t.Fatalf("the process ended with its host: %v", err)
		default:
		}
	}
	states := make(chan plugin.State, 16)
	o.OnState = func(s plugin.State) { states <- s }
	p := start(t, o)
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
	for s := range states {
		if s == plugin.Failed {
			break
		}
	}
	if _, why := p.State(); !plugin.Permanent(why) || !strings.Contains(why.Error(), "start the plugin again") {
		t.Errorf("it is down because of %v", why)
	}
}
