package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"syscall"

	"github.com/hashicorp/go-plugin"
)

// debug serves a person who started the plugin with --debug, in a debugger as a rule: it prints what lets mcphost use
// this very process, and serves until it is interrupted. Hosts come and go meanwhile, and each configures it anew.
func (p *Plugin) debug(stdout io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) //nolint:forbidigo // it stands in for main
	defer stop()
	folder, err := os.MkdirTemp("", "mcphost-debug")
	if err != nil {
		return fmt.Errorf("making a folder for the socket: %w", err)
	}
	err = os.Setenv("PLUGIN_UNIX_SOCKET_DIR", folder)
	if err == nil {
		p.debugged = true
		err = p.serve(ctx, nil, func(address *plugin.ReattachConfig) error { return p.introduce(stdout, address) })
	}
	return errors.Join(err, os.RemoveAll(folder))
}

// introduce prints how to let a host use the process.
func (p *Plugin) introduce(w io.Writer, address *plugin.ReattachConfig) error {
	type addr struct{ Network, String string }
	type entry struct {
		Protocol        plugin.Protocol
		ProtocolVersion int
		Pid             int
		Test            bool
		Addr            addr
	}
	line, err := json.Marshal(map[string]entry{p.handle(): {
		Protocol: address.Protocol, ProtocolVersion: address.ProtocolVersion, Pid: os.Getpid(), Test: true,
		Addr: addr{address.Addr.Network(), address.Addr.String()},
	}})
	if err != nil {
		return fmt.Errorf("describing the process: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s %s runs, until Ctrl-C. To let mcphost use this process for the plugin %q of its configuration:\n\n"+
		"  export MCPHOST_REATTACH='%s'\n\nand run it with --dev.\n", p.name, p.version, p.handle(), line)
	if err != nil {
		return fmt.Errorf("writing how to reach the process: %w", err)
	}
	return nil
}

// handle returns the name that the plugin proposes for itself in a configuration.
func (p *Plugin) handle() string {
	return regexp.MustCompile(`[^A-Za-z0-9_.-]+`).ReplaceAllString(p.name, "-")
}
