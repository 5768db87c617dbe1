package config

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// isShim reports whether file is a stand-in of a version manager (pyenv, rbenv,
// nodenv, asdf, mise), which finds the program when it is run and by programs
// of its own. A sandbox has no place for that: what runs must be known before.
func isShim(file string) bool {
	return filepath.Base(filepath.Dir(file)) == "shims"
}

const aboutShims = "It finds the program when it is run, which a sandbox does not allow, and any folder's settings can change what it finds"

// checkArguments warns of arguments that are files which the plugin would not
// find, or could not read.
func (d *decoder) checkArguments(p *Plugin) {
	if p.Sandbox.Mode == SandboxOff || len(p.Command) < 2 {
		return
	}
	granted := append(append(append([]string(nil), p.Files...), p.Sandbox.Read...), p.Sandbox.Write...)
	for i, arg := range p.Command[1:] {
		at := p.At("command", strconv.Itoa(i+1))
		switch {
		case !filepath.IsAbs(arg):
			if strings.Contains(arg, ".") && isFile(filepath.Join(d.dir(at.Filename), arg)) {
				d.warnf(at, "Relative argument", "A plugin runs in a private folder, where there is no %q. To name the file beside this one, write \"./%s\".", arg, arg)
			}
		case isFile(arg) && !within(arg, granted):
			d.warnf(at, "Unreadable file", "The sandbox does not let the plugin read %q. If it is the plugin's own, name it or its folder in files; for all else, there is read in the sandbox block.", arg)
		}
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// systemFolders are readable by every plugin. They are not the whole list: what
// is missing here costs a warning that is not due.
var systemFolders = []string{"/usr", "/bin", "/lib", "/nix/store"}

func within(path string, folders []string) bool {
	for _, folder := range append(folders, systemFolders...) {
		if path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/") {
			return true
		}
	}
	return false
}
