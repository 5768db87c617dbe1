package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// A Diagnostic is one complaint: severity, summary, detail and place.
type Diagnostic = hcl.Diagnostic

// The severities of a [Diagnostic].
const (
	Error   = hcl.DiagError
	Warning = hcl.DiagWarning
)

// NewError returns an error at a place; the zero Range is no place.
func NewError(at Range, summary, detail string) *Diagnostic {
	return newDiagnostic(Error, at, summary, detail)
}

// NewWarning returns a warning at a place; the zero Range is no place.
func NewWarning(at Range, summary, detail string) *Diagnostic {
	return newDiagnostic(Warning, at, summary, detail)
}

func newDiagnostic(severity hcl.DiagnosticSeverity, at Range, summary, detail string) *Diagnostic {
	d := &Diagnostic{Severity: severity, Summary: summary, Detail: detail}
	if at.Filename != "" {
		d.Subject = &at
	}
	return d
}

// Diagnostics are complaints with the sources that they point into. The zero
// value is empty and ready.
type Diagnostics struct {
	list    hcl.Diagnostics
	sources *sources
}

// Report returns diagnostics about c, in the order of the file.
func (c *Config) Report(list ...*Diagnostic) *Diagnostics { return report(c.sources, list) }

func report(s *sources, list hcl.Diagnostics) *Diagnostics {
	d := &Diagnostics{sources: s}
	d.Append(list...)
	return d
}

// Append adds complaints and keeps the order of the files.
func (d *Diagnostics) Append(list ...*Diagnostic) {
	for _, diag := range list {
		// The writer would print the values of variables in an expression, secrets among them.
		plain := *diag
		plain.Expression, plain.EvalContext = nil, nil
		d.list = append(d.list, &plain)
	}
	slices.SortStableFunc(d.list, func(a, b *hcl.Diagnostic) int {
		return compareRanges(subject(a), subject(b))
	})
}

// All returns the complaints in the order of the file.
func (d *Diagnostics) All() []*Diagnostic { return d.list }

// HasErrors reports whether one of them is an error.
func (d *Diagnostics) HasErrors() bool { return d.list.HasErrors() }

// count returns how many have this severity.
func (d *Diagnostics) count(severity hcl.DiagnosticSeverity) int {
	n := 0
	for _, diag := range d.list {
		if diag.Severity == severity {
			n++
		}
	}
	return n
}

// Write prints each with its lines of the file, wrapped to width columns (0: not
// at all), with terminal colors if color is set. Secrets are masked.
func (d *Diagnostics) Write(w io.Writer, width uint, color bool) error {
	return hcl.NewDiagnosticTextWriter(w, d.sources.masked(), width, color).WriteDiagnostics(d.list)
}

// String returns what [Diagnostics.Write] prints, not wrapped and without color.
func (d *Diagnostics) String() string {
	var b strings.Builder
	_ = d.Write(&b, 0, false) // a Builder gives no error
	return b.String()
}

type jsonDiagnostic struct {
	Severity string     `json:"severity"`
	Summary  string     `json:"summary"`
	Detail   string     `json:"detail"`
	Range    *jsonRange `json:"range,omitempty"`
	Snippet  string     `json:"snippet,omitempty"` // the lines of the range, secrets masked
}

type jsonRange struct {
	Filename string  `json:"filename"`
	Start    jsonPos `json:"start"`
	End      jsonPos `json:"end"`
}

type jsonPos struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Byte   int `json:"byte"`
}

// WriteJSON prints one object: valid, error_count, warning_count and diagnostics.
func (d *Diagnostics) WriteJSON(w io.Writer) error {
	out := struct {
		Valid        bool             `json:"valid"`
		ErrorCount   int              `json:"error_count"`
		WarningCount int              `json:"warning_count"`
		Diagnostics  []jsonDiagnostic `json:"diagnostics"`
	}{!d.HasErrors(), d.count(Error), d.count(Warning), []jsonDiagnostic{}}
	files := d.sources.masked()
	for _, diag := range d.list {
		out.Diagnostics = append(out.Diagnostics, toJSON(diag, files))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(out); err != nil {
		return fmt.Errorf("writing diagnostics: %w", err)
	}
	return nil
}

func toJSON(diag *hcl.Diagnostic, files map[string]*hcl.File) jsonDiagnostic {
	j := jsonDiagnostic{Severity: "error", Summary: diag.Summary, Detail: diag.Detail}
	if diag.Severity == Warning {
		j.Severity = "warning"
	}
	if r := diag.Subject; r != nil {
		j.Range = &jsonRange{r.Filename, jsonPos(r.Start), jsonPos(r.End)}
		if f := files[r.Filename]; f != nil {
			j.Snippet = lines(f.Bytes, *r)
		}
	}
	return j
}

// lines returns the whole lines that r touches.
func lines(src []byte, r Range) string {
	start := min(max(r.Start.Byte, 0), len(src))
	end := min(max(r.End.Byte, start), len(src))
	start = bytes.LastIndexByte(src[:start], '\n') + 1
	if n := bytes.IndexByte(src[end:], '\n'); n >= 0 {
		end += n
	} else {
		end = len(src)
	}
	return string(src[start:end])
}

func subject(d *hcl.Diagnostic) Range {
	if d.Subject == nil {
		return Range{}
	}
	return *d.Subject
}

func compareRanges(a, b Range) int {
	return cmp.Or(
		cmp.Compare(a.Filename, b.Filename),
		cmp.Compare(a.Start.Byte, b.Start.Byte),
		cmp.Compare(a.End.Byte, b.End.Byte),
	)
}
