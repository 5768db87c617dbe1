package plugin

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Options say what a plugin is and how it is run. Handle, Command and Logger
// must be set; the zero value of the rest works.
type Options struct {
	// Handle is the plugin's name in the configuration.
	Handle string
	// Command is the program and its arguments. A program without a slash is
	// looked up in PATH, one with a relative path in Dir.
	Command []string
	// Reattach names a process to use instead of starting one; nil is none.
	Reattach *Reattach
	// Dir is the working directory; empty is a private one.
	Dir string
	// Env is added to an environment that otherwise holds only PATH, HOME,
	// TMPDIR, XDG_*, LANG and TZ, and wins over those.
	Env map[string]string

	// RunDir is where private folders are made and removed; its path must be
	// short. Empty is a folder of the user's.
	RunDir string
	// DataDir is the plugin's own and kept across restarts; empty is none.
	DataDir string
	// OpenData, if set, gives the DataDir of a process before it is started. It
	// may wait until ctx is done.
	OpenData func(ctx context.Context) (string, error)
	// Launcher confines the plugin; nil does not.
	Launcher Launcher
	// MTLS demands mutual TLS on the socket.
	MTLS bool

	// Lazy starts the process on first use; [Plugin.Start] then starts it once
	// all the same, because the catalog is wanted.
	Lazy bool
	// IdleTimeout stops a process that had no call for so long, until the next
	// use; 0 never does.
	IdleTimeout time.Duration
	// StartTimeout bounds a start, from the fork to the first catalog; 0 is 20 s.
	StartTimeout time.Duration
	// Timeout bounds a use; 0 is 1 min. A tool's own timeout can only be shorter.
	Timeout time.Duration
	// MaxCalls bounds the uses that run at a time; 0 is 64. The plugin's own
	// limit can only be lower.
	MaxCalls int
	// MaxQueued bounds the uses that wait for their turn; 0 is 1024. One more is refused.
	MaxQueued int

	// HostVersion is what the host calls itself to the plugin.
	HostVersion string
	// Logger gets the life cycle, problems and the plugin's own log.
	Logger hclog.Logger

	// Configure makes the configuration for a process that described itself.
	// It is called once a start, with a context that the start bounds; nil
	// configures with nothing. An error of it is permanent.
	Configure func(context.Context, *Description) (*Configuration, error)

	// CachedCatalog is what StoreCatalog was given by an earlier run with the
	// same program and configuration; nil is none. With one, [Plugin.Start]
	// waits for no process: the catalog is there, and a process is started
	// behind it, or on first use if Lazy.
	CachedCatalog []byte
	// StoreCatalog is called with each new catalog, encoded; nil is not.
	StoreCatalog func([]byte)

	// Each of the callbacks is called by one goroutine at a time, in order. They
	// must not block and must not call the Plugin's Start, Close or Restart.

	// OnCatalog is called with each catalog that differs from the one before.
	OnCatalog func(*Catalog)
	// OnResourceUpdated is called when the plugin says that a resource changed.
	OnResourceUpdated func(uri string)
	// OnState is called after each change of state.
	OnState func(State)
}

// A Configuration is what a plugin gets to work with.
type Configuration struct {
	JSON    []byte            // an object, or nil for none
	Secrets map[string]string // handed over by RPC alone
}

// dataDir returns the data folder of the next process.
func (o *Options) dataDir(ctx context.Context) (string, error) {
	if o.OpenData == nil {
		return o.DataDir, nil
	}
	return o.OpenData(ctx)
}

func (o Options) withDefaults() Options {
	if o.RunDir == "" {
		o.RunDir = DefaultRunDir()
	}
	if o.Launcher == nil {
		o.Launcher = unconfined{}
	}
	setDefault(&o.StartTimeout, 20*time.Second)
	setDefault(&o.Timeout, time.Minute)
	setDefault(&o.MaxCalls, 64)
	setDefault(&o.MaxQueued, 1024)
	if o.Configure == nil {
		o.Configure = func(context.Context, *Description) (*Configuration, error) { return &Configuration{}, nil }
	}
	if o.OnCatalog == nil {
		o.OnCatalog = func(*Catalog) {}
	}
	if o.OnResourceUpdated == nil {
		o.OnResourceUpdated = func(string) {}
	}
	if o.OnState == nil {
		o.OnState = func(State) {}
	}
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	return o
}

func setDefault[T int | time.Duration](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}

// DefaultRunDir returns a folder for private folders that is the user's and
// whose path is short enough for sockets.
func DefaultRunDir() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && len(dir) < 40 {
		return filepath.Join(dir, "mcphost")
	}
	return fmt.Sprintf("/tmp/mcphost-%d", os.Geteuid())
}
