package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/mcphost/mcphost/host"
	"github.com/mcphost/mcphost/host/config"
)

// A usageError says that the command line was not understood.
type usageError struct{ error }

// globals are the flags that every command has.
type globals struct {
	files    []string
	vars     []string
	logLevel string
	logJSON  bool
	stateDir string
	dev      bool

	gcPercent int // to go back to when what is read at start has been read

	quiet bool // of a command that ends by itself: only warnings, unless the flag says otherwise
}

// startGCPercent lets the heap of a start grow: it is small, nearly all of it
// stays, and to collect it takes longer than all the rest.
const startGCPercent = 800

func newRoot() *cobra.Command {
	g := &globals{gcPercent: debug.SetGCPercent(startGCPercent)}
	root := &cobra.Command{
		Use:   "mcphost",
		Short: "Run tools as sandboxed plugins and serve them to MCP clients",
		Long: `mcphost reads an HCL file that names plugins, starts each in a process of its
own, and serves what they offer to MCP clients of every protocol revision.`,
		Version:       host.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	f := root.PersistentFlags()
	f.StringArrayVarP(&g.files, "config", "c", nil, "config `FILE`, or a folder whose *.hcl files are read as one (default config.hcl)")
	f.StringArrayVar(&g.vars, "var", nil, "set a variable, `NAME=VALUE`")
	f.StringVar(&g.logLevel, "log-level", "", "least `LEVEL` of log lines on stderr: trace, debug, info, warn, error, off\n(default info; of commands that end by themselves: warn)")
	f.BoolVar(&g.logJSON, "log-json", false, "write log lines as JSON")
	f.StringVar(&g.stateDir, "state-dir", "", "keep the data of plugins and other state in `DIR` (default $XDG_STATE_HOME/mcphost)")
	f.BoolVar(&g.dev, "dev", false, "let "+reattachEnv+" name plugins that run already, in a debugger say, without a sandbox")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w; see '%s --help'", err, c.CommandPath())}
	})
	root.AddCommand(newList(g), newStart(g), newServe(g), newValidate(g), newCall(g), newReload(g), newLock(g), newDoctor(g), newDev(g))
	return root
}

// exactly demands n arguments and says which they are.
func exactly(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError{fmt.Errorf("usage: %s", c.UseLine())}
		}
		return nil
	}
}

// logger returns the logger that the flags ask for. It writes to stderr:
// stdout belongs to the protocol.
func (g *globals) logger() (hclog.Logger, error) {
	level := hclog.Info
	if g.quiet {
		level = hclog.Warn
	}
	if g.logLevel != "" {
		level = hclog.LevelFromString(g.logLevel)
	}
	if level == hclog.NoLevel {
		return nil, usageError{fmt.Errorf("--log-level %q: it is one of trace, debug, info, warn, error, off", g.logLevel)}
	}
	return hclog.New(&hclog.LoggerOptions{Name: "mcphost", Level: level, Output: os.Stderr, JSONFormat: g.logJSON}), nil
}

// load reads the configuration. Diagnostics go to stderr; an error among them
// ends the command.
func (g *globals) load() (*config.Config, error) {
	vars, err := g.variables()
	if err != nil {
		return nil, err
	}
	cfg, diags := config.Load(g.paths(), config.Options{Vars: vars})
	if err := show(diags); err != nil {
		return nil, err
	}
	return cfg, nil
}

// paths returns the files and folders of the configuration.
func (g *globals) paths() []string {
	if len(g.files) > 0 {
		return g.files
	}
	if f := os.Getenv("MCPHOST_CONFIG"); f != "" {
		return []string{f}
	}
	return []string{"config.hcl"}
}

func (g *globals) variables() (map[string]string, error) {
	vars := make(map[string]string, len(g.vars))
	for _, v := range g.vars {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return nil, usageError{fmt.Errorf("--var %q is not of the form NAME=VALUE", v)}
		}
		vars[name] = value
	}
	return vars, nil
}

// show writes diagnostics to stderr and fails if one is an error.
func show(diags *config.Diagnostics) error {
	width, color := terminal(os.Stderr)
	if err := diags.Write(os.Stderr, width, color); err != nil {
		return fmt.Errorf("writing diagnostics: %w", err)
	}
	if diags.HasErrors() {
		return exitError(1)
	}
	return nil
}

// terminal returns the width for text on f, 0 for none, and whether to colour it.
func terminal(f *os.File) (width uint, color bool) {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return 0, false
	}
	return 100, os.Getenv("NO_COLOR") == ""
}

// local returns the local endpoint called handle, or an error that names the known ones.
func local(cfg *config.Config, handle string) (*config.Local, error) {
	if l, ok := cfg.Local(handle); ok {
		return l, nil
	}
	var known []string
	for _, l := range cfg.Locals {
		known = append(known, l.Handle)
	}
	slices.Sort(known)
	if len(known) == 0 {
		return nil, fmt.Errorf("unknown handle %q: %s declares no local block", handle, fileNames(cfg))
	}
	return nil, fmt.Errorf("unknown handle %q: %s declares %s", handle, fileNames(cfg), strings.Join(known, ", "))
}

func fileNames(cfg *config.Config) string {
	names := make([]string, len(cfg.Files))
	for i, f := range cfg.Files {
		names[i] = filepath.Base(f)
	}
	return strings.Join(names, ", ")
}
