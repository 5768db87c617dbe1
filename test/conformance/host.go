package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

const (
	readyTimeout = 60 * time.Second
	stopTimeout  = 20 * time.Second
)

// ready finds the URL in the line that says that requests are accepted.
var ready = regexp.MustCompile(`\burl="?(https?://[^\s",]+)`)

// A host is the mcphost under test.
type host struct {
	url string

	cmd  *exec.Cmd
	done chan error // what Wait said
}

// freeAddr returns an address that is free now. The Origin that the suite sends
// is that of its URL, so the port must be known before the host is started.
func freeAddr(ctx context.Context) (string, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("finding a free port: %w", err)
	}
	return ln.Addr().String(), ln.Close()
}

// serve starts program on a free port and returns when it is ready. What it
// writes to stderr goes to mcphost.log in logs.
func serve(ctx context.Context, program, config, logs string) (*host, error) {
	log, err := os.Create(filepath.Join(logs, "mcphost.log"))
	if err != nil {
		return nil, err
	}
	addr, err := freeAddr(ctx)
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	cmd := exec.CommandContext(ctx, program, "serve", "-c", config, "--listen", addr, "--var", "origin=http://"+addr)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopTimeout
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s (make build): %w", program, err), log.Close())
	}
	h := &host{cmd: cmd, done: make(chan error, 1)}
	urls := make(chan string, 1)
	go func() { // ends when the process closes stderr
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			fmt.Fprintln(log, lines.Text())
			if m := ready.FindStringSubmatch(lines.Text()); m != nil {
				select {
				case urls <- m[1]:
				default: // a second URL
				}
			}
		}
		h.done <- errors.Join(lines.Err(), log.Close(), cmd.Wait())
	}()
	select {
	case h.url = <-urls:
		return h, nil
	case err := <-h.done:
		return nil, fmt.Errorf("%s ended before it was ready: %w (see %s)", program, err, log.Name())
	case <-time.After(readyTimeout):
		return nil, errors.Join(fmt.Errorf("%s was not ready after %v (see %s)", program, readyTimeout, log.Name()), h.stop())
	}
}

// stop ends the host as a service manager would, and returns what is wrong with its end.
func (h *host) stop() error {
	select {
	case err := <-h.done:
		return fmt.Errorf("mcphost ended by itself: %w", errors.Join(err, errors.New("before it was told to")))
	default:
	}
	if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-h.done:
		if err != nil {
			return fmt.Errorf("stopping mcphost: %w", err)
		}
		return nil
	case <-time.After(stopTimeout):
		return errors.Join(fmt.Errorf("mcphost did not end within %v of SIGTERM", stopTimeout), h.cmd.Process.Kill())
	}
}
