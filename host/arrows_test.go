package host_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// arrows is the plan of the house: for each package, the packages of this
// module that it may import. Floors go from the ground to the roof; see
// docs/design/architecture.md.
var arrows = map[string][]string{
	// Ground: words and tools. They know nothing of MCP's wire.
	"proto/mcphost/plugin/v1": {},
	"host/primitive":          {},
	"host/jsonrpc":            {},
	"host/config":             {},
	"host/events":             {},
	"host/seal":               {},
	"host/telemetry":          {},
	"host/catalogcache":       {},
	"host/control":            {},
	"host/datalock":           {},
	"host/dev":                {"host/filewatch"},
	"host/filewatch":          {},
	"host/integrity":          {"host/datalock", "host/jsonrpc", "host/primitive"},
	"host/sandbox":            {"host/sandbox/egress"},
	"host/sandbox/egress":     {},
	"host/schema":             {"host/jsonrpc", "host/primitive"},

	// Shared words of MCP.
	"host/mcp": {"host/jsonrpc", "host/primitive", "host/schema"},

	// The catalogs, the plugins, and the wire. Packages on one shelf do not
	// import each other.
	"host/registry": {"host/config", "host/events", "host/jsonrpc", "host/mcp", "host/primitive", "host/schema"},

	"host/plugin": {"host/jsonrpc", "host/primitive", "host/sandbox", "proto/mcphost/plugin/v1"},

	"host/mcp/legacy": {"host/jsonrpc", "host/mcp", "host/primitive"},
	"host/mcp/modern": {"host/jsonrpc", "host/mcp", "host/primitive", "host/seal"},
	"host/mcp/server": {"host/jsonrpc", "host/mcp", "host/primitive"},

	"host/mcp/stdio":      {"host/jsonrpc", "host/mcp", "host/primitive"},
	"host/mcp/streamhttp": {"host/jsonrpc", "host/mcp", "host/primitive"},

	// Roof.
	"host":        {"*"},
	"cmd/mcphost": {"host", "host/config", "host/control", "host/dev", "host/integrity", "host/sandbox"},

	// Plugin authors' side: never host.
	"sdk":                {"proto/mcphost/plugin/v1"},
	"sdk/sdktest":        {"sdk", "proto/mcphost/plugin/v1"},
	"plugins/clock":      {"sdk"},
	"plugins/files":      {"sdk"},
	"plugins/everything": {"sdk"},
}

func TestArrows(t *testing.T) {
	const module = "github.com/mcphost/mcphost/"
	root := ".."
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == "testdata" || name == "node_modules" || name == "tools" || name == "test" || file != root && strings.HasPrefix(name, ".") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		pkg := path.Dir(filepath.ToSlash(rel))
		may, ok := arrows[pkg]
		if !ok {
			t.Errorf("%s: package is not in the plan; add it to arrows", pkg)
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			dep, ours := strings.CutPrefix(name, module)
			if ours && !slices.Contains(may, dep) && !slices.Contains(may, "*") {
				t.Errorf("%s: %s may not import %s", rel, pkg, dep)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
