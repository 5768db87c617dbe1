package plugin

import (
	"context"
	"os/exec"

	"github.com/mcphost/mcphost/host/sandbox"
)

// Dirs are the folders of one process, absolute and without symbolic links.
type Dirs struct {
	// Private holds Socket, Work and notes of the host, which the plugin needs
	// not see. It is removed when the process has ended.
	Private string
	// Socket is where the plugin makes its socket: PLUGIN_UNIX_SOCKET_DIR.
	Socket string
	// Work holds HOME and TMPDIR of the process.
	Work string
	// Data is kept across restarts; empty if the plugin has none.
	Data string
}

// A Launcher makes a command run confined.
type Launcher interface {
	// Prepare changes cmd, complete but for its confinement, before it is
	// forked. An error says that the plugin cannot run confined as demanded.
	Prepare(cmd *exec.Cmd, dirs Dirs) (Launched, error)
}

// A Launched is one command that a [Launcher] prepared. Its methods are called
// in the order below; Killed at any time after Start.
type Launched interface {
	// Start forks the command, from a thread that lives as long as the host.
	Start() error
	// Started returns when the confinement is in force, or with why it is not,
	// which is taken to be permanent. It returns early when ctx is done.
	Started(ctx context.Context) error
	// Killed returns why the launcher itself ended the plugin, or "".
	Killed() string
	// Close releases what Prepare took. It is called once, when the process
	// has ended or was not forked.
	Close() error
}

// unconfined is the launcher of plugins that run without a sandbox.
type unconfined struct{}

// Prepare implements [Launcher].
func (unconfined) Prepare(cmd *exec.Cmd, _ Dirs) (Launched, error) { return direct{cmd}, nil }

// A direct is a command that is run as it is.
type direct struct{ cmd *exec.Cmd }

func (d direct) Start() error                { return sandbox.Start(d.cmd) }
func (direct) Started(context.Context) error { return nil }
func (direct) Killed() string                { return "" }
func (direct) Close() error                  { return nil }
