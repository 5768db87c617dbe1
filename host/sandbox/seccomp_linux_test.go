package sandbox

import (
	"encoding/binary"
	"slices"
	"testing"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// TestDeniedCallsAreKnown fails when a name is misspelt, which would leave the
// call allowed. The names given are those that the architecture never had.
func TestDeniedCallsAreKnown(t *testing.T) {
	tests := map[string]struct {
		info  *arch.Info
		never []string
	}{
		"amd64": {arch.X86_64, nil},
		"arm64": {arch.AARCH64, []string{
			"sysfs", "ustat", "uselib", "create_module", "iopl", "ioperm", "modify_ldt", "_sysctl",
			"chmod", "chown", "lchown", "utime", "utimes", "futimesat",
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, call := range slices.Concat(deniedCalls, deniedAttributes, absentAttributes, deniedIPC, []string{"prlimit64", "setpriority", "ioprio_set", "memfd_create", "memfd_secret", "clone3", "clone", "socket", "socketpair", "connect", "truncate", "openat", "openat2"}) {
				if _, ok := test.info.SyscallNames[call]; ok == slices.Contains(test.never, call) {
					t.Errorf("%s: known %v", call, ok)
				}
			}
		})
	}
}

func TestGuardDecides(t *testing.T) {
	const i386, riscv = unix.AUDIT_ARCH_I386, unix.AUDIT_ARCH_RISCV64
	eperm := uint32(refuse) | uint32(unix.EPERM)
	tests := map[string]struct {
		audit, number uint32
		request       uint64
		want          uint32
	}{
		"own":                              {unix.AUDIT_ARCH_X86_64, 1, 0, uint32(seccomp.ActionAllow)},
		"i386":                             {i386, 20, 0, uint32(seccomp.ActionKillProcess)},
		"another":                          {riscv, 1, 0, uint32(seccomp.ActionKillProcess)},
		"newest":                           {unix.AUDIT_ARCH_X86_64, newestCall(arch.X86_64), 0, uint32(seccomp.ActionAllow)},
		"newer":                            {unix.AUDIT_ARCH_X86_64, newestCall(arch.X86_64) + 1, 0, uint32(unknown)},
		"x32":                              {unix.AUDIT_ARCH_X86_64, 1 | 0x40000000, 0, uint32(unknown)},
		"ioctl":                            {unix.AUDIT_ARCH_X86_64, unix.SYS_IOCTL, unix.TCGETS, uint32(seccomp.ActionAllow)},
		"TIOCSTI":                          {unix.AUDIT_ARCH_X86_64, unix.SYS_IOCTL, unix.TIOCSTI, eperm},
		"TIOCSTI with high bit":            {unix.AUDIT_ARCH_X86_64, unix.SYS_IOCTL, unix.TIOCSTI | 1<<40, eperm},
		"TIOCLINUX":                        {unix.AUDIT_ARCH_X86_64, unix.SYS_IOCTL, unix.TIOCLINUX, eperm},
		"TIOCSTI's number in another call": {unix.AUDIT_ARCH_X86_64, 1, unix.TIOCSTI, uint32(seccomp.ActionAllow)},
	}
	vm, err := bpf.NewVM(guard(unix.AUDIT_ARCH_X86_64, newestCall(arch.X86_64), unix.SYS_IOCTL))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			// struct seccomp_data. The machine loads big endian, the kernel native.
			data := make([]byte, 64)
			binary.BigEndian.PutUint32(data[0:], test.number)
			binary.BigEndian.PutUint32(data[4:], test.audit)
			binary.BigEndian.PutUint32(data[24:], uint32(test.request))
			binary.BigEndian.PutUint32(data[28:], uint32(test.request>>32))
			got, err := vm.Run(data)
			if err != nil {
				t.Fatal(err)
			}
			if uint32(got) != test.want {
				t.Errorf("got %#x, want %#x", uint32(got), test.want)
			}
		})
	}
}
