package integrity

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

const lockHead = `# This file is maintained by "mcphost lock", which shows what changed before it
# accepts it. Do not edit it by hand: a definition that does not match its digest
# is refused. Keep it with the configuration, under version control.
`

// Bytes returns the lock file: the same for the same content.
func (l *Lock) Bytes() []byte {
	var b bytes.Buffer
	b.WriteString(lockHead)
	for _, handle := range slices.Sorted(maps.Keys(l.Entries)) {
		writeEntry(&b, l.Entries[handle])
	}
	return b.Bytes()
}

// literal returns s as HCL writes it.
func literal(s string) string {
	return string(hclwrite.TokensForValue(cty.StringVal(s)).Bytes())
}

func writeEntry(b *bytes.Buffer, e *Entry) {
	fmt.Fprintf(b, "\nplugin %s {\n", literal(e.Handle))
	start := b.Len()
	if e.Version != "" {
		fmt.Fprintf(b, "\n  version = %s\n", literal(e.Version))
	}
	writeSums(b, "sha256", e.Program)
	writeSums(b, "files", e.Files)
	if e.OpenResources {
		b.WriteString("\n  # Its resources come and go: they are not pinned.\n  open_resources = true\n")
	}
	for _, d := range e.Definitions {
		b.WriteString("\n  " + d.Kind)
		if d.Name != "" {
			b.WriteString(" " + literal(d.Name))
		}
		fmt.Fprintf(b, " {\n    sha256     = %s\n    definition = <<-JSON\n", literal(d.SHA256))
		fmt.Fprintf(b, "%s\n    JSON\n  }\n", visible(indented(d.Text, "      "), true))
	}
	if text := b.Bytes(); b.Len() > start { // the first needs no empty line before it
		b.Truncate(start + copy(text[start:], text[start+1:]))
	}
	b.WriteString("}\n")
}

func writeSums(b *bytes.Buffer, name string, sums map[string]string) {
	if len(sums) == 0 {
		return
	}
	platforms := slices.Sorted(maps.Keys(sums))
	width := 0
	for _, p := range platforms {
		width = max(width, len(p))
	}
	fmt.Fprintf(b, "\n  %s = {\n", name)
	for _, p := range platforms {
		fmt.Fprintf(b, "    %s%s = %s\n", p, strings.Repeat(" ", width-len(p)), literal(sums[p]))
	}
	b.WriteString("  }\n")
}

// Write replaces the lock file at path in one step, and leaves it alone if it
// says the same already.
func (l *Lock) Write(path string) (err error) {
	text := l.Bytes()
	// What is written must be read as what was meant, or the plugins that it
	// names would not start any more.
	if _, err := ParseLock(text, path); err != nil {
		return fmt.Errorf("writing the lock file: %w", err)
	}
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+LockName+".*")
	if err != nil {
		return fmt.Errorf("writing the lock file: %w", err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing the lock file: %w", errors.Join(err, os.Remove(f.Name())))
		}
	}()
	_, err = f.Write(text)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
