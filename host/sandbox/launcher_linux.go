package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// launcher is this binary as `mcphost sandbox-exec`, on its way to become, or
// to start, the plugin. All of it runs on one thread, the main one: what
// confines a thread confines what that thread starts.
type launcher struct {
	spec    *spec
	control int
	facts   facts
	notes   []string
	egress  int // a listener in the plugin's network namespace, -1 if there is none
}

// runLauncher does not return if it becomes the plugin in place.
func runLauncher() int {
	runtime.LockOSThread()
	closeStray()
	s, err := readSpec(os.NewFile(specFD, "sandbox spec"))
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s is started by mcphost only: %v\n", LauncherCommand, err)
		return ExitSandbox
	}
	l := &launcher{spec: s, control: controlFD, egress: -1}
	if err := l.confine(); err != nil {
		return l.fail(&LaunchError{Code: ExitSandbox, Message: err.Error()})
	}
	report := &Report{Mode: s.Mode, Status: l.facts.status(), Notes: l.notes}
	if lacking := missing(report.Status, s.Require); len(lacking) > 0 && !s.Probe {
		return l.fail(refusal(lacking))
	}
	if err := l.send(message{Report: report}); err != nil {
		return ExitSandbox // the host is gone
	}
	if s.Probe {
		return 0
	}
	if s.Namespaces {
		return l.runAsInit()
	}
	return l.becomePlugin()
}

// confine puts everything in force that the spec asks for and this process
// can, and records in facts what that was. The order matters: each step needs
// what the next ones take away.
func (l *launcher) confine() error {
	s := l.spec
	l.facts = facts{network: s.Network, memory: s.Memory, procTree: s.ProcTree, noSpaces: s.NoSpaces}
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("tying the plugin's life to mcphost: %w", err)
	}
	l.notes = append(l.notes, s.leaveOutMissing()...)
	unix.Umask(0)
	if s.Namespaces {
		if err := l.useNamespaces(); err != nil {
			return err
		}
	}
	unix.Umask(0o077)
	if err := dropPrivileges(); err != nil {
		return err
	}
	if err := s.limit(); err != nil {
		return err
	}
	if err := os.Chdir(s.Dir); err != nil {
		return fmt.Errorf("working folder %q: %w", s.Dir, bare(err))
	}
	return l.confineThread()
}

func (l *launcher) useNamespaces() error {
	s := l.spec
	l.facts.pidSpace, l.facts.ipcSpace, l.facts.netSpace = true, true, s.OwnNet
	if err := unix.Sethostname([]byte("plugin")); err != nil {
		return fmt.Errorf("naming the plugin's host: %w", err)
	}
	if s.Network == netProxy {
		var err error
		if l.egress, err = listenEgress(); err != nil {
			return err
		}
	}
	notes, err := s.buildRoot()
	if err != nil {
		return err
	}
	l.facts.privateRoot = true
	l.notes = append(l.notes, notes...)
	// Nothing in /proc/1 is for the plugin to read or write.
	return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}

// confineThread enters Landlock and seccomp, which hold for this thread and
// what it starts, and not for the other threads of the init.
func (l *launcher) confineThread() error {
	if abi := landlockABI(); abi > 0 && !l.spec.NoLandlock {
		var err error
		if l.facts.landlock, err = l.spec.confineFiles(abi, l.facts.privateRoot); err != nil {
			return err
		}
	} else {
		l.notes = append(l.notes, "exec is not enforced: this kernel has no Landlock")
	}
	if l.spec.NoSeccomp {
		return nil
	}
	if err := l.spec.confineCalls(l.facts); err != nil {
		l.notes = append(l.notes, fmt.Sprintf("no seccomp filter: %v", err))
		return nil
	}
	l.facts.seccomp = true
	return nil
}

// fail tells the host and returns the code to exit with.
func (l *launcher) fail(e *LaunchError) int {
	if err := l.send(message{Failed: e}); err != nil {
		fmt.Fprintln(os.Stderr, e)
	}
	return e.Code
}

// send writes one line to the host, with the egress listener if there is one.
func (l *launcher) send(m message) error {
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	var rights []byte
	if l.egress >= 0 {
		rights = unix.UnixRights(l.egress)
	}
	if err := unix.Sendmsg(l.control, append(line, '\n'), rights, nil, unix.MSG_NOSIGNAL); err != nil {
		return err
	}
	if l.egress >= 0 {
		_ = unix.Close(l.egress)
		l.egress = -1
	}
	return nil
}

// becomePlugin replaces this process. It returns only if that fails.
func (l *launcher) becomePlugin() int {
	s := l.spec
	args, env, path, err := execArgs(s)
	if err != nil {
		return l.fail(execError(s.Path, err))
	}
	// From here on Go must not need memory: its own is counted, too.
	if err := setLimit(unix.RLIMIT_DATA, s.Data); err != nil {
		return l.fail(&LaunchError{Code: ExitSandbox, Message: err.Error()})
	}
	return l.fail(execError(s.Path, execve(path, args, env)))
}

func execError(path string, err error) *LaunchError {
	if errors.Is(err, fs.ErrNotExist) {
		return &LaunchError{Code: ExitNotFound, Message: fmt.Sprintf(
			"running %q: the program, the interpreter its first line names, or its dynamic loader is not there: %v", path, err)}
	}
	hint := ""
	if errors.Is(err, syscall.EACCES) {
		hint = "; is it executable, and its folder listed in files or read?"
	}
	return &LaunchError{Code: ExitExec, Message: fmt.Sprintf("running %q: %v%s", path, err, hint)}
}

// closeStray closes what mcphost itself inherited and never knew of. What Go
// opens closes on exec, and so does the rest after this.
func closeStray() {
	entries, err := os.ReadDir("/proc/self/fd")
	if err == nil {
		for _, entry := range entries {
			var fd int
			if _, err := fmt.Sscan(entry.Name(), &fd); err != nil || fd <= controlFD {
				continue
			}
			if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
				_ = unix.Close(fd)
			}
		}
	}
	if unix.CloseRange(specFD, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	for _, entry := range entries { // before Linux 5.11
		var fd int
		if _, err := fmt.Sscan(entry.Name(), &fd); err == nil && fd >= specFD {
			unix.CloseOnExec(fd)
		}
	}
}
