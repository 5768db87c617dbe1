package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mcphost/mcphost/host/config"
)

// An endpointRow is one line of mcphost list.
type endpointRow struct {
	Transport string   `json:"transport"`
	Endpoint  string   `json:"endpoint"`
	Server    string   `json:"server"`
	Plugins   []string `json:"plugins"`
}

func newList(g *globals) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the endpoints of the configuration; starts nothing",
		Args:  exactly(0),
		RunE: func(*cobra.Command, []string) error {
			cfg, err := g.load()
			if err != nil {
				return err
			}
			warnOpen(cfg)
			rows := endpoints(cfg)
			if asJSON {
				return writeJSON(os.Stdout, rows)
			}
			return writeTable(os.Stdout, rows)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write JSON instead of a table")
	c.AddCommand(newListPlugins(g))
	return c
}

func endpoints(cfg *config.Config) []endpointRow {
	rows := []endpointRow{}
	for _, l := range cfg.Locals {
		rows = append(rows, endpointRow{"stdio", l.Handle, cfg.Server.Name, l.Plugins})
	}
	for _, w := range cfg.Webs {
		rows = append(rows, endpointRow{"http", w.Path, cfg.Server.Name, w.Plugins})
	}
	return rows
}

// warnOpen names the plugins whose sandbox is less than strict, or open to the
// network: nobody should have to look for them.
func warnOpen(cfg *config.Config) {
	for _, p := range cfg.Plugins {
		s := p.Sandbox
		at := fmt.Sprintf("%s:%d", s.Block.Filename, s.Block.Start.Line)
		switch s.Mode {
		case config.SandboxOff:
			fmt.Fprintf(os.Stderr, "warning: plugin %q runs without a sandbox (%s)\n", p.Handle, at)
		case config.SandboxBestEffort:
			fmt.Fprintf(os.Stderr, "warning: plugin %q runs even where its sandbox cannot be enforced (%s); mcphost doctor shows what can\n", p.Handle, at)
		case config.SandboxStrict:
		}
		if s.Network {
			fmt.Fprintf(os.Stderr, "warning: plugin %q may use the whole network (%s)\n", p.Handle, at)
		}
	}
}

func writeTable(w io.Writer, rows []endpointRow) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "TRANSPORT\tENDPOINT\tSERVER\tPLUGINS")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", r.Transport, r.Endpoint, r.Server, strings.Join(r.Plugins, ", "))
	}
	return t.Flush()
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
