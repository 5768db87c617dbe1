package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// listenEgress opens the plugin's way out: a listener on the loopback of its
// own network namespace, which the host will serve.
func listenEgress() (int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("making the egress listener: %w", err)
	}
	if err := raiseLoopback(fd); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	addr := &unix.SockaddrInet4{Port: proxyPort, Addr: [4]byte{127, 0, 0, 1}}
	err = unix.Bind(fd, addr)
	if err == nil {
		err = unix.Listen(fd, 128)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, fmt.Errorf("opening the egress listener: %w", err)
	}
	return fd, nil
}

func raiseLoopback(fd int) error {
	ifr, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	ifr.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr); err != nil {
		return fmt.Errorf("raising the loopback: %w", err)
	}
	return nil
}

// proxyEnv points every runtime at the way out. Node obeys only if told to.
func proxyEnv(env []string) []string {
	url := fmt.Sprintf("http://127.0.0.1:%d", proxyPort)
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy"} {
		env = append(env, name+"="+url)
	}
	return append(env, "NO_PROXY=localhost,127.0.0.1,::1", "no_proxy=localhost,127.0.0.1,::1", "NODE_USE_ENV_PROXY=1")
}
