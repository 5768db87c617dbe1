package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcphost/mcphost/sdk"
)

// version is the plugin's own.
const version = "0.1.0"

// timeout bounds every walk and read: a tree may be on a slow disk and without end.
const timeout = 20 * time.Second

// settings is the config block.
type settings struct {
	Root  string   `json:"root,omitempty" path:"true" jsonschema:"the folder to serve, an absolute path or one below ~"`
	Roots []string `json:"roots,omitempty" path:"true" jsonschema:"several folders to serve; each is known by its last name"`
}

var _ sdk.Validator = settings{}

// Validate looks at the words alone: a check has no side effects and need not see the folders.
func (s settings) Validate() error {
	var problems sdk.Diagnostics
	if (s.Root == "") == (len(s.Roots) == 0) {
		problems = append(problems, sdk.Invalid("", "Which folder?", "Set root to the folder to serve, or roots to several."))
	}
	seen := map[string]string{}
	for pointer, path := range s.paths() {
		if !filepath.IsAbs(path) && path != "~" && !strings.HasPrefix(path, "~/") {
			problems = append(problems, sdk.Invalid(pointer, "Relative path", "%q is relative; write path(%q) for a folder beside this file.", path, path))
		}
		name := filepath.Base(path)
		if other, ok := seen[name]; ok {
			problems = append(problems, sdk.Invalid(pointer, "Name in use", "%q and %q would both be known as %q.", other, path, name))
		}
		seen[name] = path
	}
	if problems == nil {
		return nil
	}
	return problems
}

// paths yields each folder with the JSON Pointer to it.
func (s settings) paths() func(yield func(pointer, path string) bool) {
	return func(yield func(string, string) bool) {
		if s.Root != "" && !yield("/root", s.Root) {
			return
		}
		for i, path := range s.Roots {
			if !yield(fmt.Sprintf("/roots/%d", i), path) {
				return
			}
		}
	}
}

// newPlugin returns the plugin; its folders come with the configuration.
func newPlugin() *sdk.Plugin {
	p := sdk.New("files", version, sdk.WithExample("config { root = \"~/notes\" }\nsandbox { read = [\"~/notes\"] }"), sdk.WithInstructions(
		"Paths are relative to the served folder and use slashes. Start with list or find; search looks for text inside of files; read large files by ranges."))
	t := &tree{}
	sdk.Configure(p, func(_ context.Context, _ sdk.Setup, s settings) error { return t.open(s) })
	tool := func(name, title, description string) sdk.Tool {
		return sdk.Tool{Name: name, Title: title, Description: description, ReadOnly: sdk.Yes, Idempotent: sdk.Yes, OpenWorld: sdk.No}
	}
	sdk.AddTool(p, tool("read", "Read file", "Reads a file: text by a range of lines or bytes, pictures, sounds and other binaries with their type."), limited(t.read))
	sdk.AddTool(p, tool("list", "List folder", "Lists a folder, or the tree below it to a given depth."), limited(t.list))
	sdk.AddTool(p, tool("find", "Find files by name", "Finds files and folders whose path matches a glob: * and ? within a name, ** across folders, [a-z], {a,b}."), limited(t.find))
	sdk.AddTool(p, tool("search", "Search text", "Finds the lines of text files that hold a text or match a regular expression (RE2)."), limited(t.search))
	p.AddTemplate(sdk.Template{
		URITemplate: "file:///{+path}", Name: "file", Title: "File", Description: "A file below the served folder, by its path.",
	}, t.resource)
	return p
}

// limited gives a tool the time that it may take.
func limited[In, Out any](fn sdk.ToolFunc[In, Out]) sdk.ToolFunc[In, Out] {
	return func(ctx context.Context, c *sdk.Call, in In) (Out, error) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		return fn(ctx, c, in)
	}
}

// open opens the configured folders.
func (t *tree) open(s settings) error {
	var problems sdk.Diagnostics
	var places []place
	for pointer, path := range s.paths() {
		root, dir, err := openRoot(path)
		if err != nil {
			problems = append(problems, sdk.Invalid(pointer, "Folder cannot be served", "%v. It must exist and be readable in the plugin's sandbox: sandbox { read = [%q] }.", err, path))
			continue
		}
		name := ""
		if s.Root == "" {
			name = filepath.Base(dir)
		}
		places = append(places, place{name: name, dir: dir, root: root})
	}
	if problems != nil {
		return problems
	}
	t.places = places
	return nil
}

func openRoot(path string) (*os.Root, string, error) {
	if path == "~" || strings.HasPrefix(path, "~/") {
		home, err := homeDir()
		if err != nil {
			return nil, "", err
		}
		path = filepath.Join(home, path[1:])
	}
	path = filepath.Clean(path)
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, "", fmt.Errorf("opening %s: %w", path, cause(err))
	}
	return root, path, nil
}

// homeDir returns the user's folder as the system knows it: HOME may be a private one that the host made.
func homeDir() (string, error) {
	if u, err := user.Current(); err == nil && u.HomeDir != "" {
		return u.HomeDir, nil
	}
	return os.UserHomeDir()
}

// cause returns what a file operation stumbled over, without the path, which may be nobody's business.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
