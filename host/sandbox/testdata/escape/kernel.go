//go:build linux

package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// zero makes a system call with nothing in its arguments: an error other than
// EPERM and ENOSYS shows that the kernel was reached.
func zero(call, a, b uintptr) error {
	_, _, errno := syscall.RawSyscall6(call, a, b, 0, 0, 0, 0)
	if errno == unix.EPERM || errno == unix.ENOSYS {
		return errno
	}
	return nil
}

func fdCall(call, a uintptr) error {
	fd, _, errno := syscall.RawSyscall(call, a, 0, 0)
	if errno != 0 {
		return errno
	}
	return unix.Close(int(fd))
}

func vmRead(pid string) error {
	var word uint64
	local := []unix.Iovec{{Base: (*byte)(unsafe.Pointer(&word)), Len: 8}}
	// The text of a Go program, ours and the test's, is mapped there.
	remote := []unix.RemoteIovec{{Base: 0x400000, Len: 8}}
	_, err := unix.ProcessVMReadv(number(pid), local, remote, 0)
	return err
}

func sysvAttach(id string) error {
	at, _, errno := syscall.RawSyscall(unix.SYS_SHMAT, uintptr(number(id)), 0, unix.SHM_RDONLY)
	if errno != 0 {
		return errno
	}
	_, _, errno = syscall.RawSyscall(unix.SYS_SHMDT, at, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func unshare(string) error {
	runtime.LockOSThread() // and never unlock: this thread is in another namespace then
	return unix.Unshare(unix.CLONE_NEWUTS)
}

func memfd() error {
	fd, err := unix.MemfdCreate("hidden", unix.MFD_CLOEXEC)
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

func segment() error {
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, 0o600)
	if err == nil {
		_, err = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	}
	return err
}

func cloneSpace(string) error {
	pid, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.CLONE_NEWUSER|unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	if pid == 0 {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	_, err := unix.Wait4(int(pid), nil, 0, nil)
	return err
}

func setns(string) error {
	fd, err := unix.Open("/proc/self/ns/uts", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		fd = 0 // any descriptor: EINVAL would show that the kernel looked
	}
	if err := unix.Setns(fd, 0); err != nil && !errors.Is(err, unix.EINVAL) {
		return err
	}
	return nil
}

func bpf(string) error {
	// BPF_PROG_TYPE_SOCKET_FILTER, "r0 = 0; exit"
	code := [2]uint64{0x00000000000000b7, 0x0000000000000095}
	license := [4]byte{'G', 'P', 'L', 0}
	attr := struct {
		kind, count    uint32
		insns, license uint64
		level, size    uint32
		log            uint64
		version, flags uint32
		rest           [64]byte
	}{kind: 1, count: 2, insns: uint64(uintptr(unsafe.Pointer(&code))), license: uint64(uintptr(unsafe.Pointer(&license)))}
	fd, _, errno := syscall.RawSyscall(unix.SYS_BPF, unix.BPF_PROG_LOAD, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
	runtime.KeepAlive(&code)
	runtime.KeepAlive(&license)
	if errno != 0 {
		return errno
	}
	return unix.Close(int(fd))
}

func ioUring(string) error {
	var params [120]byte
	fd, _, errno := syscall.RawSyscall(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&params)), 0)
	if errno != 0 {
		return errno
	}
	return unix.Close(int(fd))
}

func perf(string) error {
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_DUMMY, Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv}
	attr.Size = uint32(unsafe.Sizeof(attr))
	fd, err := unix.PerfEventOpen(&attr, 0, -1, -1, 0)
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

func handle(string) error {
	h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, ".", 0)
	if err != nil {
		return err
	}
	mount, err := unix.Open(".", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	fd, err := unix.OpenByHandleAt(mount, h, unix.O_RDONLY|unix.O_CLOEXEC)
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

// tiocsti asks with a bit that the kernel does not look at: it is refused with
// EPERM by the filter, with another error by whatever stdin is.
func tiocsti(string) error {
	var c byte
	_, _, errno := syscall.RawSyscall(unix.SYS_IOCTL, 0, unix.TIOCSTI|1<<32, uintptr(unsafe.Pointer(&c)))
	if errno == unix.EPERM || errno == unix.ENOSYS {
		return errno
	}
	return nil
}

// x32 calls getpid by the third door of amd64.
func x32(string) error {
	if runtime.GOARCH != "amd64" {
		return unix.ENOSYS
	}
	_, _, errno := syscall.RawSyscall(unix.SYS_GETPID|0x40000000, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func caps(string) error {
	h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have [2]unix.CapUserData
	if err := unix.Capget(&h, &have[0]); err != nil {
		return err
	}
	if have[0].Permitted|have[1].Permitted|have[0].Effective|have[1].Effective == 0 {
		return errors.New("none")
	}
	return nil
}

// bigFile writes past the granted size.
func bigFile(argument string) error {
	var size int64
	fmt.Sscan(argument, &size)
	f, err := os.Create("big")
	if err != nil {
		return err
	}
	defer os.Remove("big")
	defer f.Close()
	_, err = f.WriteAt([]byte{0}, size)
	return err
}

// forks starts processes until it cannot, which is when it was held, or until
// it has as many as the argument says.
func forks(argument string) error {
	for range number(argument) {
		if err := exec.Command("/proc/self/exe", "sleep").Start(); err != nil {
			return err
		}
	}
	return nil
}

// hog takes megabytes and holds them.
func hog(argument string) error {
	var held [][]byte
	for range number(argument) {
		block, err := unix.Mmap(-1, 0, 1<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		if err != nil {
			return err
		}
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		held = append(held, block)
	}
	time.Sleep(time.Second) // for whoever watches to see
	runtime.KeepAlive(held)
	return nil
}

// get fetches a URL as programs do, by the proxy that the environment names.
func get(url string) error { return fetch(http.DefaultTransport, url) }

// gets does so from a server whose certificate nobody knows.
func gets(url string) error {
	return fetch(&http.Transport{
		Proxy:           http.ProxyFromEnvironment,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the test's own server
	}, url)
}

func fetch(transport http.RoundTripper, url string) error {
	client := &http.Client{Timeout: 5 * time.Second, Transport: transport}
	response, err := client.Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return errors.New(strconv.Itoa(response.StatusCode) + " " + string(body))
	}
	return nil
}

// orphan makes a grandchild that has left its session and whose parent ends.
func orphan(string) error {
	cmd := exec.Command("/proc/self/exe", "once", "daemon", "")
	return cmd.Run()
}

func errnoName(e syscall.Errno) string { return unix.ErrnoName(e) }

func signalName(s syscall.Signal) string { return unix.SignalName(s) }
