package dev

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// WriteConfig writes the configuration that convention gives and returns the
// files to load. The plugins, if there are some, are served at /mcp besides.
func (p *Project) WriteConfig(served []string) ([]string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "variable \"plugin\" { default = %s }\n", list(p.command))
	fmt.Fprintf(&b, "variable \"files\" { default = %s }\n", list(p.files))
	paths := []string{filepath.Join(p.scratch, "dev.hcl")}
	own := filepath.Join(p.Folder, ConfigName)
	_, err := os.Stat(own)
	switch {
	case err == nil:
		paths = append(paths, own)
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(&b, "local %s {\n  command = var.plugin\n  files   = var.files\n}\n", quote(p.Name))
	default:
		return nil, err
	}
	if len(served) > 0 {
		fmt.Fprintf(&b, "web \"/mcp\" { plugins = %s }\n", list(served))
	}
	if err := os.WriteFile(paths[0], []byte(b.String()), 0o600); err != nil {
		return nil, fmt.Errorf("writing the configuration: %w", err)
	}
	return paths, nil
}

func list(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// quote writes s as a string of HCL, in which nothing is a template.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "${", "$${", "%{", "%%{").Replace(s) + `"`
}
