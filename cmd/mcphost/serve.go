package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphost/mcphost/host"
)

func newServe(g *globals) *cobra.Command {
	var listen string
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the web blocks over HTTP",
		Long: `Serve all web blocks on one HTTP listener, for clients of every protocol
revision. One line on stderr names each URL when requests are accepted. The
configuration is read again when its files change, on SIGHUP and by mcphost reload.`,
		Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := g.load()
			if err != nil {
				return err
			}
			if len(cfg.Webs) == 0 {
				return errors.New(`there is no web block to serve; add one, such as: web "/mcp" { plugins = ["files"] }`)
			}
			return g.following(c.Context(), cfg, host.Scope{Webs: true}, func(h *host.Host) error {
				return h.ServeHTTP(c.Context(), listen, func(urls []string) {
					fmt.Fprintf(os.Stderr, "mcphost: ready url=%s\n", strings.Join(urls, " url="))
				})
			})
		},
	}
	c.Flags().StringVar(&listen, "listen", "", "listen on `ADDR` (host:port, port 0 is any free one) instead of the file's")
	return c
}
