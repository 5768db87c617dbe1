package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// maxFileValue bounds what the file function reads.
const maxFileValue = 1 << 20

// A callError is a complaint of one of our functions.
type callError struct{ summary, detail string }

func (e *callError) Error() string { return e.detail }

// scope returns the names that an expression in this file can use. It differs
// by file because relative paths are relative to it.
func (d *decoder) scope(filename string) *hcl.EvalContext {
	if ctx, ok := d.scopes[filename]; ok {
		return ctx
	}
	dir := d.dir(filename)
	ctx := &hcl.EvalContext{
		Variables: map[string]cty.Value{
			"path": cty.ObjectVal(map[string]cty.Value{
				"config_dir": cty.StringVal(dir),
				"home":       cty.StringVal(d.home()),
				"cwd":        cty.StringVal(d.dir("")),
			}),
		},
		Functions: map[string]function.Function{
			"env":  envFunction(d.opts.Env),
			"file": fileFunction(func(name string) string { return d.absolute(dir, name) }),
			"path": pathFunction(func(name string) string { return d.absolute(dir, name) }),
		},
	}
	if d.vars != nil {
		ctx.Variables["var"] = cty.ObjectVal(d.vars)
	}
	d.scopes[filename] = ctx
	return ctx
}

// dir returns the folder of a config file; that of the process for none.
func (d *decoder) dir(filename string) string {
	if filename == "" {
		filename = "x"
	}
	abs, err := filepath.Abs(filename)
	if err != nil { // the working folder is gone: keep what was given
		return filepath.Dir(filename)
	}
	return filepath.Dir(abs)
}

// home returns the user's folder, empty if it is not known.
func (d *decoder) home() string {
	if home, ok := d.opts.Env("HOME"); ok && home != "" {
		return home
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}

// absolute returns the path that a name written in a file of this folder means.
func (d *decoder) absolute(dir, name string) string {
	if rest, ok := strings.CutPrefix(name, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		return filepath.Join(d.home(), rest)
	}
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// envFunction is env(name) and env(name, default).
func envFunction(lookup func(string) (string, bool)) function.Function {
	return function.New(&function.Spec{
		Params:   []function.Parameter{{Name: "name", Type: cty.String}},
		VarParam: &function.Parameter{Name: "default", Type: cty.String},
		Type:     function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			name := args[0].AsString()
			if len(args) > 2 {
				return cty.NilVal, &callError{"Too many arguments", "The function env takes the name of a variable and perhaps a default."}
			}
			if s, ok := lookup(name); ok {
				return validText(s, fmt.Sprintf("The environment variable %q", name))
			}
			if len(args) == 2 {
				return args[1], nil
			}
			return cty.NilVal, &callError{
				"Missing environment variable",
				fmt.Sprintf("The environment variable %q is not set. Set it, or give a default: env(%q, \"...\").", name, name),
			}
		},
	})
}

// fileFunction is file(path): the text of a file, less one line end at its end.
func fileFunction(absolute func(string) string) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "path", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			name := absolute(args[0].AsString())
			b, err := readFile(name, maxFileValue)
			if err != nil {
				return cty.NilVal, &callError{"Unreadable file", readProblem(name, err)}
			}
			s, cut := strings.CutSuffix(string(b), "\n")
			if cut {
				s = strings.TrimSuffix(s, "\r")
			}
			return validText(s, fmt.Sprintf("The file %q", name))
		},
	})
}

// pathFunction is path(name): an absolute path, by the rules of every path in the file.
func pathFunction(absolute func(string) string) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "name", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.StringVal(absolute(args[0].AsString())), nil
		},
	})
}

func validText(s, what string) (cty.Value, error) {
	if !utf8.ValidString(s) {
		return cty.NilVal, &callError{"Invalid text", what + " is not UTF-8 text."}
	}
	return cty.StringVal(s), nil
}
