package config

import (
	"bytes"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// sources are the files that were read, for the lines that diagnostics show.
// The bytes are the package's own copies, so masking never touches a body.
type sources struct {
	mu    sync.Mutex // guards what follows; plugins may decode their configs at once
	files map[string]*hcl.File
}

func newSources() *sources { return &sources{files: map[string]*hcl.File{}} }

func (s *sources) add(name string, f *hcl.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[name] = &hcl.File{Body: f.Body, Bytes: bytes.Clone(f.Bytes), Nav: f.Nav}
}

// masked returns the files with every literal secret that is known by now masked.
func (s *sources) masked() map[string]*hcl.File {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]*hcl.File, len(s.files))
	for name, f := range s.files {
		out[name] = &hcl.File{Body: f.Body, Bytes: bytes.Clone(f.Bytes), Nav: f.Nav}
	}
	return out
}

// mask overwrites the literals in a secret expression. What is given to a
// function stays: the name of a variable or of a file is no secret.
func (s *sources) mask(expr hcl.Expression) {
	node, ok := expr.(hclsyntax.Node)
	if !ok { // a JSON expression: nothing is known of its parts
		s.blank(expr.Range())
		return
	}
	walker := &maskWalker{sources: s}
	_ = hclsyntax.Walk(node, walker) // a maskWalker gives no diagnostic
}

func (s *sources) blank(r Range) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[r.Filename]
	if f == nil {
		return
	}
	for i := max(r.Start.Byte, 0); i < min(r.End.Byte, len(f.Bytes)); i++ {
		if f.Bytes[i] != '\n' {
			f.Bytes[i] = '*'
		}
	}
}

// A maskWalker blanks the literals that are outside of calls and keys.
type maskWalker struct {
	sources *sources
	kept    int // depth inside calls and keys
}

func (w *maskWalker) Enter(node hclsyntax.Node) hcl.Diagnostics {
	switch n := node.(type) {
	case *hclsyntax.FunctionCallExpr, *hclsyntax.ObjectConsKeyExpr:
		w.kept++
	case *hclsyntax.LiteralValueExpr:
		if w.kept == 0 {
			w.sources.blank(n.SrcRange)
		}
	}
	return nil
}

func (w *maskWalker) Exit(node hclsyntax.Node) hcl.Diagnostics {
	switch node.(type) {
	case *hclsyntax.FunctionCallExpr, *hclsyntax.ObjectConsKeyExpr:
		w.kept--
	}
	return nil
}
