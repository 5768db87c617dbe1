package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphost/mcphost/host"
	"github.com/mcphost/mcphost/host/control"
)

func newReload(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "reload",
		Short: "Have running hosts of this configuration read it again",
		Long: `Have every running mcphost of this user that was started with the same
configuration files (-c) read them again, and show what each has to say about
them. What has not changed goes on untouched; on an error, everything does. The
exit status is 1 if there was an error, or if no mcphost runs.`,
		Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			failed := false
			n, err := ask(c.Context(), g, host.AskReload, func(pid int, r host.Reloaded) {
				fmt.Fprint(os.Stderr, r.Diagnostics)
				word := "reloaded"
				if !r.OK {
					failed = true
					word = "not reloaded, or not all of it"
				}
				fmt.Fprintf(os.Stderr, "mcphost (pid %d): %s\n", pid, word)
			})
			switch {
			case err != nil:
				return err
			case n == 0:
				return errNoHost(g)
			case failed:
				return exitError(1)
			}
			return nil
		},
	}
}

// errNoHost says that there is nobody to ask.
func errNoHost(g *globals) error {
	return fmt.Errorf("no mcphost runs with the configuration %s; start one with mcphost serve or mcphost start, or name its files with -c",
		strings.Join(g.paths(), ", "))
}

// ask asks the running hosts of the configuration, hands each answer to f, and
// returns how many there were.
func ask[T any](ctx context.Context, g *globals, what string, f func(pid int, answer T)) (int, error) {
	replies, err := control.Ask(ctx, host.ControlDir(), g.paths(), control.Request{Do: what})
	errs := []error{err}
	for _, r := range replies {
		if r.Error != "" {
			errs = append(errs, fmt.Errorf("mcphost (pid %d): %s", r.PID, r.Error))
			continue
		}
		var answer T
		if err := json.Unmarshal(r.Value, &answer); err != nil {
			errs = append(errs, fmt.Errorf("reading the answer of mcphost (pid %d): %w", r.PID, err))
			continue
		}
		f(r.PID, answer)
	}
	return len(replies), errors.Join(errs...)
}
