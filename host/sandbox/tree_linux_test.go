package sandbox_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcphost/mcphost/host/sandbox"
)

// descendants lists the processes below pid, by the parents that /proc names.
func descendants(pid int) []int {
	parents := map[int][]int{}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		child, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err != nil {
			continue
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		parent, _ := strconv.Atoi(fields[1])
		parents[parent] = append(parents[parent], child)
	}
	found := []int{pid}
	for i := 0; i < len(found); i++ {
		found = append(found, parents[found[i]]...)
	}
	return found[1:]
}

// playOrphans starts a plugin with a grandchild that left its session, says
// which processes there are, and waits to be killed.
func playOrphans(ctx context.Context, in io.Reader, out io.Writer) error {
	var job escapeJob
	if err := json.NewDecoder(in).Decode(&job); err != nil {
		return err
	}
	policy := sandbox.Policy{Folders: []string{job.Dir}}
	socket := filepath.Join(job.Dir, "s")
	plugin, err := serve(ctx, exec.Command(job.Probe, "serve", socket), policy, sandbox.Options{}, socket)
	if err != nil {
		return err
	}
	if answer, err := plugin.ask("try orphan x"); err != nil || answer != "reached" {
		return fmt.Errorf("making an orphan: %q, %w", answer, err)
	}
	if err := json.NewEncoder(out).Encode(descendants(os.Getpid())); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

func TestNothingOutlivesAKilledHost(t *testing.T) {
	needNamespaces(t)
	for _, uid := range []int{os.Getuid(), nobody} {
		if uid != os.Getuid() && os.Getuid() != 0 {
			t.Log("as another user: needs root")
			continue
		}
		host, pids := startOrphans(t, uid)
		if len(pids) < 3 {
			t.Fatalf("processes %v, want an init, a plugin and its grandchild", pids)
		}
		var handles []int
		for _, pid := range pids {
			fd, err := unix.PidfdOpen(pid, 0)
			if err != nil {
				t.Fatal(err)
			}
			handles = append(handles, fd)
		}
		if err := host.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for i, fd := range handles {
			if !ended(t, fd) {
				t.Errorf("process %d lives on after its host was killed", pids[i])
			}
			_ = unix.Close(fd)
		}
		_ = host.Wait()
	}
}

// startOrphans runs playOrphans as uid and returns it and the processes below it.
func startOrphans(t *testing.T, uid int) (host *exec.Cmd, pids []int) {
	t.Helper()
	job := escapeJob{Probe: probePath(t), Dir: folder(t)}
	if err := os.Chown(job.Dir, uid, uid); err != nil {
		t.Fatal(err)
	}
	host = exec.Command("/proc/self/exe", "host", "orphans")
	host.Dir, host.Stderr = "/", os.Stderr
	if uid != os.Getuid() {
		host.SysProcAttr = credential(uid)
	}
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	host.Stdin = strings.NewReader(string(text))
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(line), &pids); err != nil {
		t.Fatal(err)
	}
	return host, pids
}

func TestKillingThePluginTakesItsGrandchildren(t *testing.T) {
	needNamespaces(t)
	running := startProbe(t, sandbox.Policy{}, sandbox.Options{})
	if got := running.must(t, "try orphan x"); got != "reached" {
		t.Fatalf("making an orphan: %s", got)
	}
	pids := descendants(running.cmd.Process.Pid)
	if err := running.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = running.cmd.Wait()
	for _, pid := range pids {
		wait(t, fmt.Sprintf("process %d ends", pid), func() bool { return errors.Is(unix.Kill(pid, 0), unix.ESRCH) })
	}
}

func TestInitReapsOrphans(t *testing.T) {
	needNamespaces(t)
	running := startProbe(t, sandbox.Policy{}, sandbox.Options{})
	if got := running.must(t, "try orphan x"); got != "reached" {
		t.Fatalf("making an orphan: %s", got)
	}
	served, err := running.peer()
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range descendants(running.cmd.Process.Pid) {
		if pid == served {
			continue
		}
		if err := unix.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		wait(t, fmt.Sprintf("orphan %d is reaped", pid), func() bool { return errors.Is(unix.Kill(pid, 0), unix.ESRCH) })
	}
	if got := running.must(t, "echo still"); got != "still" {
		t.Errorf("the plugin answers %q after its orphan was reaped", got)
	}
}

// TestAForkBombIsHeld bombs as an ordinary user, whom the kernel holds, and as
// root, whom only the watchdog does.
func TestAForkBombIsHeld(t *testing.T) {
	needNamespaces(t)
	for _, uid := range []int{0, nobody} {
		if uid != os.Getuid() && os.Getuid() != 0 {
			uid = os.Getuid()
		}
		job := escapeJob{Probe: probePath(t), Dir: folder(t)}
		if err := os.Chown(job.Dir, uid, uid); err != nil {
			t.Fatal(err)
		}
		var verdict string
		if err := asHost(t, "forks", uid, job, &verdict); err != nil {
			t.Fatal(err)
		}
		if byKernel := verdict == "denied EAGAIN" && uid != 0; !byKernel && !strings.Contains(verdict, "40 are granted") {
			t.Errorf("uid %d: %q, want EAGAIN or the watchdog's reason", uid, verdict)
		}
	}
}

func playForks(ctx context.Context, in io.Reader, out io.Writer) error {
	var job escapeJob
	if err := json.NewDecoder(in).Decode(&job); err != nil {
		return err
	}
	policy := sandbox.Policy{Folders: []string{job.Dir}, Grant: sandbox.Grant{Pids: 40}}
	socket := filepath.Join(job.Dir, "s")
	plugin, err := serve(ctx, exec.Command(job.Probe, "serve", socket), policy, sandbox.Options{}, socket)
	if err != nil {
		return err
	}
	defer plugin.stop()
	verdict, err := plugin.ask("try forks 400")
	if err != nil {
		_ = plugin.cmd.Wait()
		verdict = plugin.launch.Killed()
	}
	return json.NewEncoder(out).Encode(verdict)
}

func TestAMemoryHogIsEnded(t *testing.T) {
	const granted = 64 << 20
	for name, p := range map[string]sandbox.Policy{"namespaces": {}, "plain": plain(sandbox.Policy{})} {
		t.Run(name, func(t *testing.T) {
			p.Grant.Memory = granted
			running := startProbe(t, p, sandbox.Options{})
			if got := running.must(t, "try memory 8"); got != "reached" {
				t.Errorf("8 of 64 MiB: %s", got)
			}
			answer, err := running.ask("try memory 150")
			if err == nil {
				t.Fatalf("150 of 64 MiB: %s, want the plugin ended", answer)
			}
			_ = running.cmd.Wait()
			if why := running.launch.Killed(); !strings.Contains(why, "64 MiB are granted") {
				t.Errorf("ended for %q, want its memory named", why)
			}
		})
	}
}

func TestOneProcessCannotTakeAllMemoryAtOnce(t *testing.T) {
	running := startProbe(t, sandbox.Policy{Grant: sandbox.Grant{Memory: 64 << 20}}, sandbox.Options{})
	answer, err := running.ask("try memory 2000")
	if err == nil && answer != "denied ENOMEM" {
		t.Errorf("2000 MiB: %q, want ENOMEM or the watchdog", answer)
	}
}

func TestAUserWithoutNamespacesIsToldWhy(t *testing.T) {
	needNamespaces(t)
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "host", "no spaces")
	cmd.Dir, cmd.Stderr = "/", os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER, // the limit is written in this namespace, and holds there only
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var m sandbox.Machine
	if err := json.Unmarshal(out, &m); err != nil {
		t.Fatal(err)
	}
	if m.Namespaces || !strings.Contains(strings.Join(m.Advice, "\n"), "user.max_user_namespaces") {
		t.Errorf("namespaces %v, advice %q; want none and the sysctl named", m.Namespaces, m.Advice)
	}
	report := sandbox.Report{Status: m.Status}
	if fs := report.Find(sandbox.FS); m.Landlock > 0 && !fs.Holds() {
		t.Errorf("%v, want it to hold by Landlock", fs)
	}
	if tree := report.Find(sandbox.ProcTree); tree.Holds() || !strings.Contains(tree.Why, "no space left on device") {
		t.Errorf("%v, want it missing with the kernel's words", tree)
	}
}

func playNoSpaces(out io.Writer) error {
	if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0o644); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(sandbox.Probe())
}
