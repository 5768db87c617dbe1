package sandbox

import (
	"fmt"
	"os"
	"slices"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
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
}

// fileAccess lists everything that the plugin may touch, as paths inside its root.
func (s *spec) fileAccess(privateRoot bool) []access {
	started := canStart
	if !slices.Contains(s.Exec, anyProgram) {
		started = 0
	}
	var all []access
	add := func(rights landlock.AccessFSSet, paths ...string) {
		for _, path := range paths {
			if path != anyProgram {
				all = append(all, access{path, rights})
			}
		}
	}
	add(canRead|started, s.System...)
	add(canRead|started, s.Read...)
	add(canRead|canWrite|started, s.Write...)
	add(canRead|canWrite|started|ll.AccessFSResolveUnix, s.Folders...)
	add(canRead|canStart, s.Files...)
	add(canRead|canStart, programFiles(s.Path, s.Env)...)
	for _, program := range s.Exec {
		if program != anyProgram {
			add(canRead|canStart, programFiles(program, s.Env)...)
		}
	}
	add(canRead|ll.AccessFSWriteFile, devices...)
	if privateRoot {
		add(canRead, "/proc", "/etc/passwd", "/etc/group", "/etc/hosts")
		add(canRead|canWrite|started|ll.AccessFSResolveUnix, "/tmp", "/dev/shm")
	} else {
		add(canRead, "/proc/self") // the launcher becomes the plugin, so this stays its own
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
		st, err := os.Stat(a.path)
		if err != nil {
			continue // what is missing needs no rule
		}
		rights := a.rights
		if !st.IsDir() {
			rights &= ofFiles
		}
		if abi < 2 {
			rights &^= ll.AccessFSRefer // to ask for it would switch everything off
		}
		rules = append(rules, landlock.PathAccess(rights, a.path).IgnoreIfMissing())
	}
	fd, flags, err := config.NewRulesetFD(rules...)
	if err != nil {
		return 0, fmt.Errorf("making the Landlock rules: %w", err)
	}
	if fd < 0 {
		return 0, nil
	}
	defer unix.Close(fd)
	if err := ll.LandlockRestrictSelf(fd, flags); err != nil {
		return 0, fmt.Errorf("entering the Landlock domain: %w", err)
	}
	return abi, nil
}
