package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sys/unix"
)

// spaces are the namespaces that every plugin gets where the system allows;
// the network's comes on top unless the network is granted.
const spaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS

// dataHeadroom is what a process may have mapped beyond the granted memory:
// thread stacks and the like are counted whether they are used or not.
const dataHeadroom = 256 << 20

// Prepare changes cmd so that it runs what it ran before inside the sandbox of
// p. cmd's path, arguments, environment, folder and standard streams must be
// set, and are the plugin's; a nil environment is an empty one. Whatever the
// result, cmd must not be changed or started by other means afterwards.
func Prepare(cmd *exec.Cmd, p Policy, o Options) (*Launch, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if cmd.Err != nil {
		return nil, &LaunchError{Code: ExitNotFound, Message: cmd.Err.Error()}
	}
	if len(cmd.ExtraFiles) > 0 {
		return nil, errors.New("a plugin inherits no extra files")
	}
	l := &Launch{cmd: cmd, policy: p, log: o.Log, names: o.Resolver}
	if l.log == nil {
		l.log = hclog.NewNullLogger()
	}
	attr := l.attributes()
	if p.mode() == Off {
		return l, nil
	}
	if !wired.Load() {
		return nil, errNotWired
	}
	s, err := l.spec()
	if err != nil {
		return nil, err
	}
	if !p.noNamespaces {
		if why := Probe().noSpaces; why == "" {
			l.useSpaces(attr, s)
		} else {
			s.NoSpaces = why
		}
	}
	if err := l.useCgroup(attr, s); err != nil {
		return nil, err
	}
	if err := l.redirect(s); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// attributes sets what holds in every mode: the plugin dies with mcphost and
// is out of reach of the terminal's ^C.
func (l *Launch) attributes() *syscall.SysProcAttr {
	if l.cmd.SysProcAttr == nil {
		l.cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	attr := l.cmd.SysProcAttr
	attr.Pdeathsig = syscall.SIGKILL
	attr.Setpgid = true
	if u := l.policy.RunAs; u != nil {
		attr.Credential = &syscall.Credential{Uid: u.UID, Gid: u.GID}
	}
	return attr
}

func (l *Launch) spec() (*spec, error) {
	path, err := filepath.Abs(l.cmd.Path)
	if err != nil {
		return nil, err
	}
	g := l.policy.Grant
	s := &spec{
		Path: path, Args: l.cmd.Args, Env: l.cmd.Env, Dir: l.cmd.Dir,
		Mode: l.policy.mode(), Require: l.policy.required(),
		Folders: l.policy.Folders, Files: l.policy.Files, Read: g.Read, Write: g.Write, Exec: g.Exec,
		Network: netNone, NoSpaces: notTried,
		NoLandlock: l.policy.noLandlock, NoSeccomp: l.policy.noSeccomp,
		Data:      uint64(or(g.Memory, DefaultMemory)) + dataHeadroom,
		OpenFiles: uint64(or(g.OpenFiles, DefaultOpenFiles)),
		FileSize:  uint64(or(g.FileSize, DefaultFileSize)),
		Pids:      uint64(or(g.Pids, DefaultPids)),
		Memory:    byWatchdog,
	}
	if len(s.Args) == 0 {
		s.Args = []string{path}
	}
	if s.Dir == "" {
		s.Dir = "/"
		if len(s.Folders) > 0 {
			s.Dir = s.Folders[0]
		}
	}
	switch {
	case g.Network:
		s.Network = netAll
	case len(g.Hosts) > 0:
		s.Network = netProxy
	}
	s.System = systemReadable(s.Network)
	return s, nil
}

// useSpaces asks for namespaces in which the plugin's user is itself and
// nobody else exists.
func (l *Launch) useSpaces(attr *syscall.SysProcAttr, s *spec) {
	s.Namespaces, s.NoSpaces = true, ""
	attr.Cloneflags |= spaces
	if s.Network != netAll {
		s.OwnNet = true
		attr.Cloneflags |= unix.CLONE_NEWNET
	}
	if s.Network == netProxy {
		s.Env = proxyEnv(s.Env)
	}
	uid, gid := os.Geteuid(), os.Getegid()
	if c := attr.Credential; c != nil {
		uid, gid = int(c.Uid), int(c.Gid)
	}
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	attr.GidMappingsEnableSetgroups = os.Geteuid() == 0 // then groups are dropped, too
	attr.AmbientCaps = launcherCaps
}

// redirect makes the command run this binary as the launcher. /proc/self/exe is
// what runs now: it may have been replaced on disk, or be out of reach for the
// user that the plugin runs as.
func (l *Launch) redirect(s *spec) error {
	file, err := s.file()
	if err != nil {
		return err
	}
	l.theirs = append(l.theirs, file)
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("making the launcher's socket: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "launcher"), os.NewFile(uintptr(pair[1]), "host")
	l.theirs = append(l.theirs, theirs)
	if err := unix.SetNonblock(pair[1], false); err != nil {
		return errors.Join(err, ours.Close())
	}
	conn, err := net.FileConn(ours)
	if err := errors.Join(err, ours.Close()); err != nil {
		return fmt.Errorf("using the launcher's socket: %w", err)
	}
	var ok bool
	if l.control, ok = conn.(*net.UnixConn); !ok {
		return fmt.Errorf("the launcher's socket is a %T", conn)
	}
	l.cmd.Path = "/proc/self/exe"
	l.cmd.Args = []string{filepath.Base(os.Args[0]), LauncherCommand, filepath.Base(s.Path)}
	l.cmd.Env = []string{}
	l.cmd.Dir = "/"
	l.cmd.ExtraFiles = []*os.File{file, theirs} // become specFD and controlFD
	return nil
}

// Owns reports whether pid, as this process sees it, is the plugin or one of
// its descendants: the one that SO_PEERCRED names must be.
func (l *Launch) Owns(pid int) bool {
	if l.cmd.Process == nil {
		return false
	}
	for range 64 { // deeper trees do not listen on the plugin's socket
		if pid == l.cmd.Process.Pid {
			return true
		}
		if pid <= 1 {
			return false
		}
		stat, err := readStat(pid)
		if err != nil {
			return false
		}
		pid = stat.parent
	}
	return false
}

// release ends what runs in the host for this launch. Close calls it once.
func (l *Launch) release() error {
	var problems []error
	if l.watch != nil {
		l.watch.stop()
	}
	if l.proxy != nil {
		problems = append(problems, l.proxy.Close())
	}
	if l.group != nil {
		problems = append(problems, l.group.close())
	}
	return errors.Join(problems...)
}

// explainStart says what to do about a fork that the system refused.
func explainStart(err error) error {
	switch {
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EUSERS):
		return fmt.Errorf("starting the sandbox: %w: too many user namespaces; raise the sysctl user.max_user_namespaces", err)
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return fmt.Errorf("starting the sandbox: %w: %s", err, whyNoSpaces(err))
	case errors.Is(err, unix.EAGAIN):
		return fmt.Errorf("starting the sandbox: %w: the limit of processes is reached (ulimit -u)", err)
	default:
		return fmt.Errorf("starting the sandbox: %w", err)
	}
}
