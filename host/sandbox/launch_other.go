//go:build !linux

package sandbox

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
)

// Prepare leaves cmd as it is: there is no sandbox on this system yet. Only a
// policy whose mode is Off is accepted.
func Prepare(cmd *exec.Cmd, p Policy, _ Options) (*Launch, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if p.mode() != Off {
		return nil, &LaunchError{Code: ExitSandbox, Message: unsupported()}
	}
	return &Launch{cmd: cmd, policy: p}, nil
}

func unsupported() string {
	return fmt.Sprintf(`there is no sandbox for plugins on %s; to run this plugin with all rights of mcphost write mode = "off" in its sandbox block`, runtime.GOOS)
}

func runLauncher() int { return ExitSandbox }

// Owns reports whether pid is the plugin's process.
func (l *Launch) Owns(pid int) bool { return l.cmd.Process != nil && l.cmd.Process.Pid == pid }

func (l *Launch) readReport(context.Context) (Report, error) { return unconfined(), nil }

func (l *Launch) release() error { return nil }

func explainStart(err error) error { return err }

// Probe returns what this machine can enforce: nothing.
func Probe() Machine {
	m := Machine{System: runtime.GOOS}
	for _, g := range Guarantees() {
		m.Status = append(m.Status, Status{Guarantee: g, Why: unsupported()})
	}
	return m
}

type cgroup struct{}

func (*cgroup) reason() string { return "" }

type watchdog struct{}

func (*watchdog) reason() string { return "" }
