package plugin

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin/runner"
)

const (
	// drainTimeout is how long the last lines of a dead process are awaited:
	// a grandchild outside our reach may hold its pipes open.
	drainTimeout = 200 * time.Millisecond
	// reapTimeout is how long a process may take to die of SIGKILL. One that
	// is stuck in the kernel takes longer, and nobody waits for it.
	reapTimeout = time.Second
	// cleanTimeout is how long its folders may take to be removed.
	cleanTimeout = 5 * time.Second
)

// A process is one run of a plugin's command. It is what go-plugin sees of it:
// go-plugin reads the handshake line that passed our check, an empty stderr,
// and nothing else.
type process struct {
	cmd      *exec.Cmd
	path     string // of the program, before the launcher put itself in front
	launched Launched
	dirs     *privateDirs
	log      hclog.Logger
	mtls     bool

	stdout *stdoutPump
	stderr *stderrPump
	line   *io.PipeReader // what go-plugin reads as stdout
	lineW  *io.PipeWriter

	// detach lets go of a process that somebody else started; nil for our own.
	detach context.CancelFunc

	dead chan struct{} // closed when the process was reaped
	done chan struct{} // closed when nothing of it runs or is held any more

	mu     sync.Mutex // guards what follows
	pid    int        // 0 before the fork
	killed bool
	reaped bool
	state  *os.ProcessState
	fault  error  // why it was killed, or must not be used
	cert   []byte // that the plugin announced
	socket string // that the plugin announced, checked
}

var _ runner.Runner = (*process)(nil)

func newProcess(cmd *exec.Cmd, dirs *privateDirs, log hclog.Logger, mtls bool) *process {
	limit := newLogLimit(logRate, logBurst)
	p := &process{
		cmd: cmd, dirs: dirs, log: log, mtls: mtls, launched: direct{cmd},
		stderr: &stderrPump{log: log.Named("stderr"), limit: limit},
		dead:   make(chan struct{}),
		done:   make(chan struct{}),
	}
	p.line, p.lineW = io.Pipe()
	p.stdout = &stdoutPump{log: log.Named("stdout"), limit: limit, mtls: mtls, shake: p.shake}
	return p
}

// Lines of a plugin that may reach the log.
const (
	logRate  = 100 // a second
	logBurst = 400
)

// Start forks the command and returns when its launcher reported. From then
// on, done closes some time after the process ends, however it ends.
func (p *process) Start(ctx context.Context) error {
	outR, outW, err := os.Pipe()
	if err != nil {
		return err
	}
	errR, errW, err := os.Pipe()
	if err != nil {
		return errors.Join(err, outR.Close(), outW.Close())
	}
	p.cmd.Stdin = nil // /dev/null: the host's own stdin is the client's
	p.cmd.Stdout, p.cmd.Stderr = outW, errW
	err = errors.Join(p.launched.Start(), outW.Close(), errW.Close())
	if p.cmd.Process == nil {
		return errors.Join(err, outR.Close(), errR.Close(), p.launched.Close())
	}
	p.mu.Lock()
	p.pid = p.cmd.Process.Pid
	killed := p.killed
	p.mu.Unlock()
	go p.run(outR, errR) // ends soon after the process does; done says so
	if killed {
		err = errors.Join(err, errKilled)
	}
	if err == nil {
		err = p.dirs.record(p.pid)
	}
	if err == nil {
		err = p.launched.Started(ctx)
		if err != nil && ctx.Err() == nil {
			err = permanentf("confining the plugin: %w", err)
		}
	}
	if err != nil {
		p.mu.Lock()
		p.fault = err
		p.mu.Unlock()
		p.kill()
	}
	return err
}

var errKilled = errors.New("the start was given up")

// forked reports whether there is, or was, a process.
func (p *process) forked() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pid != 0
}

// run sees the process to its end and cleans up behind it.
func (p *process) run(outR, errR *os.File) {
	var pumps sync.WaitGroup
	pumps.Go(func() { p.stdout.run(outR) }) // each ends when its pipe ends or is closed
	pumps.Go(func() { p.stderr.run(errR) })
	waitErr := awaitExit(p.pid)
	p.mu.Lock()
	// The zombie still holds its number: this cannot hit a stranger.
	killErr := killGroup(p.pid)
	_ = p.cmd.Wait() // the exit status is in ProcessState
	p.reaped, p.state = true, p.cmd.ProcessState
	p.mu.Unlock()
	close(p.dead)
	if killMarked(p.dirs.Private) > 0 {
		p.log.Debug("killed processes that the plugin left behind")
	}
	timer := time.AfterFunc(drainTimeout, func() { closeAll(p.log, outR, errR) })
	pumps.Wait()
	timer.Stop()
	closeAll(p.log, outR, errR)
	_ = p.lineW.Close() // never fails
	err := errors.Join(waitErr, killErr, p.launched.Close(), p.dirs.remove())
	if err != nil {
		p.log.Warn("cleaning up after the plugin", "error", err)
	}
	close(p.done)
}

func closeAll(log hclog.Logger, files ...*os.File) {
	for _, f := range files {
		if err := f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			log.Debug("closing a pipe of the plugin", "error", err)
		}
	}
}

// shake takes the handshake from stdout and passes it to go-plugin.
func (p *process) shake(line string, cert []byte, err error) {
	p.mu.Lock()
	p.fault, p.cert = err, cert
	p.mu.Unlock()
	if err != nil {
		p.kill()
		return
	}
	// go-plugin reads this pipe until it ends, so the write does not block.
	_, _ = io.WriteString(p.lineW, line+"\n")
}

// kill ends the process and its group at once. It does not wait.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killed = true
	if p.reaped || p.pid == 0 || p.attached() {
		return
	}
	if err := killGroup(p.pid); err != nil {
		p.log.Warn("killing the plugin", "error", err)
	}
}

// terminate asks the group to end.
func (p *process) terminate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped && p.pid != 0 && !p.attached() {
		if err := terminateGroup(p.pid); err != nil {
			p.log.Debug("terminating the plugin", "error", err)
		}
	}
}

// destroy kills the process and returns when nothing of it is left, or after
// some seconds if it does not go.
func (p *process) destroy() {
	if p.attached() {
		p.detach()
		<-p.dead
		return
	}
	p.kill()
	if !p.forked() {
		if err := p.dirs.remove(); err != nil {
			p.log.Warn("cleaning up after the plugin", "error", err)
		}
		return
	}
	if !waitClosed(p.dead, reapTimeout) {
		p.log.Error("plugin did not die of SIGKILL", "pid", p.pid)
		return
	}
	if !waitClosed(p.done, cleanTimeout) {
		p.log.Warn("cleaning up after the plugin takes long", "path", p.dirs.Private)
	}
}

// waitClosed waits until c is closed, for d at most, and reports whether it is.
func waitClosed(c <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c:
		return true
	case <-timer.C:
		return false
	}
}

// status says how the process ended; "still running" before it did.
func (p *process) status() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.attached() && closed(p.dead):
		return "it ended, and was not ours to wait for"
	case p.state == nil:
		return "still running"
	}
	if why := p.launched.Killed(); why != "" {
		return why
	}
	return p.state.String()
}

// Wait implements [runner.Runner].
func (p *process) Wait(context.Context) error {
	<-p.done
	if s := p.status(); s != "exit status 0" {
		return errors.New(s)
	}
	return nil
}

// Kill implements [runner.Runner]. It does not wait.
func (p *process) Kill(context.Context) error {
	p.kill()
	return nil
}

// Stdout implements [runner.Runner].
func (p *process) Stdout() io.ReadCloser { return p.line }

// Stderr implements [runner.Runner]: nothing, so that go-plugin's parser, which
// a plugin can crash, never runs.
func (p *process) Stderr() io.ReadCloser { return io.NopCloser(eof{}) }

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// Name implements [runner.Runner].
func (p *process) Name() string { return p.cmd.Path }

// ID implements [runner.Runner].
func (p *process) ID() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strconv.Itoa(p.pid)
}

// Diagnose implements [runner.Runner]: ours is in diagnose.go.
func (p *process) Diagnose(context.Context) string { return "" }

// PluginToHost implements [runner.AddrTranslator]. It accepts a socket in the
// plugin's own folder and nothing else.
func (p *process) PluginToHost(network, addr string) (string, string, error) {
	err := checkSocket(network, addr, p.dirs.Socket)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.fault = err
		return "", "", err
	}
	p.socket = addr
	return network, addr, nil
}

// HostToPlugin implements [runner.AddrTranslator]. Nobody calls it: a plugin
// never connects to us.
func (p *process) HostToPlugin(string, string) (string, string, error) {
	return "", "", errors.New("a plugin does not call the host")
}

// blame notes what the plugin must not do and ends it.
func (p *process) blame(err error) {
	p.mu.Lock()
	p.fault = &permanentError{err}
	p.mu.Unlock()
	p.kill()
}

// announced returns what the handshake brought.
func (p *process) announced() (socket string, cert []byte, fault error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.socket, p.cert, p.fault
}
