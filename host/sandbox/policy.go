package sandbox

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcphost/mcphost/host/sandbox/egress"
)

// Mode says what happens when the machine cannot hold a required guarantee.
type Mode string

const (
	// Strict refuses to run the plugin. It is what the empty Mode means.
	Strict Mode = "strict"
	// BestEffort runs the plugin with what the machine has and reports what is missing.
	BestEffort Mode = "best_effort"
	// Off runs the plugin with the rights of mcphost itself.
	Off Mode = "off"
)

// Guarantee is something that holds whatever the plugin does.
type Guarantee string

const (
	// FS : no file outside the grant is read, changed, made or removed.
	FS Guarantee = "fs"
	// Net : no packet leaves and no network service of this machine is reached.
	Net Guarantee = "net"
	// Unix : no unix socket is reached but those in the plugin's own and granted folders.
	Unix Guarantee = "unix"
	// IPC : no process outside is signalled, traced, or shares memory with the plugin.
	IPC Guarantee = "ipc"
	// ProcTree : nothing the plugin started outlives it, or mcphost.
	ProcTree Guarantee = "proc_tree"
	// Memory : all processes of the plugin together stay below the granted memory
	// or are ended. The watchdog looks four times a second and counts mapped
	// memory; a cgroup counts at once and everything.
	Memory Guarantee = "memory"
	// Egress : with hosts granted, nothing but HTTP(S) to those hosts gets out.
	Egress Guarantee = "egress"
)

// Guarantees lists all of them in the order in which they are shown.
func Guarantees() []Guarantee {
	return []Guarantee{FS, Net, Unix, IPC, ProcTree, Memory, Egress}
}

// Defaults of a Grant's zero values.
const (
	DefaultMemory    = 512 << 20
	DefaultPids      = 256
	DefaultOpenFiles = 1024
	DefaultFileSize  = 1 << 30
)

// Grant is what a plugin may do beyond using its own files. The zero Grant
// allows nothing but that.
type Grant struct {
	Read  []string // absolute paths that may be read, folders with all that is below
	Write []string // absolute paths that may be read and written

	Network bool     // everything the machine reaches; Hosts has no meaning then
	Hosts   []string // "api.example.com:443", "*.example.com:443", "10.0.0.7:80": HTTP(S) to these alone

	// Exec names programs, or folders of programs, that the plugin may start;
	// "*" means all that it may read. Its own files it may always start. A
	// program that is started lives in the same sandbox.
	Exec []string

	Memory    int64   // bytes over all processes; 0 is DefaultMemory
	CPU       float64 // processors; 0 is no limit. Needs a delegated cgroup
	Pids      int     // processes and threads; 0 is DefaultPids
	OpenFiles int     // descriptors a process; 0 is DefaultOpenFiles
	FileSize  int64   // bytes in one file; 0 is DefaultFileSize
}

// User is whom the plugin runs as.
type User struct {
	UID, GID uint32
}

// Policy is the sandbox of one plugin with everything resolved.
type Policy struct {
	Mode    Mode
	Require []Guarantee // nil is fs and net; Hosts add egress. For Strict only
	Grant   Grant

	Files   []string // what belongs to the plugin beside its command: readable, may be started
	Folders []string // data, work and socket folder: private, exist already, readable and writable

	RunAs *User // nil is the user of mcphost; needs root

	// Set by tests to see how the rest holds without them.
	noNamespaces, noLandlock, noSeccomp bool
}

// DefaultRequire is what a Policy requires when it does not say.
func DefaultRequire() []Guarantee { return []Guarantee{FS, Net} }

func (p *Policy) mode() Mode {
	if p.Mode == "" {
		return Strict
	}
	return p.Mode
}

// required returns the guarantees without which the plugin must not run.
func (p *Policy) required() []Guarantee {
	if p.mode() != Strict {
		return nil
	}
	require := p.Require
	if require == nil {
		require = DefaultRequire()
	}
	require = slices.Clone(require)
	if len(p.Grant.Hosts) > 0 && !p.Grant.Network && !slices.Contains(require, Egress) {
		require = append(require, Egress)
	}
	return require
}

// Check reports everything that is wrong with p, whatever the machine can do.
func (p *Policy) Check() error {
	var problems []error
	if !slices.Contains([]Mode{Strict, BestEffort, Off}, p.mode()) {
		problems = append(problems, fmt.Errorf("mode %q: want strict, best_effort or off", p.Mode))
	}
	for _, g := range p.Require {
		if !slices.Contains(Guarantees(), g) {
			problems = append(problems, fmt.Errorf("require %q: there is no such guarantee", g))
		}
	}
	for what, paths := range map[string][]string{
		"read": p.Grant.Read, "write": p.Grant.Write, "files": p.Files, "folders": p.Folders, "exec": p.Grant.Exec,
	} {
		for _, path := range paths {
			if what == "exec" && path == anyProgram {
				continue
			}
			if err := checkPath(path); err != nil {
				problems = append(problems, fmt.Errorf("%s %q: %w", what, path, err))
			}
		}
	}
	if _, err := egress.ParseAllow(p.Grant.Hosts); err != nil {
		problems = append(problems, err)
	}
	if p.Grant.Memory < 0 || p.Grant.CPU < 0 || p.Grant.Pids < 0 || p.Grant.OpenFiles < 0 || p.Grant.FileSize < 0 {
		problems = append(problems, errors.New("memory, cpu, pids, open files and file size cannot be negative"))
	}
	return errors.Join(problems...)
}

// checkPath refuses what no grant can give: /proc and /dev of the machine lead
// to everything on it, and the root has them.
func checkPath(path string) error {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return errors.New("want an absolute, clean path")
	}
	for _, never := range []string{"/proc", "/dev"} {
		if path == "/" || path == never || strings.HasPrefix(path, never+"/") {
			return errors.New("/, /proc and /dev cannot be granted; name the folders that are needed")
		}
	}
	return nil
}

// anyProgram in Grant.Exec stands for every readable program.
const anyProgram = "*"

func or[T int | int64](value, otherwise T) T {
	if value == 0 {
		return otherwise
	}
	return value
}
