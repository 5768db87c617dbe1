package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestOwnGroupIsFound(t *testing.T) {
	const mount = "36 25 0:31 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n"
	tests := map[string]struct{ mounts, groups, want string }{
		"a service":              {mount, "0::/user.slice/app.scope\n", "/sys/fs/cgroup/user.slice/app.scope"},
		"beside version 1":       {"1 2 0:3 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n" + mount, "8:pids:/x\n0::/\n", "/sys/fs/cgroup"},
		"a container's own root": {strings.Replace(mount, " / /sys", " /pod/c /sys", 1), "0::/pod/c/app\n", "/sys/fs/cgroup/app"},
		"none":                   {"1 2 0:3 / / rw - ext4 /dev/vda rw\n", "0::/\n", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			got, err := ownGroup(write(t, dir+"/m", test.mounts), write(t, dir+"/g", test.groups))
			if got != test.want || (err != nil) != (test.want == "") {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
		})
	}
}

func TestArrangeMovesTheHostAsideAndEnablesLimits(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/cgroup.controllers", "cpuset cpu io memory pids\n")
	write(t, dir+"/cgroup.procs", "4711\n")
	if err := arrange(dir, 4711); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir+"/mcphost.host/cgroup.procs"); got != "4711" {
		t.Errorf("moved %q, want 4711", got)
	}
	if got := read(t, dir+"/cgroup.subtree_control"); got != "+cpu +memory +pids" {
		t.Errorf("enabled %q", got)
	}
	write(t, dir+"/cgroup.procs", "4711\n4712\n")
	if err := arrange(dir, 4711); err == nil {
		t.Error("a cgroup that others are in was taken")
	}
	write(t, dir+"/cgroup.controllers", "hugetlb\n")
	if err := arrange(dir, 4711); err == nil {
		t.Error("a cgroup without controllers was taken")
	}
}

func TestGroupsCarryTheGrant(t *testing.T) {
	dir := t.TempDir()
	g, err := newGroup(dir, Grant{Memory: 64 << 20, Pids: 10, CPU: 1.5})
	if err != nil {
		t.Fatal(err)
	}
	defer g.fd.Close()
	for file, want := range map[string]string{
		"memory.max": "67108864", "pids.max": "26", "cpu.max": "150000 100000",
	} {
		if got := read(t, filepath.Join(g.dir, file)); got != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
	write(t, filepath.Join(g.dir, "memory.events"), "low 0\noom 1\noom_kill 1\n")
	if g.reason() == "" {
		t.Error("a kill for memory has no reason")
	}
}

func TestClosingAGroupEndsItsProcesses(t *testing.T) {
	root, err := ownGroup("/proc/self/mountinfo", "/proc/self/cgroup")
	if err != nil {
		t.Skip(err)
	}
	g := &cgroup{dir: filepath.Join(root, "mcphost-test")}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		t.Skipf("no cgroup can be made here: %v", err)
	}
	if g.fd, err = os.Open(g.dir); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", "setsid sleep 1000 & exec sleep 1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(g.fd.Fd())}
	if err := Start(cmd); err != nil {
		t.Fatal(err)
	}
	if err := g.close(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the process ended well, want it killed")
	}
	if _, err := os.Stat(g.dir); err == nil {
		t.Error("the group is still there")
	}
}

func TestSweepRemovesTheGroupsOfADeadHost(t *testing.T) {
	dir := t.TempDir()
	dead := exec.CommandContext(t.Context(), "/bin/true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(dir, groupPrefix+strconv.Itoa(dead.Process.Pid)+"-1")
	alive := filepath.Join(dir, groupPrefix+strconv.Itoa(os.Getppid())+"-1")
	for _, path := range []string{gone, alive} {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := sweepGroups(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(gone); err == nil {
		t.Error("the group of a dead mcphost is still there")
	}
	if _, err := os.Stat(alive); err != nil {
		t.Errorf("the group of a living one: %v", err)
	}
}
