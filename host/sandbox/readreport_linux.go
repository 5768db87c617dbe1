package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcphost/mcphost/host/sandbox/egress"
)

// maxReport bounds what the launcher may say.
const maxReport = 64 << 10

// errNoReport says that the launcher ended without a word: it was killed, or
// could not even begin.
var errNoReport = errors.New("the sandbox launcher ended without a report")

// readReport reads the launcher's lines until it lets go of the socket.
func (l *Launch) readReport(ctx context.Context) (Report, error) {
	defer context.AfterFunc(ctx, func() { _ = l.control.SetReadDeadline(time.Unix(1, 0)) })()
	var text []byte
	listener := -1
	err := readAll(l.control, &text, &listener)
	if ctx.Err() != nil {
		err = fmt.Errorf("waiting for the sandbox launcher: %w", context.Cause(ctx))
	}
	var report Report
	if err == nil {
		report, err = l.judge(text)
	}
	if err != nil {
		if listener >= 0 {
			_ = unix.Close(listener)
		}
		return Report{}, err
	}
	return report, l.serve(ctx, listener)
}

func readAll(conn *net.UnixConn, text *[]byte, listener *int) error {
	buf, oob := make([]byte, 16<<10), make([]byte, unix.CmsgSpace(4))
	for len(*text) < maxReport {
		n, oobn, _, _, err := conn.ReadMsgUnix(buf, oob)
		n, oobn = max(n, 0), max(oobn, 0) // -1 beside an error
		if fd, ok := passedFD(oob[:oobn]); ok && *listener < 0 {
			*listener = fd
		}
		*text = append(*text, buf[:n]...)
		if errors.Is(err, io.EOF) || err == nil && n == 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the sandbox launcher's report: %w", err)
		}
	}
	return errors.New("the sandbox launcher's report is too long")
}

func passedFD(oob []byte) (int, bool) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil || len(messages) == 0 {
		return -1, false
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) == 0 {
		return -1, false
	}
	unix.CloseOnExec(fds[0])
	return fds[0], true
}

// judge reads the lines. The launcher has refused already what lacks a required
// guarantee; that it did is checked here, because it runs as the plugin's user.
func (l *Launch) judge(text []byte) (Report, error) {
	var report *Report
	for line := range bytes.Lines(text) {
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			return Report{}, fmt.Errorf("reading the sandbox launcher's report: %w", err)
		}
		if m.Failed != nil {
			return Report{}, m.Failed
		}
		if m.Report != nil {
			report = m.Report
		}
	}
	if report == nil {
		return Report{}, errNoReport
	}
	if lacking := missing(report.Status, l.policy.required()); len(lacking) > 0 {
		return Report{}, refusal(lacking)
	}
	if l.policy.Grant.CPU > 0 && l.group == nil {
		report.Notes = append(report.Notes, "cpu is not enforced: it needs a cgroup that is delegated to mcphost")
	}
	return *report, nil
}

// serve starts what the host does for a running plugin: its way out, and the
// watch over its memory.
func (l *Launch) serve(ctx context.Context, listener int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		if listener >= 0 {
			_ = unix.Close(listener)
		}
		return errors.New("the launch is closed")
	}
	if listener >= 0 {
		f := os.NewFile(uintptr(listener), "egress listener")
		way, err := net.FileListener(f)
		if err := errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("using the egress listener: %w", err)
		}
		allow, err := egress.ParseAllow(l.policy.Grant.Hosts)
		if err != nil {
			return errors.Join(err, way.Close())
		}
		l.proxy = egress.New(ctx, way, allow, egress.Options{Resolver: l.names, Log: l.log})
	}
	if l.group == nil && l.cmd.Process != nil {
		l.watch = watch(ctx, l.cmd.Process, l.limits())
	}
	return nil
}

func (l *Launch) limits() limits {
	return limits{
		memory: or(l.policy.Grant.Memory, DefaultMemory),
		pids:   or(l.policy.Grant.Pids, DefaultPids),
		isInit: l.cmd.SysProcAttr.Cloneflags&unix.CLONE_NEWPID != 0,
	}
}
