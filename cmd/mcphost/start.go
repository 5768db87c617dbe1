package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mcphost/mcphost/host"
)

func newStart(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "start HANDLE",
		Short: "Serve a local block on stdin and stdout",
		Long: `Serve the local block HANDLE as an MCP server on stdin and stdout, for clients of
every protocol revision. Put it into the configuration of an MCP client as
command "mcphost" with arguments "start", "HANDLE". Logs go to stderr. The
configuration is read again when its files change, on SIGHUP and by mcphost reload.`,
		Args: exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := g.load()
			if err != nil {
				return err
			}
			l, err := local(cfg, args[0])
			if err != nil {
				return err
			}
			// A client that closes its end is an error of writing, after which the
			// plugins are stopped in order; by default the signal ends the process.
			signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
			return g.following(c.Context(), cfg, host.Scope{Local: l.Handle}, func(h *host.Host) error {
				return h.ServeStdio(c.Context(), l, os.Stdin, os.Stdout)
			})
		},
	}
}
