package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mcphost/mcphost/host"
	"github.com/mcphost/mcphost/host/sandbox"
)

func newDoctor(g *globals) *cobra.Command {
	var asJSON, apparmor bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Show what this machine can enforce on plugins",
		Long: `Try out the sandbox and show which guarantees this machine gives plugins for this
user, by what, and what to do for more. The exit status is 1 if one is missing
that every plugin requires unless its sandbox block says otherwise.`,
		Args: exactly(0),
		RunE: func(*cobra.Command, []string) error {
			if apparmor {
				_, err := io.WriteString(os.Stdout, sandbox.AppArmorProfile)
				return err
			}
			return g.examine(sandbox.Probe()).tell(asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write JSON instead of a table")
	c.Flags().BoolVar(&apparmor, "apparmor", false, "write the AppArmor profile that lets mcphost make namespaces, and nothing else")
	return c
}

// A checkup is what doctor found.
type checkup struct {
	Version  string `json:"version"`
	Contract int    `json:"pluginContract"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	System   string `json:"system"`
	Root     bool   `json:"root"`
	StateDir string `json:"stateDir"`
	RunDir   string `json:"runDir"`

	Namespaces bool           `json:"namespaces"`
	Landlock   int            `json:"landlockABI"`
	Guarantees []guaranteeRow `json:"guarantees"`
	Missing    []string       `json:"missing"` // of what is required by default
	Advice     []string       `json:"advice"`
	Readable   []string       `json:"readable"`
}

type guaranteeRow struct {
	Guarantee string `json:"guarantee"`
	Required  bool   `json:"required"` // by default
	Enforced  bool   `json:"enforced"`
	By        string `json:"by,omitempty"`
	Why       string `json:"why,omitempty"`
}

func (g *globals) examine(m sandbox.Machine) *checkup {
	c := &checkup{
		Version: host.Version, Contract: host.PluginContract, Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, System: m.System,
		Root: os.Geteuid() == 0, StateDir: g.stateDir, RunDir: host.RunDir(),
		Namespaces: m.Namespaces, Landlock: m.Landlock,
		Missing: []string{}, Advice: append([]string{}, m.Advice...), Readable: append([]string{}, m.Readable...),
	}
	if c.StateDir == "" {
		c.StateDir = host.DefaultStateDir()
	}
	required := make(map[sandbox.Guarantee]bool)
	for _, r := range sandbox.DefaultRequire() {
		required[r] = true
	}
	for _, s := range m.Status {
		c.Guarantees = append(c.Guarantees, guaranteeRow{string(s.Guarantee), required[s.Guarantee], s.Holds(), s.By, s.Why})
		if required[s.Guarantee] && !s.Holds() {
			c.Missing = append(c.Missing, string(s.Guarantee))
		}
	}
	if c.Root {
		c.Advice = append(c.Advice, "user: mcphost runs as root. Plugins are confined all the same; an ordinary user has less to lose.")
	}
	return c
}

// tell writes c and gives the verdict.
func (c *checkup) tell(asJSON bool) error {
	write := c.print
	if asJSON {
		write = func(w io.Writer) error { return writeJSON(w, c) }
	}
	if err := write(os.Stdout); err != nil {
		return err
	}
	return c.verdict()
}

// verdict fails if something is missing that is required.
func (c *checkup) verdict() error {
	if len(c.Missing) > 0 {
		fmt.Fprintf(os.Stderr, "mcphost: plugins do not run here as they are: not enforced: %s\n", strings.Join(c.Missing, ", "))
		return exitError(1)
	}
	return nil
}

func (c *checkup) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "GUARANTEE\tREQUIRED\tENFORCED BY")
	for _, g := range c.Guarantees {
		required, by := "", g.By
		if g.Required {
			required = "yes"
		}
		if !g.Enforced {
			by = "NOT ENFORCED: " + g.Why
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", g.Guarantee, required, by)
	}
	fmt.Fprintln(t)
	user := "ordinary"
	if c.Root {
		user = "root"
	}
	for _, line := range [][2]string{
		{"mcphost", fmt.Sprintf("%s (plugin contract %d, %s, %s)", c.Version, c.Contract, c.Go, c.Platform)},
		{"system", c.System},
		{"user", user},
		{"namespaces", yesNo(c.Namespaces)},
		{"Landlock", abi(c.Landlock)},
		{"state folder", c.StateDir},
		{"run folder", c.RunDir},
	} {
		fmt.Fprintf(t, "%s\t%s\n", line[0], line[1])
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if err := list(w, "For more", c.Advice); err != nil {
		return err
	}
	return list(w, "What every plugin may read, beside its own files", c.Readable)
}

func list(w io.Writer, head string, lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "\n%s:\n  %s\n", head, strings.Join(lines, "\n  "))
	return err
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func abi(n int) string {
	if n == 0 {
		return "no"
	}
	return fmt.Sprintf("ABI %d", n)
}
