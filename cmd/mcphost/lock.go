package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphost/mcphost/host"
	"github.com/mcphost/mcphost/host/config"
	"github.com/mcphost/mcphost/host/integrity"
)

func newLock(g *globals) *cobra.Command {
	var check, yes bool
	var open []string
	c := &cobra.Command{
		Use:   "lock [HANDLE…]",
		Short: "Pin the programs, files and definitions of the plugins",
		Long: `Start each plugin in its sandbox, or those called HANDLE, and write what they are
made of and what they define into ` + integrity.LockName + ` beside the configuration.
From then on a plugin whose program or files changed does not start, and a tool,
prompt, resource or instruction that is not in the file is not served.

What changed since the last time is shown first; on a terminal you are asked.`,
		RunE: func(c *cobra.Command, handles []string) error {
			s, err := g.survey(c.Context(), handles, open)
			if err != nil {
				return err
			}
			if check {
				return s.check()
			}
			return s.accept(yes)
		},
	}
	c.Flags().BoolVar(&check, "check", false, "write nothing; exit 1 if something is not as the lock file has it, and say what")
	c.Flags().BoolVar(&yes, "yes", false, "accept without being asked")
	c.Flags().StringArrayVar(&open, "open-resources", nil, "do not pin the list of resources of `HANDLE`, from now on: it is content that comes and goes")
	c.AddCommand(newLockDiff(g))
	return c
}

func newLockDiff(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "diff [HANDLE…]",
		Short: "Show how the plugins differ from the lock file; writes nothing",
		RunE: func(c *cobra.Command, handles []string) error {
			s, err := g.survey(c.Context(), handles, nil)
			if err != nil {
				return err
			}
			if s.old == nil {
				return s.none()
			}
			return s.show(os.Stdout)
		},
	}
}

// A survey is what the plugins are, and what the lock file says they are.
type survey struct {
	path  string
	old   *integrity.Lock // nil: there is no lock file
	found []*integrity.Entry
	all   bool // found has all plugins

	differences []integrity.Difference
}

// survey starts the plugins and compares them with the lock file. The resources
// of the plugins in open, and of those that the file has open, are left alone.
func (g *globals) survey(ctx context.Context, handles, open []string) (*survey, error) {
	g.quiet = true
	cfg, err := g.load()
	if err != nil {
		return nil, err
	}
	s := &survey{path: host.LockPath(cfg), all: len(handles) == 0}
	if s.old, err = integrity.ReadLock(s.path); err != nil {
		return nil, err
	}
	for _, handle := range append(slices.Clone(handles), open...) {
		if _, ok := cfg.Plugin(handle); !ok {
			return nil, usageError{fmt.Errorf("unknown plugin %q", handle)}
		}
	}
	for _, p := range cfg.Plugins {
		if s.all {
			handles = append(handles, p.Handle)
		}
	}
	err = g.withIdleHost(ctx, cfg, func(h *host.Host) error {
		found, diags := h.Survey(ctx, handles)
		s.found = found
		return show(diags)
	})
	if err != nil {
		return nil, err
	}
	for _, e := range s.found {
		if slices.Contains(open, e.Handle) || s.old.Open(e.Handle) {
			e.Open()
		}
	}
	s.differences = s.old.Compare(s.found, s.all)
	return s, nil
}

// withIdleHost runs f on a host that has started nothing, and closes it after.
func (g *globals) withIdleHost(ctx context.Context, cfg *config.Config, f func(h *host.Host) error) error {
	log, err := g.logger()
	if err != nil {
		return err
	}
	h, err := host.New(cfg, host.Options{Log: log, StateDir: g.stateDir})
	if err != nil {
		return err
	}
	err = f(h)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWait)
	defer cancel()
	if e := h.Close(end); e != nil && err == nil {
		err = fmt.Errorf("stopping: %w", e)
	}
	return err
}

func (s *survey) none() error {
	return fmt.Errorf("there is no lock file %s: nothing is pinned by one; make it with \"mcphost lock\"", s.path)
}

// check says what differs, and fails if something does.
func (s *survey) check() error {
	if s.old == nil {
		return s.none()
	}
	for _, d := range s.differences {
		if _, err := fmt.Fprintln(os.Stdout, d); err != nil {
			return err
		}
	}
	if len(s.differences) > 0 {
		return exitError(1)
	}
	return nil
}

// show writes what differs, definitions as text.
func (s *survey) show(f *os.File) error {
	for _, d := range s.differences {
		if _, err := fmt.Fprintf(f, "%s\n%s", d, d.Diff()); err != nil {
			return err
		}
	}
	return nil
}

// accept makes what was found what is accepted. What a lock file is about to
// forget or to take in is shown before.
func (s *survey) accept(yes bool) error {
	if s.old != nil && len(s.differences) > 0 {
		if err := s.show(os.Stderr); err != nil {
			return err
		}
		if err := agreed(yes); err != nil {
			return err
		}
	}
	next := s.old.Accept(s.found, s.all)
	if err := next.Write(s.path); err != nil {
		return err
	}
	s.warnOpen()
	_, err := fmt.Fprintf(os.Stderr, "%s: %d plugins, %d definitions\n", s.path, len(next.Entries), next.Definitions())
	return err
}

// agreed returns nil if the person at the terminal agrees, or if there is none.
func agreed(yes bool) error {
	if yes || !isTerminal(os.Stdin) || !isTerminal(os.Stderr) {
		return nil
	}
	fmt.Fprint(os.Stderr, "\nAccept these changes? [y/N] ")
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); err != nil || answer != "y" && answer != "yes" {
		return errors.New("nothing was accepted")
	}
	return nil
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// warnOpen names plugins of which nothing on disk is pinned.
func (s *survey) warnOpen() {
	for _, e := range s.found {
		if len(e.Program)+len(e.Files) == 0 {
			fmt.Fprintf(os.Stderr, "warning: plugin %q has nothing on disk that is pinned: its program belongs to the system\n", e.Handle)
		}
	}
}
