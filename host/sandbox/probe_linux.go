package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const probeTimeout = 10 * time.Second

// Probe returns what this machine can enforce for this user. It finds out once,
// by doing it: a child confines itself and reports. The first call takes some
// 50 ms.
func Probe() Machine { return probed() }

var probed = sync.OnceValue(func() Machine {
	m := Machine{System: system(), Landlock: landlockABI(), Readable: systemReadable(netNone)}
	report, err := tryOut(Policy{Mode: BestEffort}, true)
	if err == nil {
		m.Namespaces = true
	} else {
		m.noSpaces = whyNoSpaces(err)
		report, err = tryOut(Policy{Mode: BestEffort, noNamespaces: true}, false)
	}
	if err != nil {
		for _, g := range Guarantees() {
			report.Status = append(report.Status, Status{Guarantee: g, Why: err.Error()})
		}
	}
	m.Status = report.Status
	for i := range m.Status {
		m.Status[i].Why = strings.ReplaceAll(m.Status[i].Why, notTried, m.noSpaces)
	}
	m.Advice = advice(m)
	return m
})

// notTried stands for the reason in the report of a launcher that is not told it.
const notTried = "not asked for"

// tryOut lets a launcher confine itself and report, and run nothing.
func tryOut(p Policy, namespaces bool) (Report, error) {
	if !wired.Load() {
		return Report{}, errNotWired
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout) //nolint:forbidigo // asked for by nobody in particular, once a process
	defer cancel()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Stderr = &stderr
	l := &Launch{cmd: cmd, policy: p}
	attr := l.attributes()
	s, err := l.spec()
	if err != nil {
		return Report{}, err
	}
	s.Probe, s.Path = true, ""
	if namespaces {
		l.useSpaces(attr, s)
	}
	s.describeCgroup()
	if err := l.redirect(s); err != nil {
		return Report{}, errors.Join(err, l.Close())
	}
	defer l.Close() //nolint:errcheck // nothing is held but the socket
	if err := Start(cmd); err != nil {
		return Report{}, err
	}
	report, err := l.Report(ctx)
	if waited := cmd.Wait(); err == nil && waited != nil {
		err = fmt.Errorf("%w: %s", waited, stderr.String())
	}
	return report, err
}

func system() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "linux"
	}
	return "linux " + unix.ByteSliceToString(u.Release[:])
}

// whyNoSpaces names what keeps this user from making namespaces.
func whyNoSpaces(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[*LaunchError](err); ok {
		text = e.Message
	}
	for _, cause := range spaceCauses {
		if cause.present(text) {
			return text + ": " + cause.name
		}
	}
	return text
}

// advice says, for each thing that is missing, what a person can do.
func advice(m Machine) []string {
	var out []string
	if !m.Namespaces {
		for _, cause := range spaceCauses {
			if cause.present(m.noSpaces) {
				out = append(out, cause.advice)
			}
		}
	}
	if m.Landlock == 0 {
		out = append(out, `Landlock: boot a kernel with CONFIG_SECURITY_LANDLOCK (Linux 5.13 or later) and "landlock" in its lsm= list.`)
	}
	if _, err := delegated(); err != nil {
		out = append(out, fmt.Sprintf("cgroup: %v. Run mcphost as a systemd service with Delegate=yes, or by "+
			"\"systemd-run --user --scope -p Delegate=yes mcphost ...\", for exact limits of memory, cpu and pids; a watchdog stands in.", err))
	}
	return out
}

// spaceCauses are the known reasons for which namespaces cannot be made.
var spaceCauses = []struct {
	name    string
	present func(problem string) bool
	advice  string
}{
	{
		name:    "AppArmor keeps user namespaces from programs without a profile",
		present: func(string) bool { return setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1" },
		advice:  `AppArmor: install the profile that "mcphost doctor --apparmor" prints.`,
	},
	{
		name:    "the sysctl kernel.unprivileged_userns_clone is 0",
		present: func(string) bool { return setting("/proc/sys/kernel/unprivileged_userns_clone") == "0" },
		advice:  "user namespaces: sysctl kernel.unprivileged_userns_clone=1",
	},
	{
		name: "the sysctl user.max_user_namespaces is too low",
		present: func(problem string) bool {
			return setting("/proc/sys/user/max_user_namespaces") == "0" || strings.Contains(problem, unix.ENOSPC.Error())
		},
		advice: "user namespaces: raise the sysctl user.max_user_namespaces, to 10000 for example.",
	},
	{
		name:    "this container's seccomp profile denies namespaces",
		present: func(problem string) bool { return inContainer() && strings.Contains(problem, unix.EPERM.Error()) },
		advice: "container: its seccomp profile or masked /proc denies namespaces; run it with a profile that allows clone, " +
			"mount and pivot_root, and with unmasked /proc (docker: --security-opt seccomp=... --security-opt systempaths=unconfined).",
	},
}

func setting(file string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return "" // this kernel has no such setting
	}
	return strings.TrimSpace(string(data))
}

func inContainer() bool {
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(mark); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}
