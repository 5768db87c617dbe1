package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// cgroup is one plugin's group in the subtree that is delegated to mcphost.
type cgroup struct {
	dir string
	fd  *os.File // of dir, for the fork to start inside
}

// delegated returns the folder in which mcphost may make groups with limits.
// The first call arranges it: the kernel wants no process beside child groups,
// so mcphost itself moves into one.
var delegated = sync.OnceValues(func() (string, error) {
	dir, err := ownGroup("/proc/self/mountinfo", "/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	if !isDelegated(dir) {
		return "", fmt.Errorf("the cgroup %s is not delegated to mcphost", dir)
	}
	if err := arrange(dir, os.Getpid()); err != nil {
		return "", err
	}
	return dir, sweepGroups(dir)
})

// sweepGroups ends and removes the groups of an mcphost that was killed.
func sweepGroups(dir string) error {
	left, err := filepath.Glob(filepath.Join(dir, groupPrefix+"*"))
	if err != nil {
		return err
	}
	var problems []error
	for _, path := range left {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), groupPrefix), "-")
		pid, err := strconv.Atoi(owner)
		if err != nil || pid != os.Getpid() && unix.Kill(pid, 0) != unix.ESRCH {
			continue // not ours to judge, or its mcphost may live
		}
		problems = append(problems, (&cgroup{dir: path}).close())
	}
	return errors.Join(problems...)
}

// groupPrefix is followed by the pid of mcphost and a number.
const groupPrefix = "mcphost.plugin-"

// ownGroup returns the folder of this process's group in the v2 hierarchy.
func ownGroup(mountinfo, cgroups string) (string, error) {
	mounts, err := os.ReadFile(mountinfo)
	if err != nil {
		return "", err
	}
	var root, at string
	for line := range strings.Lines(string(mounts)) {
		fields := strings.Fields(line)
		for i, f := range fields {
			if f == "-" && i+1 < len(fields) && fields[i+1] == "cgroup2" && i > 4 {
				root, at = fields[3], fields[4]
			}
		}
	}
	if at == "" {
		return "", errors.New("no cgroup v2 is mounted")
	}
	groups, err := os.ReadFile(cgroups)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(groups)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			return filepath.Join(at, strings.TrimPrefix(path, strings.TrimSuffix(root, "/"))), nil
		}
	}
	return "", errors.New("this process is in no cgroup v2")
}

// isDelegated reports whether the group was handed over: it belongs to an
// ordinary user, or systemd says so. Root may write everywhere, and must not.
func isDelegated(dir string) bool {
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		value := make([]byte, 8)
		if n, err := unix.Getxattr(dir, name, value); err == nil && string(value[:n]) == "1" {
			return true
		}
	}
	st, err := os.Stat(dir)
	if err != nil {
		return false
	}
	owner, ok := st.Sys().(*syscall.Stat_t)
	return ok && os.Geteuid() != 0 && int(owner.Uid) == os.Geteuid()
}

// arrange makes dir give memory, pids and cpu to groups below it.
func arrange(dir string, self int) error {
	have, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return err
	}
	var enable []string
	for controller := range strings.FieldsSeq(string(have)) {
		if controller == "memory" || controller == "pids" || controller == "cpu" {
			enable = append(enable, "+"+controller)
		}
	}
	if s := strings.Join(enable, " "); !strings.Contains(s, "+memory") || !strings.Contains(s, "+pids") {
		return fmt.Errorf("the cgroup %s has no memory and pids controllers", dir)
	}
	procs, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return err
	}
	if got := strings.Fields(string(procs)); len(got) != 1 || got[0] != strconv.Itoa(self) {
		return fmt.Errorf("the cgroup %s holds other processes beside mcphost", dir)
	}
	host := filepath.Join(dir, "mcphost.host")
	if err := os.Mkdir(host, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("making mcphost's own cgroup: %w", err)
	}
	if err := set(host, "cgroup.procs", strconv.Itoa(self)); err != nil {
		return err
	}
	return set(dir, "cgroup.subtree_control", strings.Join(enable, " "))
}

func set(dir, file, value string) error {
	if err := os.WriteFile(filepath.Join(dir, file), []byte(value), 0o644); err != nil {
		return fmt.Errorf("setting %s of cgroup %s: %w", file, filepath.Base(dir), bare(err))
	}
	return nil
}

var groups atomic.Int64

// newGroup makes a group below dir with the limits of g.
func newGroup(dir string, g Grant) (*cgroup, error) {
	c := &cgroup{dir: filepath.Join(dir, fmt.Sprintf("%s%d-%d", groupPrefix, os.Getpid(), groups.Add(1)))}
	if err := os.Mkdir(c.dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the plugin's cgroup: %w", err)
	}
	memory := strconv.FormatInt(or(g.Memory, DefaultMemory), 10)
	problems := []error{
		set(c.dir, "memory.max", memory),
		set(c.dir, "pids.max", strconv.Itoa(or(g.Pids, DefaultPids)+initThreads)),
		setIfThere(c.dir, "memory.swap.max", "0"),
		setIfThere(c.dir, "memory.oom.group", "1"),
	}
	if g.CPU > 0 {
		const period = 100_000
		problems = append(problems, set(c.dir, "cpu.max", fmt.Sprintf("%d %d", int(g.CPU*period), period)))
	}
	err := errors.Join(problems...)
	if err == nil {
		c.fd, err = os.OpenFile(c.dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// setIfThere passes over a setting that this kernel does not have.
func setIfThere(dir, file, value string) error {
	if _, err := os.Stat(filepath.Join(dir, file)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return set(dir, file, value)
}

// reason says so if the kernel has ended the plugin for its memory.
func (c *cgroup) reason() string {
	events, err := os.ReadFile(filepath.Join(c.dir, "memory.events"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(events)) {
		if count, ok := strings.CutPrefix(line, "oom_kill "); ok && number(count) > 0 {
			return "the plugin used more memory than is granted, and the kernel ended it; raise memory in its sandbox block"
		}
	}
	return ""
}

// close ends every process in the group and removes it.
func (c *cgroup) close() error {
	if c.fd != nil {
		_ = c.fd.Close()
	}
	if err := setIfThere(c.dir, "cgroup.kill", "1"); err != nil { // Linux 5.14
		return err
	}
	if err := waitEmpty(c.dir); err != nil {
		return err
	}
	return os.Remove(c.dir)
}

// useCgroup puts the plugin into a group of its own where that is possible, and
// tells the launcher what the host will hold by it.
func (l *Launch) useCgroup(attr *syscall.SysProcAttr, s *spec) error {
	dir, err := delegated()
	if err != nil {
		return nil //nolint:nilerr // the watchdog stands in; doctor shows why
	}
	if l.group, err = newGroup(dir, l.policy.Grant); err != nil {
		return err
	}
	attr.UseCgroupFD, attr.CgroupFD = true, int(l.group.fd.Fd())
	s.describeCgroup()
	return nil
}

func (s *spec) describeCgroup() {
	if _, err := delegated(); err == nil {
		s.Memory, s.ProcTree = byCgroup+" memory.max", byCgroup+" cgroup.kill"
	}
}

// waitEmpty returns when the group has no process any more: a killed process is
// in it until it is gone.
func waitEmpty(dir string) error {
	events, err := os.Open(filepath.Join(dir, "cgroup.events"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer events.Close() //nolint:errcheck // it was only read
	for range 50 {
		text := make([]byte, 256)
		n, err := events.ReadAt(text, 0)
		if n == 0 {
			return fmt.Errorf("reading the events of cgroup %s: %w", filepath.Base(dir), err)
		}
		if !strings.Contains(string(text[:n]), "populated 1") {
			return nil
		}
		// The file becomes "urgent" to read when its content changes.
		if _, err := unix.Poll([]unix.PollFd{{Fd: int32(events.Fd()), Events: unix.POLLPRI}}, 100); err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
	}
	return fmt.Errorf("cgroup %s does not get empty", filepath.Base(dir))
}
