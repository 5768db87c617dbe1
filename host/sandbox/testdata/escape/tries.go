//go:build linux

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// tries are the ways out. Each returns nil only if it got what it wanted. The
// argument is what the test laid out as bait.
var tries = map[string]func(argument string) error{
	"read":        func(path string) error { _, err := os.ReadFile(path); return err },
	"list":        list,
	"stat":        func(path string) error { _, err := os.Stat(path); return err },
	"write":       func(path string) error { return os.WriteFile(path, []byte("escaped"), 0o600) },
	"append":      appendTo,
	"chmod":       func(path string) error { return os.Chmod(path, 0o777) },
	"fchmod":      fchmod,
	"getxattr":    getxattr,
	"prlimit":     limitOther,
	"renice":      func(pid string) error { return unix.Setpriority(unix.PRIO_PROCESS, number(pid), 19) },
	"truncate":    func(path string) error { return os.Truncate(path, 0) },
	"opentrunc":   openTruncating,
	"remove":      os.Remove,
	"touch":       func(path string) error { return os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)) },
	"symlink":     func(path string) error { return throughLink(os.Symlink, path) },
	"hardlink":    func(path string) error { return throughLink(os.Link, path) },
	"mknod":       func(path string) error { return unix.Mknod(path, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))) },
	"sysctl":      sysctl,
	"device":      func(path string) error { return openOnly(path, unix.O_RDWR) },
	"tcp":         func(addr string) error { return dial("tcp", addr) },
	"udp":         func(addr string) error { return dial("udp", addr) },
	"mptcp":       mptcp,
	"listen":      listen,
	"raw":         func(string) error { return socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP) },
	"packet":      func(string) error { return socket(unix.AF_PACKET, unix.SOCK_RAW, 0) },
	"netlink":     func(string) error { return socket(unix.AF_NETLINK, unix.SOCK_RAW, 0) },
	"vsock":       func(string) error { return socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0) },
	"highbits":    highBits,
	"unix":        func(path string) error { return dial("unix", path) },
	"unixgram":    func(path string) error { return dial("unixgram", path) },
	"unixpair":    pairTo,
	"kill":        func(pid string) error { return unix.Kill(number(pid), 0) },
	"ptrace":      func(pid string) error { return unix.PtraceAttach(number(pid)) },
	"vmread":      vmRead,
	"environ":     func(pid string) error { _, err := os.ReadFile("/proc/" + pid + "/environ"); return err },
	"init-mem":    func(string) error { return openOnly("/proc/"+parent()+"/mem", unix.O_RDONLY) },
	"shm":         func(id string) error { return sysvAttach(id) },
	"mount":       func(path string) error { return unix.Mount("tmpfs", path, "tmpfs", 0, "") },
	"unshare":     unshare,
	"clone":       cloneSpace,
	"clone3":      func(string) error { return zero(unix.SYS_CLONE3, 0, 0) },
	"setns":       setns,
	"chroot":      unix.Chroot,
	"memfd":       func(string) error { return memfd() },
	"shmget":      func(string) error { return segment() },
	"bpf":         bpf,
	"io_uring":    ioUring,
	"keyctl":      func(string) error { _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true); return err },
	"userfaultfd": func(string) error { return fdCall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|1) },
	"perf":        perf,
	"handle":      handle,
	"tiocsti":     tiocsti,
	"int80":       int80,
	"x32":         x32,
	"newer":       func(string) error { return zero(469, 0, 0) }, // file_setattr
	"setuid":      func(string) error { return unix.Setresuid(1, 1, 1) },
	"caps":        caps,
	"exec":        func(path string) error { return exec.Command(path).Run() },
	"loader":      func(path string) error { return exec.Command(loaderPath(), path).Run() },
	"fsize":       bigFile,
	"forks":       forks,
	"memory":      hog,
	"daemon":      daemon,
	"descriptors": descriptors,
	"variables":   variables,
	"get":         get,
	"gets":        gets,
	"orphan":      orphan,
}

func list(path string) error {
	entries, err := os.ReadDir(path)
	if err == nil && len(entries) == 0 {
		return errors.New("empty")
	}
	return err
}

func appendTo(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString("escaped")
	return err
}

func openTruncating(path string) error { return openOnly(path, unix.O_RDONLY|unix.O_TRUNC) }

func openOnly(path string, flags int) error {
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0)
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

// fchmod changes the mode of a file that it opened to read.
func fchmod(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Chmod(0o666)
}

// getxattr reads an attribute that is not there: ENODATA shows that it looked.
func getxattr(path string) error {
	_, err := unix.Getxattr(path, "user.secret", make([]byte, 16))
	if errors.Is(err, unix.ENODATA) {
		return nil
	}
	return err
}

// limitOther sets the limit that another process has.
func limitOther(pid string) error {
	var limit unix.Rlimit
	if err := unix.Prlimit(number(pid), unix.RLIMIT_NOFILE, nil, &limit); err != nil {
		return err
	}
	return unix.Prlimit(number(pid), unix.RLIMIT_NOFILE, &limit, nil)
}

// throughLink reads path by a link in the plugin's own folder.
func throughLink(link func(oldname, newname string) error, path string) error {
	wd, err := os.Getwd()
	if err != nil {
		return err
	}
	name := filepath.Join(wd, fmt.Sprintf("link-%d", time.Now().UnixNano()))
	if err := link(path, name); err != nil {
		return err
	}
	defer os.Remove(name)
	_, err = os.ReadFile(name)
	return err
}

func sysctl(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		f.Close()
	}
	return err
}

func dial(network, addr string) error {
	conn, err := net.DialTimeout(network, addr, 2*time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Write([]byte("escaped"))
	return err
}

func socket(domain, kind, protocol int) error {
	fd, err := unix.Socket(domain, kind|unix.SOCK_CLOEXEC, protocol)
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

func mptcp(addr string) error {
	a, err := net.ResolveTCPAddr("tcp4", addr)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, unix.IPPROTO_MPTCP)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Connect(fd, &unix.SockaddrInet4{Port: a.Port, Addr: [4]byte(a.IP.To4())})
}

// listen wants to be reached from outside, on an address that the test knows.
func listen(addr string) error {
	l, err := net.Listen("tcp4", addr)
	if err != nil {
		return err
	}
	return l.Close()
}

// highBits asks for an internet socket with a bit set that only a filter sees.
func highBits(string) error {
	fd, _, errno := syscall.RawSyscall(unix.SYS_SOCKET, unix.AF_PACKET|1<<32, unix.SOCK_RAW, 0)
	if errno != 0 {
		return errno
	}
	return unix.Close(int(fd))
}

// pairTo sends a datagram to a named socket from one that was never connected
// by name.
func pairTo(path string) error {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return unix.Sendto(fds[0], []byte("escaped"), 0, &unix.SockaddrUnix{Name: path})
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

func parent() string { return strconv.Itoa(os.Getppid()) }

func loaderPath() string {
	for _, pattern := range []string{"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"} {
		if _, err := os.Stat(pattern); err == nil {
			return pattern
		}
	}
	return "/lib/ld-musl-x86_64.so.1"
}

func daemon(string) error {
	cmd := exec.Command("/proc/self/exe", "sleep")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Start()
}

func descriptors(string) error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		target, err := os.Readlink("/proc/self/fd/" + entry.Name())
		if err == nil && !strings.HasPrefix(target, "socket:") && !strings.HasPrefix(target, "anon_inode:") &&
			!strings.HasPrefix(target, "pipe:") && target != "/dev/null" && !strings.HasPrefix(target, "/proc/") {
			return nil // something of the host's
		}
	}
	return errors.New("none")
}

func variables(name string) error {
	if _, ok := os.LookupEnv(name); ok {
		return nil
	}
	return errors.New("unset")
}
