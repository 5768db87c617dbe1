package sandbox_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/mcphost/mcphost/host/sandbox"
)

func TestMain(m *testing.M) {
	if code, launched := sandbox.Main(); launched {
		os.Exit(code)
	}
	if len(os.Args) > 1 && os.Args[1] == "host" {
		if err := playHost(os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if err := goleak.Find(goleak.IgnoreTopFunction("github.com/mcphost/mcphost/host/sandbox.forkForever")); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if scratch != "" {
		_ = os.RemoveAll(scratch)
	}
	os.Exit(code)
}

// scratch is a folder that other users reach, unlike that of t.TempDir.
var scratch string

// probe returns the path of the probing plugin, built without cgo and the race
// detector, whose memory does not fit any sandbox.
var probe = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("/tmp", "mcphost-sandbox-test-")
	if err != nil {
		return "", err
	}
	scratch = dir
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "escape")
	cmd := exec.Command("go", "build", "-o", path, "./testdata/escape")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the probe: %w: %s", err, out)
	}
	return path, os.Chmod(path, 0o755)
})

func probePath(t *testing.T) string {
	t.Helper()
	path, err := probe()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// folder makes a folder below scratch.
func folder(t *testing.T) string {
	t.Helper()
	probePath(t)
	dir, err := os.MkdirTemp(scratch, "t") //nolint:usetesting // other users must get in
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// plugin is one that runs, seen from its host.
type plugin struct {
	cmd    *exec.Cmd
	launch *sandbox.Launch
	report sandbox.Report
	conn   net.Conn
	answer *bufio.Reader
}

// run starts a program in a sandbox and waits until it is there.
func run(ctx context.Context, cmd *exec.Cmd, p sandbox.Policy, o sandbox.Options) (*plugin, error) {
	launch, err := sandbox.Prepare(cmd, p, o)
	if err != nil {
		return nil, err
	}
	if err := launch.Start(); err != nil {
		return nil, errors.Join(err, launch.Close())
	}
	report, err := launch.Report(ctx)
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = launch.Close()
		return nil, err
	}
	return &plugin{cmd: cmd, launch: launch, report: report}, nil
}

// serve starts a program that serves lines on the socket in dir.
func serve(ctx context.Context, cmd *exec.Cmd, p sandbox.Policy, o sandbox.Options, socket string) (*plugin, error) {
	cmd.Stderr = os.Stderr
	running, err := run(ctx, cmd, p, o)
	if err != nil {
		return nil, err
	}
	if running.conn, err = dial(ctx, socket); err != nil {
		running.stop()
		return nil, err
	}
	running.answer = bufio.NewReader(running.conn)
	return running, nil
}

// dial waits for a socket to be served.
func dial(ctx context.Context, socket string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "unix", socket)
		if err == nil {
			return conn, nil
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-ticker.C:
		}
	}
}

func (p *plugin) ask(line string) (string, error) {
	if err := p.conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(p.conn, line+"\n"); err != nil {
		return "", err
	}
	answer, err := p.answer.ReadString('\n')
	return strings.TrimSpace(answer), err
}

func (p *plugin) stop() {
	if p.conn != nil {
		_ = p.conn.Close()
	}
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	_ = p.launch.Close()
}

// peer returns the process at the other end, as this process sees it.
func (p *plugin) peer() (int, error) {
	raw, err := p.conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	if err := raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return 0, err
	}
	if err != nil {
		return 0, err
	}
	return int(cred.Pid), nil
}

// startProbe serves the probing plugin in the background of a test.
func startProbe(t *testing.T, p sandbox.Policy, o sandbox.Options) *plugin {
	t.Helper()
	dir := folder(t)
	p.Folders = append(p.Folders, dir)
	socket := filepath.Join(dir, "s")
	cmd := exec.Command(probePath(t), "serve", socket)
	running, err := serve(t.Context(), cmd, p, o, socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(running.stop)
	return running
}

func (p *plugin) must(t *testing.T, line string) string {
	t.Helper()
	answer, err := p.ask(line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return answer
}

// asHost runs a part of the host in a process of its own, as another user.
func asHost(t *testing.T, part string, uid int, in, out any) error {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "host", part)
	cmd.Dir = "/"
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "MCPHOST_SECRET=secret")
	if uid != os.Getuid() {
		cmd.SysProcAttr = credential(uid)
	}
	data, err := json.Marshal(in)
	if err != nil {
		return err
	}
	cmd.Stdin = strings.NewReader(string(data))
	result, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%w: %s", err, result)
	}
	return json.Unmarshal(result, out)
}
