package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcphost/mcphost/host/sandbox"
)

var update = flag.Bool("update", false, "rewrite the table in docs/sandbox.md")

const nobody = 65534

// column is one way of running the probing plugin.
type column struct {
	Title      string
	Mode       sandbox.Mode
	Namespaces bool
	UID        int
}

var columns = []column{
	{"off, root", sandbox.Off, true, 0},
	{"off, user", sandbox.Off, true, nobody},
	{"sandbox, root", sandbox.Strict, true, 0},
	{"sandbox, user", sandbox.Strict, true, nobody},
	{"no namespaces, root", sandbox.Strict, false, 0},
	{"no namespaces, user", sandbox.Strict, false, nobody},
}

// attempt is one row: a thing to try, and what should come of it.
type attempt struct {
	what    string
	line    string // for the plugin; {name} is replaced by the bait of that name
	granted bool   // it must be reached in every column
	rare    bool   // this machine may lack it even outside the sandbox
}

var attempts = []attempt{
	{what: "answer a call", line: "try stat {own}", granted: true},
	{what: "read a granted file", line: "try read {readable}", granted: true},
	{what: "write a granted file", line: "try append {writable}", granted: true},
	{what: "make a file in its own folder", line: "try write {own}/new", granted: true},

	{what: "read /etc/shadow", line: "try read /etc/shadow"},
	{what: "read the user's file", line: "try read {secret}"},
	{what: "read it by a symbolic link", line: "try symlink {secret}"},
	{what: "read it by a hard link", line: "try hardlink {secret}"},
	{what: "list /", line: "try list /"},
	{what: "read a file in /tmp", line: "try read {tmp}"},
	{what: "list the user's folder", line: "try list {bait}"},
	{what: "make a file elsewhere", line: "try write {bait}/made"},
	{what: "change a file that may be read", line: "try append {readable}"},
	{what: "change the user's file", line: "try append {victim}"},
	{what: "truncate the user's file", line: "try truncate {victim}"},
	{what: "truncate it by opening to read", line: "try opentrunc {readable}"},
	{what: "chmod the user's file", line: "try chmod {victim}"},
	{what: "chmod a file that may be read", line: "try fchmod {readable}"},
	{what: "read a file's attributes", line: "try getxattr {secret}", rare: true},
	{what: "set its times", line: "try touch {victim}"},
	{what: "remove it", line: "try remove {doomed}"},
	{what: "make a device", line: "try mknod {own}/device"},
	{what: "open a device", line: "try device /dev/kmsg"},
	{what: "write a sysctl", line: "try sysctl /proc/sys/kernel/domainname"},

	{what: "TCP over IPv4", line: "try tcp {tcp4}"},
	{what: "TCP over IPv6", line: "try tcp {tcp6}", rare: true},
	{what: "UDP", line: "try udp {udp}"},
	{what: "MPTCP", line: "try mptcp {tcp4}", rare: true},
	{what: "listen on TCP", line: "try listen 127.0.0.1:0"},
	{what: "raw socket", line: "try raw x"},
	{what: "packet socket", line: "try packet x"},
	{what: "the same with a bit that hides it from filters", line: "try highbits x"},
	{what: "netlink socket", line: "try netlink x"},
	{what: "vsock socket", line: "try vsock x", rare: true},

	{what: "unix socket by path", line: "try unix {unix}"},
	{what: "unix datagram by path", line: "try unixgram {unixgram}"},
	{what: "unix datagram from a socket pair", line: "try unixpair {unixgram}"},
	{what: "abstract unix socket", line: "try unix {abstract}"},

	{what: "signal a process of the host", line: "try kill {pid}"},
	{what: "limit its files", line: "try prlimit {pid}"},
	{what: "make it wait", line: "try renice {pid}"},
	{what: "read its command line", line: "try read /proc/{pid}/cmdline"},
	{what: "ptrace it", line: "child ptrace {pid}"},
	{what: "read its memory", line: "try vmread {pid}"},
	{what: "read its environment", line: "try environ {pid}"},
	{what: "open its parent's memory", line: "try init-mem x"},
	{what: "attach System V shared memory", line: "try shm {shm}"},
	{what: "see the host's environment", line: "try variables MCPHOST_SECRET"},
	{what: "use a descriptor of the host", line: "try descriptors x"},

	{what: "hold a capability", line: "try caps x"},
	{what: "become another user", line: "child setuid x"},
	{what: "mount", line: "try mount {mnt}"},
	{what: "chroot", line: "child chroot {own}"},
	{what: "unshare", line: "try unshare x"},
	{what: "clone into a namespace", line: "try clone x"},
	{what: "clone3", line: "try clone3 x"},
	{what: "setns", line: "try setns x"},
	{what: "open a file by handle", line: "try handle x"},
	{what: "bpf", line: "try bpf x"},
	{what: "io_uring", line: "try io_uring x"},
	{what: "keyctl", line: "try keyctl x"},
	{what: "userfaultfd", line: "try userfaultfd x"},
	{what: "perf_event_open", line: "try perf x"},
	{what: "TIOCSTI with a bit that hides it from filters", line: "try tiocsti x"},
	{what: "int 0x80", line: "child int80 x", rare: true},
	{what: "x32 system call", line: "try x32 x", rare: true},
	{what: "a system call newer than the filter", line: "try newer x", rare: true},

	{what: "start a program", line: "try exec /usr/bin/true"},
	{what: "start it by the dynamic loader", line: "try loader /usr/bin/true"},
	{what: "hide memory in a file without a name", line: "try memfd x"},
	{what: "hide it in a System V segment", line: "try shmget x"},
	{what: "write past the granted file size", line: "child fsize 4194304"},
}

// TestEscape tries every way out, as root and as an ordinary user, with all of
// the sandbox and without namespaces. The columns without a sandbox show that
// the tries can succeed.
func TestEscape(t *testing.T) {
	probePath(t)
	results := map[string]map[string]string{}
	for _, c := range columns {
		if c.UID != os.Getuid() && os.Getuid() != 0 {
			t.Logf("column %q: needs root", c.Title)
			continue
		}
		if c.Namespaces && c.Mode != sandbox.Off && !sandbox.Probe().Namespaces {
			t.Logf("column %q: %v", c.Title, sandbox.Probe().Advice)
			continue
		}
		job := escapeJob{Column: c, Probe: probePath(t), Dir: folder(t)}
		if err := os.Chown(job.Dir, c.UID, c.UID); err != nil {
			t.Fatal(err)
		}
		verdicts := map[string]string{}
		if err := asHost(t, "escape", c.UID, job, &verdicts); err != nil {
			t.Fatalf("column %q: %v", c.Title, err)
		}
		results[c.Title] = verdicts
		judge(t, c, verdicts)
	}
	if len(results) < len(columns) {
		t.Skip("not all columns can be made here, see above: docs/sandbox.md is not compared")
	}
	compareDocs(t, table(results))
}

// judge compares a column with what the package promises.
func judge(t *testing.T, c column, verdicts map[string]string) {
	t.Helper()
	for _, a := range attempts {
		got := verdicts[a.what]
		reached := got == "reached"
		switch {
		case !reached && !strings.HasPrefix(got, "denied "):
			t.Errorf("%s: %s: got %q, want a verdict", c.Title, a.what, got)
		case a.granted && !reached:
			t.Errorf("%s: %s: got %q, want it reached: it is granted", c.Title, a.what, got)
		case strings.HasPrefix(a.what, "hide") && sandbox.Probe().Status[5].By != "watchdog + RLIMIT_DATA":
			// a cgroup counts what is hidden
		case c.Mode == sandbox.Strict && !a.granted && reached:
			t.Errorf("%s: %s: reached, want it denied", c.Title, a.what)
		case c.Mode == sandbox.Off && c.UID == 0 && !a.rare && !reached && a.what != "write past the granted file size":
			t.Errorf("%s: %s: got %q: a try that fails outside the sandbox shows nothing", c.Title, a.what, got)
		}
	}
}

func table(results map[string]map[string]string) string {
	var b strings.Builder
	b.WriteString("| The plugin tries to |")
	for _, c := range columns {
		fmt.Fprintf(&b, " %s |", c.Title)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, a := range attempts {
		fmt.Fprintf(&b, "| %s |", a.what)
		for _, c := range columns {
			verdict := results[c.Title][a.what]
			if verdict == "reached" {
				verdict = "**reached**"
				if a.granted {
					verdict = "granted"
				}
			}
			fmt.Fprintf(&b, " %s |", verdict)
		}
		b.WriteString("\n")
	}
	return b.String()
}

const (
	docs       = "../../docs/sandbox.md"
	tableBegin = "<!-- the escape table: go test ./host/sandbox -run TestEscape -update -->\n"
	tableEnd   = "<!-- end -->\n"
)

// compareDocs fails if the docs say "denied" where it was reached or the other
// way round; how it is denied depends on the kernel.
func compareDocs(t *testing.T, got string) {
	t.Helper()
	t.Logf("\n%s", got)
	text, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), tableBegin)
	said, after, closed := strings.Cut(rest, tableEnd)
	if !ok || !closed {
		t.Fatalf("%s has no place for the table", docs)
	}
	if *update {
		if err := os.WriteFile(docs, []byte(before+tableBegin+got+tableEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if bareVerdicts(said) != bareVerdicts(got) {
		t.Errorf("%s shows other verdicts; run: go test ./host/sandbox -run TestEscape -update", docs)
	}
}

// bareVerdicts leaves out the reasons, and the columns without a sandbox, where
// everything depends on the machine.
func bareVerdicts(table string) string {
	var b strings.Builder
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		for i, cell := range cells {
			if word, _, found := strings.Cut(strings.TrimSpace(cell), " "); found && word == "denied" {
				cell = " denied "
			}
			if i != 2 && i != 3 {
				b.WriteString(cell + "|")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// escapeJob is what playHost is told.
type escapeJob struct {
	Column column
	Probe  string
	Dir    string
}

// playHost is mcphost's part, in a process of its own.
func playHost(part string, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	switch part {
	case "escape":
		return playEscape(ctx, in, out)
	case "orphans":
		return playOrphans(ctx, in, out)
	case "forks":
		return playForks(ctx, in, out)
	case "no spaces":
		return playNoSpaces(out)
	}
	return fmt.Errorf("no part %q", part)
}

func playEscape(ctx context.Context, in io.Reader, out io.Writer) error {
	var job escapeJob
	if err := json.NewDecoder(in).Decode(&job); err != nil {
		return err
	}
	b, err := layBait(ctx, job)
	if err != nil {
		return fmt.Errorf("laying bait: %w", err)
	}
	defer b.clear()
	policy := sandbox.Policy{
		Mode:    job.Column.Mode,
		Folders: []string{b.at["own"]},
		Grant:   sandbox.Grant{Read: []string{b.at["granted"]}, Write: []string{b.at["writable"]}, FileSize: 1 << 20},
	}
	if !job.Column.Namespaces {
		sandbox.WithoutNamespaces(&policy)
	}
	socket := filepath.Join(b.at["own"], "s")
	cmd := exec.Command(job.Probe, "serve", socket)
	cmd.Dir = b.at["own"]
	plugin, err := serve(ctx, cmd, policy, sandbox.Options{}, socket)
	if err != nil {
		return err
	}
	defer plugin.stop()
	if by := plugin.report.Find(sandbox.FS).By; strings.Contains(by, "private root") != (job.Column.Namespaces && job.Column.Mode != sandbox.Off) {
		return fmt.Errorf("fs is enforced by %q in the column %q", by, job.Column.Title)
	}
	pid, err := plugin.peer()
	if err != nil {
		return err
	}
	if !plugin.launch.Owns(pid) || plugin.launch.Owns(os.Getpid()) {
		return fmt.Errorf("the launch says that process %d is not the plugin's, or that we are", pid)
	}
	verdicts := map[string]string{}
	for _, a := range attempts {
		line := b.replace(a.line)
		if verdicts[a.what], err = plugin.ask(line); err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
		if answer, err := plugin.ask("echo call"); err != nil || answer != "call" {
			return fmt.Errorf("after %s a call was answered with %q, %w", line, answer, err)
		}
	}
	return json.NewEncoder(out).Encode(verdicts)
}

// bait is what the plugin should not reach, by name.
type bait struct {
	at    map[string]string
	close []func()
}

func (b *bait) replace(line string) string {
	for name, value := range b.at {
		line = strings.ReplaceAll(line, "{"+name+"}", value)
	}
	return line
}

func (b *bait) clear() {
	for _, f := range b.close {
		f()
	}
}

func layBait(ctx context.Context, job escapeJob) (*bait, error) {
	b := &bait{at: map[string]string{"tmp": fmt.Sprintf("/tmp/mcphost-escape-%d", os.Getpid())}}
	unix.Umask(0o077)
	err := errors.Join(b.files(job.Dir), b.sockets(ctx, job.Dir), b.process(job.Probe), b.memory())
	if err != nil {
		b.clear()
	}
	return b, err
}

func (b *bait) files(dir string) error {
	var problems []error
	for _, name := range []string{"own", "granted", "bait", "bait/mnt"} {
		path := filepath.Join(dir, name)
		b.at[filepath.Base(name)] = path
		problems = append(problems, os.Mkdir(path, 0o700))
	}
	b.at["readable"] = filepath.Join(b.at["granted"], "readable")
	b.at["writable"] = filepath.Join(dir, "writable")
	for _, name := range []string{"secret", "victim", "doomed"} {
		b.at[name] = filepath.Join(b.at["bait"], name)
	}
	for _, name := range []string{"readable", "writable", "secret", "victim", "doomed", "tmp"} {
		problems = append(problems, os.WriteFile(b.at[name], []byte(name), 0o600))
	}
	// As if whoever started mcphost had left it open.
	_, err := syscall.Open(b.at["secret"], syscall.O_RDONLY, 0)
	b.close = append(b.close, func() { _ = os.Remove(b.at["tmp"]) }, func() { _ = unix.Unmount(b.at["mnt"], unix.MNT_DETACH) })
	return errors.Join(append(problems, err)...)
}

func (b *bait) sockets(ctx context.Context, dir string) error {
	var problems []error
	b.at["unix"] = filepath.Join(dir, "bait", "u")
	b.at["unixgram"] = filepath.Join(dir, "bait", "g")
	b.at["abstract"] = fmt.Sprintf("@mcphost-escape-%d", os.Getpid())
	for name, listen := range map[string][2]string{
		"tcp4": {"tcp4", "127.0.0.1:0"}, "tcp6": {"tcp6", "[::1]:0"}, "": {"unix", b.at["unix"]}, "-": {"unix", b.at["abstract"]},
	} {
		var config net.ListenConfig
		l, err := config.Listen(ctx, listen[0], listen[1])
		if err != nil {
			if name == "tcp6" {
				b.at[name] = "[::1]:9"
				continue // a machine without IPv6
			}
			problems = append(problems, err)
			continue
		}
		b.close = append(b.close, func() { _ = l.Close() })
		if len(name) > 1 {
			b.at[name] = l.Addr().String()
		}
	}
	var config net.ListenConfig
	for name, listen := range map[string][2]string{"udp": {"udp4", "127.0.0.1:0"}, "": {"unixgram", b.at["unixgram"]}} {
		l, err := config.ListenPacket(ctx, listen[0], listen[1])
		if err != nil {
			problems = append(problems, err)
			continue
		}
		b.close = append(b.close, func() { _ = l.Close() })
		if name != "" {
			b.at[name] = l.LocalAddr().String()
		}
	}
	return errors.Join(problems...)
}

// process starts one that the host has beside its plugins.
func (b *bait) process(probe string) error {
	cmd := exec.Command(probe, "sleep")
	if err := cmd.Start(); err != nil {
		return err
	}
	b.at["pid"] = strconv.Itoa(cmd.Process.Pid)
	b.close = append(b.close, func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return nil
}

func (b *bait) memory() error {
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, 0o600)
	if err != nil {
		return err
	}
	b.at["shm"] = strconv.Itoa(id)
	b.close = append(b.close, func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	return nil
}
