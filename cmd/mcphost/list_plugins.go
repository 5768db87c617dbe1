package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphost/mcphost/host"
)

// A hostRow is one running host in mcphost list plugins --json.
type hostRow struct {
	PID int `json:"pid"`
	host.PluginList
}

func newListPlugins(g *globals) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "plugins",
		Short: "Show how the plugins of running hosts are",
		Long: `Show where each plugin stands in every running mcphost of this user that was
started with the same configuration files (-c): its state, process and restarts,
since when, which guarantees of its sandbox are not enforced here, and why it
does not serve if it does not.

States: stopped (no process, by intent), starting, ready, unhealthy (missed a
health check), backoff (starts again by itself, or at the next call), crash_loop
and failed (stays down until mcphost reload), draining (serves what it has).`,
		Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			hosts := []hostRow{}
			_, err := ask(c.Context(), g, host.AskPlugins, func(pid int, l host.PluginList) {
				hosts = append(hosts, hostRow{pid, l})
			})
			switch {
			case err != nil:
				return err
			case asJSON:
				return writeJSON(os.Stdout, hosts)
			case len(hosts) == 0:
				return errNoHost(g)
			}
			return writePlugins(os.Stdout, hosts)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write JSON instead of a table; an empty list if no mcphost runs")
	return c
}

func writePlugins(w io.Writer, hosts []hostRow) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "HOST\tSERVES\tPLUGIN\tSTATE\tFOR\tPID\tRESTARTS\tNOT ENFORCED\tREASON")
	for _, h := range hosts {
		for _, p := range h.Plugins {
			pid, since := "-", "-"
			if p.PID != 0 {
				pid = fmt.Sprint(p.PID)
			}
			if !p.Since.IsZero() {
				since = time.Since(p.Since).Round(time.Second).String()
			}
			lacking := strings.Join(p.NotEnforced, ",")
			if lacking == "" {
				lacking = "-"
			}
			reason, _, _ := strings.Cut(p.Reason, "\n")
			fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", h.PID, h.Serves, p.Handle, p.State, since, pid, p.Restarts, lacking, reason)
		}
	}
	return t.Flush()
}
