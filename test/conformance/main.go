// Command conformance runs the official MCP conformance suite against one
// mcphost, which serves every revision on one URL, and prints a table. It fails
// on any check that fails or warns, on any required scenario that did not run,
// and on a suite that is not as large as it was when this was written.
//
// Run it at the root of the repository, after make build; make conformance does
// both. The suite and the Node that it needs are installed below .cache,
// as package-lock.json beside this file pins them; so are the logs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// options are the command's flags.
type options struct {
	cache  string
	config string
	host   string
	url    string
	only   string
}

func main() {
	var o options
	flag.StringVar(&o.cache, "cache", ".cache/conformance", "install the suite and leave the logs in `DIR`")
	flag.StringVar(&o.host, "host", "bin/mcphost", "the `PROGRAM` to serve with")
	flag.StringVar(&o.config, "config", "examples/everything.hcl", "the `FILE` to serve")
	flag.StringVar(&o.url, "url", "", "test the server at `URL` instead of starting one")
	flag.StringVar(&o.only, "only", "", "do only the `RUN` of this name")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, &o); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has been called
	}
}

func run(ctx context.Context, o *options) (err error) {
	s, err := install(ctx, o.cache)
	if err != nil {
		return fmt.Errorf("installing the suite: %w", err)
	}
	url := o.url
	if url == "" {
		h, err := serve(ctx, o.host, o.config, s.out)
		if err != nil {
			return err
		}
		url = h.url
		// A host that does not end well has failed, whatever it answered before.
		defer func() { err = errors.Join(err, h.stop()) }()
	}
	var reports []report
	for _, r := range runs {
		if o.only != "" && o.only != r.name {
			continue
		}
		start := time.Now()
		rep, err := s.run(ctx, r, url)
		if err != nil {
			return fmt.Errorf("run %s: %w", r.name, err)
		}
		rep.took = time.Since(start)
		reports = append(reports, rep)
	}
	return print(os.Stdout, reports)
}
