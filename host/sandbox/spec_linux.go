package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// Descriptors that the launcher inherits.
const (
	specFD    = 3 // the spec, a file in memory
	controlFD = 4 // the reports, a stream socket; closed when the plugin runs
)

// How far the plugin may go on the network.
const (
	netNone  = "none"
	netProxy = "proxy" // to proxyAddr in its own network namespace
	netAll   = "all"
)

// proxyPort is where the plugin finds the way out, in a namespace of its own
// where nothing else listens.
const proxyPort = 3128

// spec is all that the launcher is told. It goes through a descriptor because
// arguments and environment are for everyone on the machine to read.
type spec struct {
	Path string   `json:"path"`
	Args []string `json:"args"`
	Env  []string `json:"env"`
	Dir  string   `json:"dir"`

	Mode    Mode        `json:"mode"`
	Require []Guarantee `json:"require"`

	Folders []string `json:"folders"`
	Files   []string `json:"files"`
	Read    []string `json:"read"`
	Write   []string `json:"write"`
	System  []string `json:"system"`
	Exec    []string `json:"exec"`
	Network string   `json:"network"`

	Namespaces bool   `json:"namespaces"` // the process was made in new ones
	NoSpaces   string `json:"noSpaces"`   // why not
	OwnNet     bool   `json:"ownNet"`     // the network namespace is among them

	NoLandlock bool `json:"noLandlock,omitempty"`
	NoSeccomp  bool `json:"noSeccomp,omitempty"`

	Data      uint64 `json:"data"`
	OpenFiles uint64 `json:"openFiles"`
	FileSize  uint64 `json:"fileSize"`
	Pids      uint64 `json:"pids"`

	Memory   string `json:"memory"`   // what the host holds memory with
	ProcTree string `json:"procTree"` // what the host ends the whole tree with, or ""

	Probe bool `json:"probe,omitempty"` // report and run nothing
}

// file puts s into memory, sealed, for the launcher to inherit.
func (s *spec) file() (*os.File, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	fd, err := unix.MemfdCreate("mcphost-sandbox", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making a file in memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), "sandbox spec")
	if _, err = f.Write(data); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("writing the sandbox spec: %w", err)
	}
	return f, nil
}

func readSpec(f io.ReadCloser) (*spec, error) {
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("reading the sandbox spec: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	var s spec
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("reading the sandbox spec: %w", err)
	}
	return &s, nil
}

// leaveOutMissing drops granted paths that are not there, which give nothing,
// and returns a note for each.
func (s *spec) leaveOutMissing() (notes []string) {
	for what, paths := range map[string]*[]string{"read": &s.Read, "write": &s.Write, "exec": &s.Exec} {
		*paths = slices.DeleteFunc(*paths, func(path string) bool {
			_, err := os.Stat(path)
			missing := path != anyProgram && errors.Is(err, fs.ErrNotExist)
			if missing {
				notes = append(notes, fmt.Sprintf("%s %q: it does not exist, and is left out until the next start", what, path))
			}
			return missing
		})
	}
	slices.Sort(notes)
	return notes
}

// message is one line of the launcher to the host: a report first, and then,
// only if the plugin could not be run after all, a failure.
type message struct {
	Report *Report      `json:"report,omitempty"`
	Failed *LaunchError `json:"failed,omitempty"`
}
