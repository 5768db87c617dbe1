package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcphost/mcphost/host"
	"github.com/mcphost/mcphost/host/config"
)

func newValidate(g *globals) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "validate",
		Short: "Check the configuration, config blocks of plugins included",
		Long: `Check the configuration and, by asking each plugin in its sandbox, its config
block. Nothing is configured or served. All problems are shown at once.`,
		Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			g.quiet = true
			cfg, err := g.load()
			if err != nil {
				return err
			}
			var diags *config.Diagnostics
			err = g.withIdleHost(c.Context(), cfg, func(h *host.Host) error {
				diags = h.Validate(c.Context())
				return nil
			})
			if err != nil {
				return err
			}
			if asJSON {
				if err := diags.WriteJSON(os.Stdout); err != nil {
					return fmt.Errorf("writing diagnostics: %w", err)
				}
				if diags.HasErrors() {
					return exitError(1)
				}
				return nil
			}
			if err := show(diags); err != nil {
				return err
			}
			fmt.Fprintf(os.Stderr, "%s: valid (%d plugins, %d endpoints)\n", fileNames(cfg), len(cfg.Plugins), len(cfg.Locals)+len(cfg.Webs))
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write the diagnostics as JSON")
	return c
}
