package sandbox_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcphost/mcphost/host/sandbox"
)

// plain is a policy without namespaces.
func plain(p sandbox.Policy) sandbox.Policy {
	sandbox.WithoutNamespaces(&p)
	return p
}

func needNamespaces(t *testing.T) {
	t.Helper()
	if m := sandbox.Probe(); !m.Namespaces {
		t.Skipf("this machine denies namespaces: %v", m.Advice)
	}
}

func TestStrictRefusesWhatCannotBeEnforced(t *testing.T) {
	everythingOff := func(p sandbox.Policy) sandbox.Policy {
		sandbox.WithoutNamespaces(&p)
		sandbox.WithoutLandlock(&p)
		sandbox.WithoutSeccomp(&p)
		return p
	}
	withoutSeccomp := plain(sandbox.Policy{})
	sandbox.WithoutSeccomp(&withoutSeccomp)
	withoutLandlock := plain(sandbox.Policy{})
	sandbox.WithoutLandlock(&withoutLandlock)
	tests := map[string]struct {
		policy sandbox.Policy
		want   []string
	}{
		"proc_tree without namespaces": {plain(sandbox.Policy{Require: []sandbox.Guarantee{sandbox.ProcTree}}), []string{"proc_tree", "best_effort"}},
		"hosts without namespaces":     {plain(sandbox.Policy{Grant: sandbox.Grant{Hosts: []string{"example.com:443"}}}), []string{"egress", "network namespace"}},
		"nothing at all":               {everythingOff(sandbox.Policy{}), []string{"fs", "net", "Landlock"}},
		"no seccomp":                   {withoutSeccomp, []string{"net", "seccomp"}},
		"no Landlock":                  {withoutLandlock, []string{"fs", "lsm="}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ran := filepath.Join(folder(t), "ran")
			test.policy.Folders = []string{filepath.Dir(ran)}
			cmd := exec.Command("/usr/bin/touch", ran)
			_, err := run(t.Context(), cmd, test.policy, sandbox.Options{})
			refusal, ok := errors.AsType[*sandbox.LaunchError](err)
			if !ok || refusal.Code != sandbox.ExitSandbox {
				t.Fatalf("got %v, want a LaunchError with code %d", err, sandbox.ExitSandbox)
			}
			for _, want := range test.want {
				if !strings.Contains(refusal.Message, want) {
					t.Errorf("message %q does not say %q", refusal.Message, want)
				}
			}
			if _, err := os.Stat(ran); err == nil {
				t.Error("the plugin ran")
			}
		})
	}
}

func TestBestEffortRunsAndReportsWhatIsMissing(t *testing.T) {
	p := plain(sandbox.Policy{Mode: sandbox.BestEffort, Require: []sandbox.Guarantee{sandbox.ProcTree}})
	sandbox.WithoutSeccomp(&p)
	running := startProbe(t, p, sandbox.Options{})
	if got := running.must(t, "echo works"); got != "works" {
		t.Errorf("echo answered %q", got)
	}
	for _, g := range []sandbox.Guarantee{sandbox.Net, sandbox.ProcTree} {
		if s := running.report.Find(g); s.Holds() || s.Why == "" {
			t.Errorf("got %v, want it missing with a reason", s)
		}
	}
	if got := running.must(t, "try netlink x"); got != "reached" {
		t.Errorf("the report says that net is open, and a socket is %s", got)
	}
}

func TestOffConfinesNothingAndSaysSo(t *testing.T) {
	running := startProbe(t, sandbox.Policy{Mode: sandbox.Off}, sandbox.Options{})
	if got := len(running.report.Missing()); got != len(sandbox.Guarantees()) {
		t.Errorf("%d guarantees are missing, want all: %v", got, running.report.Status)
	}
	if got := running.must(t, "try list /"); got != "reached" {
		t.Errorf("list / is %q without a sandbox", got)
	}
}

func TestExitStatusIsThePlugins(t *testing.T) {
	tests := map[string]struct {
		args []string
		want int
	}{
		"ends well": {[]string{"exit", "0"}, 0},
		"ends ill":  {[]string{"exit", "3"}, 3},
		"killed":    {[]string{"abort"}, 128 + int(syscall.SIGKILL)},
	}
	needNamespaces(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(probePath(t), test.args...)
			running, err := run(t.Context(), cmd, sandbox.Policy{}, sandbox.Options{})
			if err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != test.want {
				t.Errorf("exit code %d, want %d", got, test.want)
			}
			if err := running.launch.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestProgramsThatCannotRunSayWhy(t *testing.T) {
	dir := folder(t)
	text := filepath.Join(dir, "text")
	script := filepath.Join(dir, "script")
	for path, content := range map[string]string{text: "no program", script: "#!/nowhere/interpreter\n"} {
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tests := map[string]struct {
		program string
		code    int
		want    string
	}{
		"not there":        {filepath.Join(dir, "missing"), sandbox.ExitNotFound, "not there"},
		"not a program":    {text, sandbox.ExitExec, "exec format error"},
		"no interpreter":   {script, sandbox.ExitNotFound, "interpreter"},
		"not in the PATH":  {"no-such-program-anywhere", sandbox.ExitNotFound, "not found"},
		"is only a folder": {dir, sandbox.ExitExec, "permission denied"},
	}
	for name, test := range tests {
		for _, spaces := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				p := sandbox.Policy{}
				if !spaces {
					p = plain(p)
				}
				_, err := run(t.Context(), exec.Command(test.program), p, sandbox.Options{})
				got, ok := errors.AsType[*sandbox.LaunchError](err)
				if !ok || got.Code != test.code || !strings.Contains(got.Message, test.want) {
					t.Errorf("got %v, want code %d and %q", err, test.code, test.want)
				}
			})
		}
	}
}

func TestSignalsReachThePlugin(t *testing.T) {
	for _, p := range []sandbox.Policy{{}, plain(sandbox.Policy{})} {
		cmd := exec.Command(probePath(t), "signal")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		running, err := run(t.Context(), cmd, p, sandbox.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 16)); err != nil { // "ready"
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != 7 {
			t.Errorf("exit code %d, want the 7 with which the plugin answers SIGTERM", got)
		}
		_ = running.launch.Close()
	}
}

func TestALauncherThatSaysNothingIsNoSuccess(t *testing.T) {
	cmd := exec.Command(probePath(t), "exit", "0")
	launch, err := sandbox.Prepare(cmd, sandbox.Policy{}, sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer launch.Close()
	cmd.Path = "/usr/bin/true" // in place of the launcher
	if err := launch.Start(); err != nil {
		t.Fatal(err)
	}
	if report, err := launch.Report(t.Context()); err == nil {
		t.Errorf("got the report %v without any, want an error", report)
	}
	_ = cmd.Wait()
}

func TestReportStopsWaitingWithItsContext(t *testing.T) {
	cmd := exec.Command(probePath(t), "sleep")
	launch, err := sandbox.Prepare(cmd, plain(sandbox.Policy{}), sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer launch.Close()
	cmd.Path, cmd.Args = "/usr/bin/sleep", []string{"sleep", "60"} // holds the socket and says nothing
	if err := launch.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := launch.Report(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's error", err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

func TestPolicyIsChecked(t *testing.T) {
	tests := map[string]sandbox.Policy{
		"relative path":     {Grant: sandbox.Grant{Read: []string{"notes"}}},
		"unclean path":      {Grant: sandbox.Grant{Write: []string{"/tmp/../etc"}}},
		"everything":        {Grant: sandbox.Grant{Read: []string{"/"}}},
		"other processes":   {Files: []string{"/proc/1"}},
		"devices":           {Grant: sandbox.Grant{Write: []string{"/dev"}}},
		"host without port": {Grant: sandbox.Grant{Hosts: []string{"example.com"}}},
		"unknown mode":      {Mode: "lenient"},
		"unknown guarantee": {Require: []sandbox.Guarantee{"all"}},
		"negative memory":   {Grant: sandbox.Grant{Memory: -1}},
	}
	for name, policy := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := sandbox.Prepare(exec.Command("/usr/bin/true"), policy, sandbox.Options{}); err == nil {
				t.Error("accepted")
			}
		})
	}
}

// wait polls a condition for which the kernel has no event.
func wait(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.NewTimer(10 * time.Second)
	defer deadline.Stop()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !done() {
		select {
		case <-deadline.C:
			t.Fatalf("%s: it did not happen in 10 s", what)
		case <-ticker.C:
		}
	}
}

// ended waits for a process that is not our child.
func ended(t *testing.T, pidfd int) bool {
	t.Helper()
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, 10_000)
		if !errors.Is(err, unix.EINTR) {
			return err == nil && n == 1
		}
	}
}
