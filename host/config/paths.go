package config

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// dir returns the folder of the file in which the argument stands.
func (a value) dir() string { return a.d.dir(a.expr.Range().Filename) }

func paths(a value) ([]string, bool) {
	list, good := texts(a)
	for i, s := range list {
		if good && (s == "" || strings.ContainsRune(s, 0)) {
			a.wrong(a.at(strconv.Itoa(i)), "a list of paths, and this is none")
			good = false
		}
		list[i] = a.d.absolute(a.dir(), s)
	}
	return list, good
}

func builtin(a value) (string, bool) {
	s, ok := text(a)
	if !ok {
		return "", false
	}
	name, found := pick(s, a.d.opts.Builtins)
	if !found {
		a.d.errorf(a.at(), "Unknown builtin", "There is no bundled plugin %q%s.%s", s, known(a.d.opts.Builtins), didYouMean(s, a.d.opts.Builtins))
	}
	return name, found
}

func known(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; there are " + listing(names)
}

// command reads what to run: one string or a list. Arguments that begin with
// ./, ../ or ~/ are paths, relative to the file like the program itself.
func command(a value) ([]string, bool) {
	if s, ok := asString(a.v); ok {
		return []string{s}, a.notEmpty(s)
	}
	list, good := texts(a)
	if !good {
		return nil, false
	}
	if len(list) == 0 {
		return nil, a.notEmpty("")
	}
	for i, s := range list[1:] {
		for _, start := range []string{"./", "../", "~/"} {
			if strings.HasPrefix(s, start) {
				list[i+1] = a.d.absolute(a.dir(), s)
			}
		}
	}
	return list, a.notEmpty(list[0])
}

func (a value) notEmpty(program string) bool {
	if program == "" || strings.ContainsRune(program, 0) {
		a.wrong(a.at(), `a program and its arguments, such as ["./bin/plugin", "-v"]`)
		return false
	}
	return true
}

// resolve makes the program of a command absolute: a bare name is looked up on
// PATH, once, here. It complains if there is no such program to run.
func (d *decoder) resolve(p *Plugin) {
	if len(p.Command) == 0 {
		return
	}
	at, name := p.At("command", "0"), p.Command[0]
	if !strings.ContainsAny(name, `/\`) && name != "~" {
		found, shim := d.lookPath(name, p.Sandbox.Mode == SandboxOff)
		switch {
		case found == "" && shim != "":
			d.errorf(at, "Command is a shim", "On PATH, %q is %q, the shim of a version manager. %s. Write the path of the program itself.", name, shim, aboutShims)
			return
		case found == "":
			d.errorf(at, "Missing command", "There is no program %q on PATH. To run a file beside this one, write \"./%s\".", name, name)
			return
		case shim != "":
			d.warnf(at, "Command is a shim", "First on PATH, %q is %q, the shim of a version manager. %s. So this runs %q; write a path to run another program.", name, shim, aboutShims, found)
		}
		p.Command[0] = found
		return
	}
	p.Command[0] = d.absolute(d.dir(at.Filename), name)
	if problem := runnable(p.Command[0]); problem != "" {
		d.errorf(at, "Missing command", "%s", problem)
	} else if isShim(p.Command[0]) && p.Sandbox.Mode != SandboxOff {
		d.errorf(at, "Command is a shim", "The file %q is the shim of a version manager. %s. Write the path of the program itself.", p.Command[0], aboutShims)
	}
}

// lookPath returns the program that PATH has for a bare name, and the shim that
// comes before it, which it passes over unless shims will do. Empty is none.
func (d *decoder) lookPath(name string, shims bool) (file, shim string) {
	list, _ := d.opts.Env("PATH") // without one nothing is found
	for _, dir := range filepath.SplitList(list) {
		if !filepath.IsAbs(dir) { // the program must not depend on where the host is started
			continue
		}
		for _, suffix := range executableSuffixes() {
			file := filepath.Join(dir, name+suffix)
			switch {
			case runnable(file) != "":
			case isShim(file) && !shims:
				shim = file
			default:
				return file, shim
			}
		}
	}
	return "", shim
}

func executableSuffixes() []string {
	if runtime.GOOS == "windows" {
		return []string{"", ".exe"}
	}
	return []string{""}
}

// runnable says why a file cannot be run, in a sentence; empty if it can.
func runnable(file string) string {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return readProblem(file, err) + " Is it built?"
	case info.IsDir():
		return fmt.Sprintf("The path %q is a folder; a command is a program.", file)
	case !info.Mode().IsRegular():
		return fmt.Sprintf("The path %q is not a regular file.", file)
	case runtime.GOOS != "windows" && info.Mode()&0o111 == 0:
		return fmt.Sprintf("The file %q is not executable. Run `chmod +x` on it, or name its interpreter: command = [\"python3\", \"./plugin.py\"].", file)
	}
	return ""
}

// webPath checks the label of a web block.
// metricsPath reads the path of metrics, which no web block may have.
func (d *decoder) metricsPath(a value) (string, bool) {
	s, ok := text(a)
	if !ok || !d.webPath(s, a.at()) {
		return "", false
	}
	return s, d.once("web "+s, a.at(), "Duplicate path", fmt.Sprintf("The path %q is given to a web block and to metrics", s))
}

func (d *decoder) webPath(s string, at Range) bool {
	bad := !strings.HasPrefix(s, "/") || path.Clean(s) != s || strings.HasPrefix(s, "/.well-known")
	for i := 0; i < len(s) && !bad; i++ {
		c := s[i]
		bad = c != '/' && c != '.' && c != '-' && c != '_' && c != '~' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z')
	}
	if bad {
		d.errorf(at, "Invalid path", `The path of a web block begins with a slash and does not end with one; it has letters, digits, and . - _ ~ between slashes, and is not below "/.well-known". %q is not such a path.`, s)
	}
	return !bad
}
