package config

import (
	"time"

	"github.com/hashicorp/hcl/v2"
)

// A Plugin is a plugin block, or the plugin half of a local block with its own
// command: one process.
type Plugin struct {
	Place
	Handle string

	// Command is what to run; Command[0] is an absolute path that was an
	// executable file at load. Nil for a builtin.
	Command []string
	Builtin string // name of a bundled plugin; empty with Command

	Files  []string // files and folders that belong to the plugin beside the command; they exist
	SHA256 string   // of the command's bytes, 64 lower-case hex digits; empty: not pinned here

	Timeout            time.Duration // of one call; default 60s
	Start              StartMode     // default StartEager
	IdleTimeout        time.Duration // stop after this long without a call; 0 (default): never
	MaxConcurrentCalls int           // 0 (default): what the plugin announces
	MTLS               bool          // default false: plain gRPC on a private unix socket

	Env     map[string]string // the whole environment of the process; values may be secret, never log them
	Secrets map[string]Secret // handed over by Configure

	Sandbox Sandbox

	Tools     Shape
	Prompts   Shape
	Resources Shape // matches URIs; never renames

	config   *hcl.Block // nil without a config block
	eval     *hcl.EvalContext
	absolute func(path string) string // by the rules of the file it stands in
	sources  *sources
}

// A StartMode says when a plugin's process starts.
type StartMode string

// The start modes.
const (
	StartEager StartMode = "eager" // with the host
	StartLazy  StartMode = "lazy"  // on first use
)

// A Sandbox is the sandbox block of a plugin: what it may do. Without one
// nothing is allowed but the plugin's own files and data folder.
type Sandbox struct {
	Place
	Mode    SandboxMode // default SandboxStrict
	Require []Guarantee // without these SandboxStrict refuses to run; default fs, net

	Read    []string // paths readable, with what is below
	Write   []string // paths readable and writable, with what is below
	Network bool     // everything; default false
	Hosts   []string // host:port, lower case: HTTP(S) to these alone; empty with Network
	Exec    bool     // may start other programs; default false

	Memory int64   // bytes; 0 (default): the sandbox's own bound, 512 MiB
	CPU    float64 // processors' worth of time; 0 (default): no bound
	PIDs   int     // processes and threads; 0 (default): the sandbox's own bound, 256
}

// A SandboxMode says what happens when a guarantee cannot be given.
type SandboxMode string

// The sandbox modes.
const (
	SandboxStrict     SandboxMode = "strict"      // refuse to run
	SandboxBestEffort SandboxMode = "best_effort" // run and warn
	SandboxOff        SandboxMode = "off"         // no sandbox at all
)

// A Guarantee names one thing that a sandbox can enforce.
type Guarantee string

// The guarantees.
const (
	GuaranteeFS       Guarantee = "fs"
	GuaranteeNet      Guarantee = "net"
	GuaranteeUnix     Guarantee = "unix"
	GuaranteeIPC      Guarantee = "ipc"
	GuaranteeProcTree Guarantee = "proc_tree"
	GuaranteeMemory   Guarantee = "memory"
	GuaranteeEgress   Guarantee = "egress"
)

// Guarantees lists all guarantees.
var Guarantees = []Guarantee{
	GuaranteeFS, GuaranteeNet, GuaranteeUnix, GuaranteeIPC, GuaranteeProcTree, GuaranteeMemory, GuaranteeEgress,
}

func defaultPlugin(handle string) *Plugin {
	return &Plugin{
		Handle:  handle,
		Timeout: 60 * time.Second,
		Start:   StartEager,
		Sandbox: Sandbox{Mode: SandboxStrict, Require: []Guarantee{GuaranteeFS, GuaranteeNet}},
	}
}
