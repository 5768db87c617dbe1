package sandbox

import (
	"fmt"
	"runtime"
	"unsafe"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

const (
	refuse  = seccomp.ActionErrno                                   // the assembler makes it EPERM
	unknown = seccomp.ActionErrno | seccomp.Action(unix.ENOSYS)     // "this kernel does not have it"
	without = seccomp.ActionErrno | seccomp.Action(unix.EOPNOTSUPP) // "this file system does not have it"
)

// deniedCalls are of no use to a plugin and of much to an attacker of the kernel.
var deniedCalls = []string{
	// mounts and roots
	"mount", "umount2", "pivot_root", "chroot", "open_tree", "open_tree_attr", "move_mount", "fsopen", "fsconfig",
	"fsmount", "fspick", "mount_setattr", "swapon", "swapoff", "quotactl", "quotactl_fd", "acct", "sysfs", "ustat", "uselib",
	// namespaces
	"unshare", "setns",
	// other processes
	"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp", "move_pages", "migrate_pages",
	// files by number instead of by path
	"open_by_handle_at", "name_to_handle_at",
	// the kernel itself
	"bpf", "perf_event_open", "userfaultfd", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module",
	"create_module", "syslog", "reboot", "iopl", "ioperm", "modify_ldt", "fanotify_init", "lookup_dcookie", "nfsservctl", "vhangup", "_sysctl",
	"keyctl", "add_key", "request_key",
	// would bypass the filter of sockets
	"io_uring_setup", "io_uring_enter", "io_uring_register",
	// the machine's name and time
	"sethostname", "setdomainname", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex",
}

// deniedAttributes change files that Landlock does not guard from it. They are
// denied where no private root hides those files.
var deniedAttributes = []string{
	"chmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchownat", "utime", "utimes", "futimesat", "utimensat",
	"setxattr", "lsetxattr", "removexattr", "lremovexattr", "setxattrat", "removexattrat",
	// on files that were opened to read
	"fchmod", "fchown", "fsetxattr", "fremovexattr",
}

// absentAttributes would be read from any file.
var absentAttributes = []string{"getxattr", "lgetxattr", "listxattr", "llistxattr", "getxattrat", "listxattrat"}

// deniedIPC is denied where no ipc namespace keeps it apart.
var deniedIPC = []string{"shmget", "shmat", "shmctl", "semget", "semctl", "msgget", "msgctl", "msgrcv", "msgsnd", "mq_open", "mq_unlink"}

// confineCalls loads the filters on this thread, for all that it starts.
func (s *spec) confineCalls(f facts) error {
	if err := loadGuard(); err != nil {
		return err
	}
	policy, err := s.callPolicy(f)
	if err != nil {
		return err
	}
	return seccomp.LoadFilter(seccomp.Filter{Policy: *policy})
}

// callPolicy writes the filter for what else is in force. A watchdog sees only
// memory that is mapped: files in memory and System V segments, which need not
// be, are hidden from the plugin, and runtimes do without.
func (s *spec) callPolicy(f facts) (*seccomp.Policy, error) {
	info, err := arch.GetInfo("")
	if err != nil {
		return nil, err
	}
	denied := seccomp.SyscallGroup{Action: refuse, Names: known(info, deniedCalls)}
	absent := seccomp.SyscallGroup{Action: unknown, Names: known(info, []string{"clone3"})} // its flags are in memory: libc falls back to clone
	spaces := uint64(unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWPID |
		unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP)
	when(info, &denied, "clone", any64(0, seccomp.BitsSet, spaces))
	s.socketRules(info, &denied, f)
	attributes := seccomp.SyscallGroup{Action: without}
	if !f.privateRoot {
		denied.Names = append(denied.Names, known(info, deniedAttributes)...)
		attributes.Names = known(info, absentAttributes)
		if f.landlock < 3 {
			denyTruncation(info, &denied, &absent)
		}
	}
	if !f.ipcSpace {
		denied.Names = append(denied.Names, known(info, deniedIPC)...)
	} else if f.memory == byWatchdog {
		absent.Names = append(absent.Names, known(info, []string{"shmget"})...)
	}
	if !f.pidSpace {
		// Other processes of the same user can be named: leave them alone.
		when(info, &denied, "prlimit64", is(0, 0))
		when(info, &denied, "setpriority", is(0, unix.PRIO_PROCESS))
		when(info, &denied, "setpriority", is(1, 0))
		when(info, &denied, "ioprio_set", is(1, 0))
	}
	if f.memory == byWatchdog {
		absent.Names = append(absent.Names, known(info, []string{"memfd_create", "memfd_secret"})...)
	}
	return &seccomp.Policy{DefaultAction: seccomp.ActionAllow, Syscalls: []seccomp.SyscallGroup{denied, absent, attributes}}, nil
}

// socketRules say which sockets can be made. They name what is allowed: the
// kernel looks at the lower half of an argument only, so an "equal" on the
// whole would miss the same value with a bit set above.
func (s *spec) socketRules(info *arch.Info, g *seccomp.SyscallGroup, f facts) {
	const domain, kind, protocol = 0, 1, 2
	notUnix := is(domain, unix.AF_UNIX)
	when(info, g, "socketpair", notUnix)
	if s.Network == netNone {
		when(info, g, "socket", notUnix)
	} else {
		// No raw, packet, netlink or vsock sockets. MPTCP would pass Landlock.
		when(info, g, "socket", notUnix, is(domain, unix.AF_INET), is(domain, unix.AF_INET6))
		when(info, g, "socket", append([]seccomp.Condition{notUnix}, kinds(kind, unix.SOCK_STREAM, unix.SOCK_DGRAM)...)...)
		when(info, g, "socket", notUnix, is(protocol, 0), is(protocol, unix.IPPROTO_TCP), is(protocol, unix.IPPROTO_UDP))
	}
	if s.Network == netNone && !f.privateRoot && f.landlock < 9 {
		// Nothing hides the machine's sockets: no client of any. Datagrams need
		// no connect, so there are none.
		g.Names = append(g.Names, known(info, []string{"connect"})...)
		streams := kinds(kind, unix.SOCK_STREAM, unix.SOCK_SEQPACKET)
		when(info, g, "socket", streams...)
		when(info, g, "socketpair", streams...)
	}
}

// denyTruncation closes what Landlock before ABI 3 leaves open: truncate(2),
// and opening to read with O_TRUNC.
func denyTruncation(info *arch.Info, denied, absent *seccomp.SyscallGroup) {
	denied.Names = append(denied.Names, known(info, []string{"truncate"})...)
	absent.Names = append(absent.Names, known(info, []string{"openat2"})...)
	for call, flags := range map[string]uint32{"open": 1, "openat": 2} {
		when(info, denied, call,
			any64(flags, seccomp.BitsSet, unix.O_TRUNC), any64(flags, seccomp.BitsNotSet, unix.O_ACCMODE))
	}
}

// when denies a call if all conditions are true.
func when(info *arch.Info, g *seccomp.SyscallGroup, call string, conditions ...seccomp.Condition) {
	if len(known(info, []string{call})) > 0 {
		g.NamesWithCondtions = append(g.NamesWithCondtions, seccomp.NameWithConditions{Name: call, Conditions: conditions})
	}
}

func any64(argument uint32, op seccomp.Operation, value uint64) seccomp.Condition {
	return seccomp.Condition{Argument: argument, Operation: op, Value: value}
}

// is spares one value of an argument from the denial it stands in.
func is(argument uint32, value uint64) seccomp.Condition {
	return any64(argument, seccomp.NotEqual, value)
}

// kinds spares socket types with each of the flags that may be or-ed to them.
func kinds(argument uint32, types ...uint64) []seccomp.Condition {
	var spared []seccomp.Condition
	for _, t := range types {
		for _, flags := range []uint64{0, unix.SOCK_CLOEXEC, unix.SOCK_NONBLOCK, unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK} {
			spared = append(spared, is(argument, t|flags))
		}
	}
	return spared
}

// known leaves out what this architecture never had: the filter's assembler
// refuses names that it does not know.
func known(info *arch.Info, names []string) []string {
	var out []string
	for _, name := range names {
		if _, ok := info.SyscallNames[name]; ok {
			out = append(out, name)
		}
	}
	return out
}

// auditArch names the architectures whose programs the filters are written for.
var auditArch = map[string]uint32{
	"amd64": unix.AUDIT_ARCH_X86_64,
	"arm64": unix.AUDIT_ARCH_AARCH64,
}

// guard kills whatever enters the kernel by a foreign architecture's door (int
// 0x80 on amd64): go-seccomp-bpf would allow it everything. It hides calls that
// are newer than the table from which denials are written, as an older kernel
// would. And it refuses to feed terminals, comparing the half of the argument
// that the kernel reads.
func guard(audit, newest, ioctl uint32) []bpf.Instruction {
	const number, architecture, lowRequest = 0, 4, 16 + 8
	return []bpf.Instruction{
		bpf.LoadAbsolute{Off: architecture, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: audit, SkipTrue: 1},
		bpf.RetConstant{Val: uint32(seccomp.ActionKillProcess)},
		bpf.LoadAbsolute{Off: number, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpLessOrEqual, Val: newest, SkipTrue: 1},
		bpf.RetConstant{Val: uint32(unknown)},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: ioctl, SkipTrue: 4},
		bpf.LoadAbsolute{Off: lowRequest, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.TIOCSTI, SkipTrue: 1},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.TIOCLINUX, SkipTrue: 1},
		bpf.RetConstant{Val: uint32(refuse) | uint32(unix.EPERM)},
		bpf.RetConstant{Val: uint32(seccomp.ActionAllow)},
	}
}

// newestCall returns the highest number in the table. All architectures count
// new calls alike, but for the few above 500 that are x32's.
func newestCall(info *arch.Info) uint32 {
	newest := 0
	for number := range info.SyscallNumbers {
		if number < 500 {
			newest = max(newest, number)
		}
	}
	return uint32(newest)
}

func loadGuard() error {
	audit, ok := auditArch[runtime.GOARCH]
	if !ok {
		return fmt.Errorf("no seccomp filter is written for %s", runtime.GOARCH)
	}
	info, err := arch.GetInfo("")
	if err != nil {
		return err
	}
	raw, err := bpf.Assemble(guard(audit, newestCall(info), unix.SYS_IOCTL))
	if err != nil {
		return fmt.Errorf("assembling the architecture guard: %w", err)
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return fmt.Errorf("loading the architecture guard: %w", errno)
	}
	return nil
}
