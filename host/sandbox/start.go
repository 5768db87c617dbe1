package sandbox

import (
	"os/exec"
	"runtime"
	"sync"
)

// forks hands commands to the one thread that forks. It is made on first use.
var forks = sync.OnceValue(func() chan<- fork {
	c := make(chan fork)
	go forkForever(c)
	return c
})

type fork struct {
	cmd  *exec.Cmd
	done chan<- error
}

// Start starts cmd as cmd.Start does, forking from an operating system thread
// that lives as long as this process.
//
// SysProcAttr.Pdeathsig fires when the thread that forked ends, not the
// process, and Go ends threads as it likes: a child with Pdeathsig must be
// started here and nowhere else. Start may be called from any goroutine; forks
// happen one after the other. The goroutine behind it never ends; tests that
// look for leaks ignore
// "github.com/mcphost/mcphost/host/sandbox.forkForever".
func Start(cmd *exec.Cmd) error {
	done := make(chan error, 1)
	forks() <- fork{cmd: cmd, done: done}
	return <-done
}

// forkForever owns its thread and never returns, so that the thread never ends.
func forkForever(c <-chan fork) {
	runtime.LockOSThread()
	for f := range c {
		f.done <- f.cmd.Start()
	}
}
