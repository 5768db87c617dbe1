package sandbox

import (
	"fmt"
	"strings"
)

// facts are what the launcher has really put in force.
type facts struct {
	privateRoot, pidSpace, ipcSpace, netSpace bool

	landlock int  // ABI in force; 0 is none
	seccomp  bool // the filters are loaded

	network  string // what is granted: netNone, netProxy or netAll
	memory   string // what the host holds memory with
	procTree string // what the host ends the tree with
	noSpaces string // why there are no namespaces
}

// status judges the facts: what is claimed here must withstand a plugin that
// does its worst, in every combination.
func (f facts) status() []Status {
	return []Status{f.fs(), f.net(), f.unix(), f.ipc(), f.tree(), f.mem(), f.egress()}
}

func (f facts) why(without string) string {
	return fmt.Sprintf("no namespaces (%s), and %s", f.noSpaces, without)
}

func (f facts) lock() string { return fmt.Sprintf("Landlock ABI %d", f.landlock) }

func (f facts) fs() Status {
	s := Status{Guarantee: FS}
	switch {
	case f.privateRoot && f.landlock > 0:
		s.By = "private root + " + f.lock()
	case f.privateRoot:
		s.By = "private root"
	// Landlock leaves chmod, chown and the like alone, and truncate before
	// ABI 3; the seccomp filter denies them where there is no private root.
	case f.landlock > 0 && f.seccomp:
		s.By = f.lock() + " + seccomp"
	default:
		s.Why = f.why("Landlock with seccomp is not there: it needs Linux 5.13 or later with landlock in its lsm= list")
	}
	return s
}

func (f facts) net() Status {
	s := Status{Guarantee: Net}
	switch {
	case f.network == netAll:
		s.Granted = true
	case f.netSpace && f.seccomp:
		s.By = "network namespace + seccomp"
	case f.netSpace:
		s.By = "network namespace"
	case f.network == netProxy: // best effort: the network is open
		s.Why = f.why("hosts cannot be told apart without a network namespace")
	case f.seccomp:
		s.By = "seccomp"
	default:
		s.Why = f.why("seccomp is not there: it needs a kernel with CONFIG_SECCOMP_FILTER")
	}
	return s
}

func (f facts) unix() Status {
	s := Status{Guarantee: Unix}
	var by []string
	switch {
	case f.privateRoot:
		by = append(by, "private root")
	case f.landlock >= 9:
		by = append(by, f.lock())
	case f.seccomp && f.network == netNone:
		s.By = "seccomp" // no connect(2), no datagrams: abstract names are covered, too
		return s
	default:
		s.Why = f.why("with the network granted, Landlock ABI 9 is needed")
		return s
	}
	switch {
	case f.netSpace:
		by = append(by, "network namespace")
	case f.landlock >= 6:
		by = append(by, f.lock()+" scopes")
	default:
		s.Why = fmt.Sprintf("abstract sockets of this machine are in reach: Landlock ABI %d, 6 is needed when the network is granted", f.landlock)
		return s
	}
	s.By = strings.Join(by, " + ")
	return s
}

func (f facts) ipc() Status {
	s := Status{Guarantee: IPC}
	switch {
	case f.pidSpace && f.ipcSpace:
		s.By = "pid and ipc namespaces"
	case f.landlock >= 6 && f.seccomp:
		s.By = f.lock() + " scopes + seccomp"
	default:
		s.Why = f.why(fmt.Sprintf("Landlock ABI is %d, 6 is needed (Linux 6.12)", f.landlock))
	}
	return s
}

func (f facts) tree() Status {
	s := Status{Guarantee: ProcTree}
	switch {
	case f.pidSpace:
		s.By = "pid namespace"
	case f.procTree != "":
		s.By = f.procTree
	default:
		s.Why = f.why("no cgroup is delegated to mcphost")
	}
	return s
}

func (f facts) mem() Status {
	s := Status{Guarantee: Memory}
	switch {
	case strings.HasPrefix(f.memory, byCgroup), f.pidSpace:
		s.By = f.memory
	default:
		s.Why = f.why("no cgroup is delegated to mcphost: the watchdog does not see processes that left the tree")
	}
	return s
}

func (f facts) egress() Status {
	s := Status{Guarantee: Egress}
	switch {
	case f.network == netAll:
		s.Granted = true
	case f.network == netProxy && f.netSpace:
		s.By = "network namespace + proxy"
	case f.network == netProxy:
		s.Why = f.why("hosts cannot be told apart without a network namespace")
	default:
		n := f.net()
		s.By, s.Why = n.By, n.Why
	}
	return s
}

const (
	byCgroup   = "cgroup v2"
	byWatchdog = "watchdog + RLIMIT_DATA"
)
