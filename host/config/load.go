package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
)

// Options are what a load takes from outside of the files.
type Options struct {
	// Vars are values of variables by name, as of -var NAME=VALUE. They beat
	// the environment, which beats the default.
	Vars map[string]string

	// Env looks up an environment variable; nil is [os.LookupEnv].
	Env func(name string) (string, bool)

	// Builtins are the names that the builtin argument of a plugin accepts.
	Builtins []string
}

// Bounds of what is read.
const (
	maxFileSize     = 1 << 20
	maxJSONFileSize = 128 << 10 // its strings are templates: small enough that no nesting can hurt
	maxFiles        = 1000
)

// Load reads files, and of each folder all *.hcl and *.hcl.json files as one
// config, in the order of their names; hidden files and *.lock.hcl are left out.
//
// The diagnostics are never nil and hold all problems at once. The config is
// nil if one of them is an error.
func Load(paths []string, opts Options) (*Config, *Diagnostics) {
	if opts.Env == nil {
		opts.Env = os.LookupEnv
	}
	src := newSources()
	files, diags := find(paths)
	bodies := make([]hcl.Body, 0, len(files))
	for _, name := range files {
		file, more := parse(name)
		diags = append(diags, more...)
		if file != nil {
			src.add(name, file)
			bodies = append(bodies, file.Body)
		}
	}
	if diags.HasErrors() { // half a file would only give complaints that follow from the first ones
		return nil, report(src, diags)
	}
	d := newDecoder(opts, src, files)
	d.decode(hcl.MergeBodies(bodies))
	d.check()
	if d.diags.HasErrors() {
		return nil, report(src, d.diags)
	}
	return d.config, report(src, d.diags)
}

// find returns the names of the files to read.
func find(paths []string) ([]string, hcl.Diagnostics) {
	var files []string
	var diags hcl.Diagnostics
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			diags = append(diags, NewError(Range{}, "Missing configuration", readProblem(path, err)))
		case !info.IsDir():
			files = append(files, path)
		default:
			found, diag := findIn(path)
			files = append(files, found...)
			if diag != nil {
				diags = append(diags, diag)
			}
		}
	}
	if len(files) == 0 && len(diags) == 0 {
		diags = append(diags, NewError(Range{}, "Missing configuration", "No configuration file is given."))
	}
	if len(files) > maxFiles {
		diags = append(diags, NewError(Range{}, "Missing configuration", fmt.Sprintf("There are %d files, but at most %d are read.", len(files), maxFiles)))
		files = nil
	}
	return files, diags
}

func findIn(dir string) ([]string, *hcl.Diagnostic) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, NewError(Range{}, "Missing configuration", readProblem(dir, err))
	}
	var files []string
	for _, e := range entries {
		if name := e.Name(); !e.IsDir() && isConfig(name) {
			files = append(files, filepath.Join(dir, name))
		}
	}
	if files == nil {
		return nil, NewError(Range{}, "Missing configuration", fmt.Sprintf("The folder %q has no *.hcl file.", dir))
	}
	return files, nil
}

func isConfig(name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".lock.hcl") {
		return false
	}
	return strings.HasSuffix(name, ".hcl") || strings.HasSuffix(name, ".hcl.json")
}

// parse reads one file; the file is nil if it could not be read at all.
func parse(name string) (*hcl.File, hcl.Diagnostics) {
	isJSON := strings.HasSuffix(name, ".json")
	limit := int64(maxFileSize)
	if isJSON {
		limit = maxJSONFileSize
	}
	src, err := readFile(name, limit)
	if err != nil {
		return nil, hcl.Diagnostics{NewError(Range{}, "Missing configuration", readProblem(name, err))}
	}
	if isJSON {
		return hcljson.Parse(src, name)
	}
	if diag := tooDeep(src, name); diag != nil {
		return &hcl.File{Bytes: src}, hcl.Diagnostics{diag}
	}
	return hclsyntax.ParseConfig(src, name, hcl.InitialPos)
}

var (
	errTooLarge   = errors.New("too large")
	errNotRegular = errors.New("not a regular file")
)

// readFile reads a regular file of at most limit bytes. A pipe or a device
// would never end, or would block.
func readFile(name string, limit int64) (_ []byte, err error) {
	if info, err := os.Stat(name); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	src, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(src)) > limit {
		return nil, fmt.Errorf("%w: at most %d bytes", errTooLarge, limit)
	}
	return src, nil
}

// readProblem is the sentence for a file that cannot be read.
func readProblem(name string, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("There is no file %q.", name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("The file %q cannot be read: permission denied.", name)
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Sprintf("The file %q cannot be read: %v.", name, err)
}

// Bounds of nesting. The parser and the evaluator recurse, and a stack that
// overflows ends the process.
const (
	maxDepth     = 100
	maxOperators = 10_000
	maxIndexes   = 50_000
)

// tooDeep looks at the tokens alone.
func tooDeep(src []byte, name string) *hcl.Diagnostic {
	tokens, diags := hclsyntax.LexConfig(src, name, hcl.InitialPos)
	if diags.HasErrors() {
		return nil // the parser says it better
	}
	depth, operators, indexes := 0, 0, 0
	for _, t := range tokens {
		switch {
		case slices.Contains(opening, t.Type):
			depth++
			if t.Type == hclsyntax.TokenOBrack {
				indexes++
			}
		case slices.Contains(closing, t.Type):
			depth--
		case t.Type < 128 && strings.ContainsRune("!-+*/%<>?", rune(t.Type)), slices.Contains(longOperators, t.Type):
			operators++
		}
		if depth > maxDepth || operators > maxOperators || indexes > maxIndexes {
			return NewError(t.Range, "Nested too deeply", fmt.Sprintf("Expressions and blocks may nest %d deep, and a file may have %d operators.", maxDepth, maxOperators))
		}
	}
	return nil
}

var (
	opening = []hclsyntax.TokenType{
		hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenTemplateInterp,
	}
	closing = []hclsyntax.TokenType{
		hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd,
	}
	longOperators = []hclsyntax.TokenType{
		hclsyntax.TokenAnd, hclsyntax.TokenOr, hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual,
		hclsyntax.TokenLessThanEq, hclsyntax.TokenGreaterThanEq, hclsyntax.TokenTemplateControl,
	}
)
