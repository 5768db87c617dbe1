package sandbox

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphost/mcphost/host/sandbox/egress"
)

// LauncherCommand is the hidden first argument with which this binary runs
// itself again to confine itself and become a plugin.
const LauncherCommand = "sandbox-exec"

// wired is set by Main in a process that may run itself as the launcher.
var wired atomic.Bool

// Main is the first thing that main calls in a program that uses Prepare or
// Probe, and TestMain in its tests:
//
//	if code, launched := sandbox.Main(); launched {
//		os.Exit(code)
//	}
//
// If this process was started as the launcher, Main becomes the plugin, or
// returns the code to exit with. Otherwise it returns at once.
func Main() (code int, launched bool) {
	if len(os.Args) > 1 && os.Args[1] == LauncherCommand {
		return runLauncher(), true
	}
	wired.Store(true)
	return 0, false
}

// errNotWired keeps a program that would not become the launcher from running
// itself again as whatever else it is.
var errNotWired = errors.New("this program does not call sandbox.Main at its start")

// Options of Prepare; the zero value works.
type Options struct {
	Log      hclog.Logger    // nil is silence
	Resolver egress.Resolver // for the hosts of the grant; nil is the system's
}

// Launch is one start of one plugin: Prepare, Start, Report, then cmd.Wait, then
// Close. It is not used twice. Its methods may be called from any goroutine.
type Launch struct {
	cmd    *exec.Cmd
	policy Policy
	log    hclog.Logger
	names  egress.Resolver

	control *net.UnixConn // our end of the launcher's reports; nil when the mode is off
	theirs  []*os.File    // the child's ends, ours to close once it has them
	group   *cgroup       // nil where none is delegated to us

	read   sync.Once // fills report and err
	report Report
	err    error

	mu     sync.Mutex // guards what follows
	watch  *watchdog
	proxy  *egress.Proxy
	closed bool
}

// Start starts the prepared command from the thread that never ends, and says
// what to do when the system refuses.
func (l *Launch) Start() error {
	err := Start(l.cmd)
	l.closeTheirs()
	if err != nil {
		return explainStart(err)
	}
	return nil
}

// Report waits until the plugin's program runs and returns what holds for it.
// Until then nothing that comes from the process is the plugin's word. A
// *LaunchError says that the plugin does not run and why; any other error says
// that the launcher ended without a word, or that ctx did. After an error the
// process must be ended by the caller.
func (l *Launch) Report(ctx context.Context) (Report, error) {
	l.closeTheirs()
	if l.control == nil {
		return unconfined(), nil
	}
	l.read.Do(func() { l.report, l.err = l.readReport(ctx) })
	return l.report, l.err
}

// Killed returns why the plugin was ended for using more than it was granted,
// or "" if it was not. After Close it remembers what the watchdog did, but not
// what the kernel did: ask before.
func (l *Launch) Killed() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watch != nil {
		return l.watch.reason()
	}
	if l.group != nil && !l.closed {
		return l.group.reason()
	}
	return ""
}

// Close gives back everything the launch holds and ends what is left of the
// plugin's processes where the system lets it name them. Call it after
// cmd.Wait, or when Start failed; it may be called twice.
func (l *Launch) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	l.closeTheirs()
	if l.control != nil {
		_ = l.control.Close() // ends a Report that still waits
	}
	return l.release()
}

func (l *Launch) closeTheirs() {
	for _, f := range l.theirs {
		_ = f.Close() // closing twice is the only way to fail
	}
}
