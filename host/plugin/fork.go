package plugin

import (
	"os/exec"
	"runtime"
	"sync"
)

var forks = sync.OnceValue(func() chan<- forkRequest {
	c := make(chan forkRequest)
	go forkForever(c)
	return c
})

type forkRequest struct {
	cmd  *exec.Cmd
	done chan<- error
}

func startForked(cmd *exec.Cmd) error {
	done := make(chan error, 1)
	forks() <- forkRequest{cmd: cmd, done: done}
	return <-done
}

func forkForever(c <-chan forkRequest) {
	runtime.LockOSThread()
	for f := range c {
		f.done <- f.cmd.Start()
	}
}
