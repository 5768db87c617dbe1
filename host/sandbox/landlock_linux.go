package sandbox

import (
	"fmt"
	"os"
	"slices"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

const (
	canRead  landlock.AccessFSSet = ll.AccessFSReadFile | ll.AccessFSReadDir
	canStart landlock.AccessFSSet = ll.AccessFSExecute
	canWrite landlock.AccessFSSet = ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSRemoveDir |
		ll.AccessFSRemoveFile | ll.AccessFSMakeDir | ll.AccessFSMakeReg | ll.AccessFSMakeSock |
		ll.AccessFSMakeFifo | ll.AccessFSMakeSym | ll.AccessFSRefer
	ofFiles landlock.AccessFSSet = ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSExecute
)

// landlockABI returns the ABI of the kernel's Landlock, 0 if there is none. The
// kernel's version would not tell: distributions leave Landlock out or switch
// it off at boot.
func landlockABI() int {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil || abi < 0 {
		return 0
	}
	return abi
}

// access is a path and what may be done with it.
type access struct {
	path   string
	rights landlock.AccessFSSet
	listed bool // somebody asked for it: it must be there
}

// problem returns err if the path must be there.
func (a access) problem(err error) error {
	if a.listed {
		return err
	}
	return nil
}

// fileAccess lists everything that the plugin may touch, as paths inside its root.
func (s *spec) fileAccess(privateRoot bool) []access {
	started := canStart
	if !slices.Contains(s.Exec, anyProgram) {
		started = 0
	}
	var all []access
	listed := true
	add := func(rights landlock.AccessFSSet, paths ...string) {
		for _, path := range paths {
			all = append(all, access{path, rights, listed})
		}
	}
	add(canRead|started, s.Read...)
	add(canRead|canWrite|started, s.Write...)
	add(canRead|canWrite|started|ll.AccessFSResolveUnix, s.Folders...)
	add(canRead|canStart, s.Files...)
	for _, program := range s.Exec {
		if program != anyProgram {
			add(canRead|canStart, program)
		}
	}
	listed = false
	add(canRead|started, s.System...)
	add(canRead|canStart, s.programs()...)
	add(canRead|ll.AccessFSWriteFile, devices...)
	if privateRoot {
		add(canRead, "/proc", "/etc/passwd", "/etc/group", "/etc/hosts")
		add(canRead|canWrite|started|ll.AccessFSResolveUnix, "/tmp", "/dev/shm")
	} else {
		add(canRead, "/etc/passwd", "/etc/group") // runtimes ask who they are
		add(canRead, "/proc/self")                // the launcher becomes the plugin, so this stays its own
	}
	return all
}

// confineFiles puts this thread, and all that it starts, under Landlock. It
// returns the ABI in force. abi is not 0.
func (s *spec) confineFiles(abi int, privateRoot bool) (int, error) {
	config := landlock.V11.BestEffort() // the ABI is judged by us, from what is returned
	if s.Network != netNone {
		config.HandledAccessNet = 0
	}
	var rules []landlock.Rule
	for _, a := range s.fileAccess(privateRoot) {
		rule, release, err := s.rule(a, abi, privateRoot)
		if err != nil {
			return 0, err
		}
		defer release()
		if rule != nil {
			rules = append(rules, rule)
		}
	}
	fd, flags, err := config.NewRulesetFD(rules...)
	if err != nil {
		return 0, fmt.Errorf("making the Landlock rules: %w", err)
	}
	if fd < 0 {
		return 0, nil
	}
	defer letGo(fd)
	if err := ll.LandlockRestrictSelf(fd, flags); err != nil {
		return 0, fmt.Errorf("entering the Landlock domain: %w", err)
	}
	return abi, nil
}

// rule makes the rule for one path, or none for what is missing and need not be
// there. release gives back what it holds once the rules are made.
func (s *spec) rule(a access, abi int, privateRoot bool) (rule landlock.Rule, release func(), err error) {
	path, release := a.path, func() {}
	if !privateRoot && a.path != "/proc/self" {
		// The folders may be a running plugin's to change: hold what was checked.
		fd, err := s.hold(a.path)
		if err != nil {
			return nil, release, a.problem(err)
		}
		path, release = fmt.Sprintf("/proc/self/fd/%d", fd), func() { letGo(fd) }
	}
	st, err := os.Stat(path)
	if err != nil {
		return nil, release, nil //nolint:nilerr // what is missing needs no rule
	}
	rights := a.rights
	if !st.IsDir() {
		rights &= ofFiles
	}
	if abi < 2 {
		rights &^= ll.AccessFSRefer // to ask for it would switch everything off
	}
	return landlock.PathAccess(rights, path), release, nil
}

// hold opens a listed path as resolve found it.
func (s *spec) hold(path string) (int, error) {
	real, err := s.resolve(path)
	if err != nil {
		return -1, err
	}
	fd, err := openNoLinks(real)
	if err != nil {
		return -1, fmt.Errorf("sandbox path %q: %w", path, err)
	}
	return fd, nil
}
