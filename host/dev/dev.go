// Package dev finds out how a folder becomes a running plugin, builds it, and
// says which folders its sources are in.
//
// It starts no plugin: it writes a configuration for the one in the folder, and
// the rest of the house runs that as it runs any other.
package dev

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// ConfigName is the file of a folder that says more than convention does. It is
// an ordinary configuration; var.plugin is the command and var.files are the
// files that convention found.
const ConfigName = "mcphost-dev.hcl"

// A Project is the folder of one plugin.
type Project struct {
	Folder string // absolute
	Name   string // a handle made of the folder's name

	command []string // what to run once it is built
	files   []string // what belongs to it beside the command
	scratch string   // a folder of ours
	build   func(context.Context) error
	sources func(context.Context) []string
}

// Open looks at a folder. Scratch is an empty folder for what is made of it;
// its owner removes it.
func Open(folder, scratch string) (*Project, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(folder); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%q is no folder", folder)
	}
	name := strings.Trim(regexp.MustCompile(`[^A-Za-z0-9_.-]+`).ReplaceAllString(filepath.Base(folder), "-"), "-_.")
	if name == "" {
		name = "plugin"
	}
	p := &Project{Folder: folder, Name: name, scratch: scratch, files: []string{folder}}
	p.build = func(context.Context) error { return nil }
	p.sources = func(context.Context) []string { return below(folder) }
	for _, kind := range []func(*Project) bool{goPackage, python, node, script} {
		if kind(p) {
			return p, nil
		}
	}
	return nil, fmt.Errorf("%q is no plugin that can be recognized: it has no *.go files, no plugin.py, no package.json and no executable plugin or plugin.sh", folder)
}

// goPackage is built by the go command.
func goPackage(p *Project) bool {
	if files, err := filepath.Glob(filepath.Join(p.Folder, "*.go")); err != nil || len(files) == 0 {
		return false
	}
	binary := filepath.Join(p.scratch, p.Name)
	p.command, p.files = []string{binary}, nil
	p.build = func(ctx context.Context) error {
		next := binary + ".next"
		if err := p.run(ctx, "go", "build", "-o", next, "."); err != nil {
			return err
		}
		return os.Rename(next, binary) // in one step: what runs keeps the old one
	}
	p.sources = func(ctx context.Context) []string {
		// The packages of the same module that it is made of.
		cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-f", "{{with .Module}}{{if .Main}}{{$.Dir}}{{end}}{{end}}", ".")
		cmd.Dir = p.Folder
		out, err := cmd.Output()
		if err != nil {
			return []string{p.Folder}
		}
		return append(strings.Fields(string(out)), p.Folder)
	}
	return true
}

func python(p *Project) bool {
	main := filepath.Join(p.Folder, "plugin.py")
	if !isFile(main) {
		return false
	}
	p.command = []string{"python3", main}
	for _, venv := range []string{".venv", "venv"} {
		if own := filepath.Join(p.Folder, venv, "bin", "python3"); isFile(own) {
			p.command[0] = own
			break
		}
	}
	return true
}

// node runs the main file of package.json, after its build script if it has one.
func node(p *Project) bool {
	text, err := os.ReadFile(filepath.Join(p.Folder, "package.json"))
	if err != nil {
		return false
	}
	var about struct {
		Main    string
		Scripts map[string]string
	}
	if json.Unmarshal(text, &about) != nil || about.Main == "" {
		about.Main = "index.js"
	}
	p.command = []string{"node", filepath.Join(p.Folder, about.Main)}
	if about.Scripts["build"] != "" {
		p.build = func(ctx context.Context) error { return p.run(ctx, "npm", "run", "--silent", "build") }
	}
	return true
}

func script(p *Project) bool {
	for _, name := range []string{"plugin", "plugin.sh"} {
		path := filepath.Join(p.Folder, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			p.command = []string{path}
			return true
		}
	}
	return false
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Build makes what is run of the sources. Its error holds what the builder
// printed; what was built before stays then.
func (p *Project) Build(ctx context.Context) error { return p.build(ctx) }

// Sources returns the folders in which a change makes another plugin.
func (p *Project) Sources(ctx context.Context) []string { return p.sources(ctx) }

func (p *Project) run(ctx context.Context, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = p.Folder
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return fmt.Errorf("%s %s: %w\n%s", program, args[0], err, bytes.TrimSpace(out))
	case err != nil:
		return fmt.Errorf("building: %w", err)
	}
	return nil
}

// maxFolders bounds how much of a folder is watched.
const maxFolders = 1000

// apart are folders that hold no sources.
var apart = map[string]bool{
	"node_modules": true, "__pycache__": true, "dist": true, "build": true, "target": true, "out": true, "venv": true,
}

// below returns folder and the folders in it, less those without sources.
func below(folder string) []string {
	var list []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return nil //nolint:nilerr // what cannot be read is not watched
		case path != folder && (apart[d.Name()] || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case len(list) == maxFolders:
			return fs.SkipAll
		}
		list = append(list, path)
		return nil
	})
	if err != nil {
		return []string{folder}
	}
	return list
}
