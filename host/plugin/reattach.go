package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// A Reattach says where a plugin listens that somebody else started, its author
// in a debugger. It is not confined, not started again and never ended by us.
type Reattach struct {
	PID    int
	Socket string // absolute
}

// ParseReattach reads what plugins print when they are started by hand for a
// debugger, which has the shape of Terraform's TF_REATTACH_PROVIDERS: an object
// with a key a handle.
func ParseReattach(text string) (map[string]*Reattach, error) {
	var entries map[string]struct {
		Protocol        string
		ProtocolVersion int
		Pid             int
		Addr            struct{ Network, String string }
	}
	if err := json.Unmarshal([]byte(text), &entries); err != nil {
		return nil, fmt.Errorf("it is no JSON object as a plugin prints it: %w", err)
	}
	list := make(map[string]*Reattach, len(entries))
	for handle, e := range entries {
		switch {
		case e.Protocol != "grpc" || e.ProtocolVersion != pluginv1.ProtocolVersion:
			return nil, fmt.Errorf("%q: protocol %q version %d; this mcphost speaks grpc version %d", handle, e.Protocol, e.ProtocolVersion, pluginv1.ProtocolVersion)
		case e.Addr.Network != "unix" || !filepath.IsAbs(e.Addr.String):
			return nil, fmt.Errorf("%q: address %q %q; it must be a unix socket with its whole path", handle, e.Addr.Network, e.Addr.String)
		case e.Pid <= 1:
			return nil, fmt.Errorf("%q: Pid %d is no process of a plugin", handle, e.Pid)
		}
		list[handle] = &Reattach{PID: e.Pid, Socket: e.Addr.String}
	}
	return list, nil
}

// attachedInterval is how often we look whether an attached process is there.
const attachedInterval = 200 * time.Millisecond

// attach connects to the process that o.Reattach names, instead of a launch.
func attach(ctx context.Context, o *Options, data string, log hclog.Logger) (*process, *grpc.ClientConn, error) {
	at := o.Reattach
	if !alive(at.PID) {
		return nil, nil, permanentf("process %d of MCPHOST_REATTACH is gone: start the plugin again, and mcphost with what it prints then", at.PID)
	}
	dirs := &privateDirs{}
	if data != "" {
		if err := os.MkdirAll(data, 0o700); err != nil {
			return nil, nil, fmt.Errorf("making the plugin's data folder: %w", err)
		}
		dirs.Data = data
	}
	p := newProcess(nil, dirs, log, false)
	p.path, p.pid, p.socket = at.Socket, at.PID, at.Socket
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p.detach = cancel
	conn, err := connect(p, at.Socket, insecure.NewCredentials())
	if err != nil {
		cancel()
		return nil, nil, err
	}
	go p.lookAfter(life) // ends when p does, or by detach; done says so
	log.Warn("plugin runs already and is used as it is: it is not confined, not checked and not started again", "pid", at.PID, "path", at.Socket)
	return p, conn, nil
}

// lookAfter returns when the attached process has ended or was let go of.
func (p *process) lookAfter(ctx context.Context) {
	defer close(p.done)
	defer close(p.dead)
	tick := time.NewTicker(attachedInterval)
	defer tick.Stop()
	for alive(p.pid) {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// alive reports whether there is a process pid.
func alive(pid int) bool {
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	err = process.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, fs.ErrPermission)
}

// attached reports whether somebody else started the process.
func (p *process) attached() bool { return p.detach != nil }

// paused reports whether a silence of the instance may be a breakpoint: its
// author looks at it, so it is not ill.
func (i *instance) paused() bool { return i.proc.attached() && i.slots != nil }
