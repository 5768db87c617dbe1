// Command mcphost runs tools as sandboxed plugin processes and serves them to
// MCP clients.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/mcphost/mcphost/host/sandbox"
)

func main() {
	if code, launched := sandbox.Main(); launched {
		os.Exit(code)
	}
	os.Exit(run(os.Args[1:]))
}

// An exitError ends the program with a status of its own; what there is to say
// has been said.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// run runs the command line and returns the exit status: 0 done, 1 it did not
// work, 2 it was not understood.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal ends in order; a second one ends at once.
	context.AfterFunc(ctx, stop)
	root := newRoot()
	root.SetArgs(longVar(args))
	err := root.ExecuteContext(ctx)
	var exit exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return int(exit)
	}
	fmt.Fprintln(os.Stderr, "mcphost:", err)
	var usage usageError
	if errors.As(err, &usage) {
		return 2
	}
	return 1
}

// longVar lets -var be written with one dash, as users of HCL tools do.
func longVar(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		if a == "--" {
			copy(out[i:], args[i:])
			break
		}
		if a == "-var" || strings.HasPrefix(a, "-var=") {
			a = "-" + a
		}
		out[i] = a
	}
	return out
}
