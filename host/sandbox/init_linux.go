package sandbox

import (
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// forwarded are the signals that people and supervisors send to a program. The
// others are either not for forwarding (SIGCHLD, SIGURG) or cannot be caught.
var forwarded = []os.Signal{
	unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2, unix.SIGWINCH, unix.SIGALRM, unix.SIGCONT,
}

// runAsInit starts the plugin and is the init of its pid namespace: it reaps
// orphans, passes signals on, and ends as the plugin ends, which ends all that
// is left in the namespace.
func (l *launcher) runAsInit() int {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, forwarded...)
	pid, err := l.spawn()
	if err != nil {
		return l.fail(execError(l.spec.Path, err))
	}
	if err := l.detach(); err != nil {
		return l.fail(&LaunchError{Code: ExitSandbox, Message: err.Error()})
	}
	go forward(signals, pid) // ends with this process
	return reap(pid)
}

// spawn forks from this thread, so that the plugin is confined as the thread is.
func (l *launcher) spawn() (int, error) {
	s := l.spec
	pid, err := syscall.ForkExec(s.Path, s.Args, &syscall.ProcAttr{Dir: s.Dir, Env: s.Env, Files: []uintptr{0, 1, 2}})
	if err != nil {
		return 0, err
	}
	// Not before the fork: the limit would count this process's own memory.
	data := unix.Rlimit{Cur: s.Data, Max: s.Data}
	if err := unix.Prlimit(pid, unix.RLIMIT_DATA, &data, nil); err != nil && err != unix.ESRCH {
		return 0, err
	}
	return pid, nil
}

// detach drops the plugin's standard streams, so that they end with the plugin,
// and the control socket, which tells the host that the plugin runs.
func (l *launcher) detach() error {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	for fd := range 3 {
		if err := unix.Dup3(null, fd, 0); err != nil {
			return err
		}
	}
	_ = unix.Close(null)
	return unix.Close(l.control)
}

func forward(signals <-chan os.Signal, pid int) {
	for s := range signals {
		if n, ok := s.(syscall.Signal); ok {
			_ = unix.Kill(pid, n) // it may have ended just now
		}
	}
}

// reap waits for every child and returns how pid ended, as shells count it.
func reap(pid int) int {
	for {
		var status unix.WaitStatus
		ended, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return ExitSandbox
		case ended != pid:
		case status.Signaled():
			return 128 + int(status.Signal())
		case status.Exited():
			return status.ExitStatus()
		}
	}
}

// execArgs prepares an execve that needs no more memory.
func execArgs(s *spec) (args, env []*byte, path *byte, err error) {
	if args, err = syscall.SlicePtrFromStrings(s.Args); err != nil {
		return nil, nil, nil, err
	}
	if env, err = syscall.SlicePtrFromStrings(s.Env); err != nil {
		return nil, nil, nil, err
	}
	path, err = syscall.BytePtrFromString(s.Path)
	return args, env, path, err
}

// execve returns only if it fails.
func execve(path *byte, args, env []*byte) error {
	_, _, errno := unix.RawSyscall(unix.SYS_EXECVE,
		uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(&args[0])), uintptr(unsafe.Pointer(&env[0])))
	runtime.KeepAlive(args)
	runtime.KeepAlive(env)
	return errno
}
