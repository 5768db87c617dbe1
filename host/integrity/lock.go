package integrity

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"golang.org/x/text/unicode/norm"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/primitive"
)

// LockName is the name of the lock file, which lies beside the configuration.
const LockName = "mcphost.lock.hcl"

const maxLock = 64 << 20

// A Lock is what the operator accepted of each plugin, by handle.
type Lock struct {
	Entries map[string]*Entry
}

// An Entry is what was accepted of one plugin.
type Entry struct {
	Handle  string
	Version string // what the plugin calls itself; it decides nothing
	// Program and Files are digests by platform; empty is not pinned.
	Program, Files map[string]string
	// OpenResources says that its resources are not pinned: they come and go.
	OpenResources bool
	Definitions   []Definition // sorted
}

// find returns the definition, nil if it is not there.
func (e *Entry) find(i id) *Definition {
	if e == nil {
		return nil
	}
	n, ok := slices.BinarySearchFunc(e.Definitions, i, func(d Definition, i id) int { return compareIDs(d.id(), i) })
	if !ok {
		return nil
	}
	return &e.Definitions[n]
}

// Open leaves the resources of the plugin, whose list is its content, unpinned.
func (e *Entry) Open() {
	e.OpenResources = true
	word := kindWord(primitive.KindResource)
	e.Definitions = slices.DeleteFunc(e.Definitions, func(d Definition) bool { return d.Kind == word })
}

// Define adds definitions, which e has not yet.
func (e *Entry) Define(list ...Definition) {
	e.Definitions = append(e.Definitions, list...)
	sortDefinitions(e.Definitions)
}

type lockFile struct {
	Plugins []lockPlugin `hcl:"plugin,block"`
}

type lockPlugin struct {
	Handle        string            `hcl:"handle,label"`
	Version       string            `hcl:"version,optional"`
	SHA256        map[string]string `hcl:"sha256,optional"`
	Files         map[string]string `hcl:"files,optional"`
	OpenResources bool              `hcl:"open_resources,optional"`
	Instructions  []lockText        `hcl:"instructions,block"`
	Tools         []lockDefinition  `hcl:"tool,block"`
	Prompts       []lockDefinition  `hcl:"prompt,block"`
	Resources     []lockDefinition  `hcl:"resource,block"`
	Templates     []lockDefinition  `hcl:"resource_template,block"`
}

type lockText struct {
	SHA256     string `hcl:"sha256"`
	Definition string `hcl:"definition"`
}

type lockDefinition struct {
	Name       string `hcl:"name,label"`
	SHA256     string `hcl:"sha256"`
	Definition string `hcl:"definition"`
}

// ParseLock reads a lock file. An error says where, and what to do.
func ParseLock(src []byte, name string) (*Lock, error) {
	file, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	var raw lockFile
	if !diags.HasErrors() {
		diags = gohcl.DecodeBody(file.Body, nil, &raw)
	}
	if diags.HasErrors() {
		return nil, fmt.Errorf("reading the lock file: %w; restore it, or remove it and run \"mcphost lock\"", diags)
	}
	l := &Lock{Entries: make(map[string]*Entry, len(raw.Plugins))}
	for i := range raw.Plugins {
		e, err := raw.Plugins[i].entry()
		if err == nil && l.Entries[e.Handle] != nil {
			err = errors.New("it is there twice")
		}
		if err != nil {
			return nil, fmt.Errorf("reading the lock file %s: plugin %q: %w; restore it, or remove it and run \"mcphost lock\"", name, raw.Plugins[i].Handle, err)
		}
		l.Entries[e.Handle] = e
	}
	return l, nil
}

var hexSum = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (p *lockPlugin) entry() (*Entry, error) {
	e := &Entry{Handle: p.Handle, Version: p.Version, Program: p.SHA256, Files: p.Files, OpenResources: p.OpenResources}
	for _, sums := range []map[string]string{p.SHA256, p.Files} {
		for platform, sum := range sums {
			if !hexSum.MatchString(sum) {
				return nil, fmt.Errorf("the digest for %s has not 64 hexadecimal digits", platform)
			}
		}
	}
	all := map[string][]lockDefinition{"tool": p.Tools, "prompt": p.Prompts, "resource": p.Resources, "resource_template": p.Templates}
	for _, text := range p.Instructions {
		all[Instructions] = append(all[Instructions], lockDefinition{"", text.SHA256, text.Definition})
	}
	for kind, list := range all {
		for _, d := range list {
			made, err := d.definition(kind)
			if err != nil {
				return nil, err
			}
			e.Definitions = append(e.Definitions, made)
		}
	}
	sortDefinitions(e.Definitions)
	for i := range e.Definitions[min(1, len(e.Definitions)):] {
		if twin := e.Definitions[i].id(); twin == e.Definitions[i+1].id() {
			return nil, fmt.Errorf("%s is there twice", twin)
		}
	}
	return e, nil
}

// names are the members that hold the name of a definition.
var names = map[string]string{"tool": "name", "prompt": "name", "resource": "uri", "resource_template": "uriTemplate"}

func (d *lockDefinition) definition(kind string) (Definition, error) {
	text := []byte(d.Definition)
	if err := jsonrpc.Check(text); err != nil || !jsonrpc.IsObject(text) {
		return Definition{}, fmt.Errorf("the definition of %s is not a JSON object", id{kind, d.Name})
	}
	made := define(kind, d.Name, text)
	if made.SHA256 != d.SHA256 {
		return Definition{}, fmt.Errorf("the definition of %s does not match its digest: it was edited", made.id())
	}
	made.Name = ""
	if v := jsonrpc.Lookup(made.Text, names[kind]); v != nil && names[kind] != "" {
		made.Name, _ = jsonrpc.String(v)
	}
	// HCL composes what it reads, so that the label is the name for people alone.
	if norm.NFC.String(made.Name) != norm.NFC.String(d.Name) {
		return Definition{}, fmt.Errorf("the definition of %s is called %s", id{kind, d.Name}, quote(made.Name))
	}
	return made, nil
}

// ReadLock reads the lock file at path; nil if there is none.
func ReadLock(path string) (*Lock, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no lock file is no error: nothing is pinned
	}
	if err != nil {
		return nil, fmt.Errorf("reading the lock file: %w", err)
	}
	src, err := io.ReadAll(io.LimitReader(f, maxLock+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("reading the lock file: %w", err)
	}
	if len(src) > maxLock {
		return nil, fmt.Errorf("reading the lock file: %s has more than %d bytes", path, maxLock)
	}
	return ParseLock(src, path)
}

// A File is a lock file that is read again when it changed. Its methods may be
// called concurrently.
type File struct {
	path string

	mu   sync.Mutex // guards what follows
	seen string     // what it looked like when it was read; empty: not read
	lock *Lock
	err  error
}

// NewFile returns the lock file at path, which need not exist.
func NewFile(path string) *File { return &File{path: path} }

// Path returns where the file is.
func (f *File) Path() string { return f.path }

// Entry returns what was accepted of the plugin, nil if the file does not know
// it or does not exist. After an error nothing is known, and nothing may run.
func (f *File) Entry(handle string) (*Entry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if look := looks(f.path); f.seen == "" || look != f.seen {
		f.lock, f.err = ReadLock(f.path)
		f.seen = look
	}
	if f.err != nil || f.lock == nil {
		return nil, f.err
	}
	return f.lock.Entries[handle], nil
}

// looks returns what tells one state of a file from the next; empty if that
// cannot be told.
func looks(path string) string {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "none"
	case err != nil || time.Since(info.ModTime()) < settled:
		return "" // one that was written just now may be written once more without a trace
	}
	return fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
}

// Platforms returns the platforms that the entry has digests for, sorted.
func (e *Entry) Platforms() []string {
	var list []string
	for _, sums := range []map[string]string{e.Program, e.Files} {
		for platform := range sums {
			if !slices.Contains(list, platform) {
				list = append(list, platform)
			}
		}
	}
	slices.Sort(list)
	return list
}

// Definitions returns how many definitions l has.
func (l *Lock) Definitions() int {
	n := 0
	for _, e := range l.Entries {
		n += len(e.Definitions)
	}
	return n
}
