package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// A Severity is how bad a [Diagnostic] is.
type Severity uint8

// The severities.
const (
	SeverityError   Severity = iota // the plugin cannot work with this configuration
	SeverityWarning                 // it can
)

// A Diagnostic is a complaint about a configuration. The host shows it with the line of the file that it is about.
type Diagnostic struct {
	Severity Severity
	Summary  string // two to four words
	Detail   string // what was found, what is allowed, what to do
	Pointer  string // RFC 6901 JSON Pointer into the configuration: "/roots/0"; "" is the whole block
}

// Error returns the complaint in one line.
func (d Diagnostic) Error() string {
	text := d.Summary
	if d.Detail != "" {
		text += ": " + d.Detail
	}
	if d.Pointer != "" {
		text = d.Pointer + ": " + text
	}
	return text
}

// Diagnostics are several complaints, as one error.
type Diagnostics []Diagnostic

// Error returns all complaints.
func (d Diagnostics) Error() string {
	lines := make([]string, len(d))
	for i, one := range d {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Invalid returns the complaint that the value at pointer cannot be used.
func Invalid(pointer, summary, format string, args ...any) Diagnostic {
	return Diagnostic{Summary: summary, Detail: fmt.Sprintf(format, args...), Pointer: pointer}
}

// A Validator is a configuration that checks itself, without side effects. The error may be a [Diagnostic] or
// [Diagnostics]; another is a complaint about the whole block.
type Validator interface{ Validate() error }

// A Setup is what the host brings beside the configuration.
type Setup struct {
	Handle  string
	DataDir string // the plugin's own, kept across restarts
	secrets map[string]string
}

// Secret returns a secret that the operator handed over.
func (s Setup) Secret(name string) (string, bool) {
	value, ok := s.secrets[name]
	return value, ok
}

// A Config holds the configuration of a plugin once the host has sent it.
type Config[T any] struct {
	value   atomic.Pointer[T]
	decoder *decoder[T]
	raw     json.RawMessage
	start   func(ctx context.Context, s Setup, config T) error
}

// Get returns the configuration, or the zero value before it is there, which no call sees.
func (c *Config[T]) Get() T {
	if v := c.value.Load(); v != nil {
		return *v
	}
	var zero T
	return zero
}

// configurer is a Config of any type.
type configurer interface {
	schema() json.RawMessage
	validate(raw []byte) Diagnostics
	configure(ctx context.Context, s Setup, raw []byte) Diagnostics
}

// Configure declares that the plugin has a configuration: T is a struct, described as for a [ToolFunc]; a string with
// the tag path:"true" is a path, which the host makes absolute, and one with secret:"true" is never shown. If T is a [Validator], that is asked too. Then start, which may be nil, is called once with it before any call; it may add
// tools. Its error is a complaint as of a Validator. Configure panics if T cannot be described as JSON Schema.
func Configure[T any](p *Plugin, start func(ctx context.Context, s Setup, config T) error) *Config[T] {
	d, schema, err := newDecoder[T]()
	if err != nil {
		panic(fmt.Sprintf("sdk: configuration: %v", err))
	}
	raw, err := encodeJSON(schema)
	if err != nil {
		panic(fmt.Sprintf("sdk: configuration: %v", err))
	}
	c := &Config[T]{decoder: d, raw: raw, start: start}
	p.config = c
	return c
}

func (c *Config[T]) schema() json.RawMessage { return c.raw }

func (c *Config[T]) validate(raw []byte) Diagnostics {
	_, diagnostics := c.read(raw)
	return diagnostics
}

// read decodes and checks raw.
func (c *Config[T]) read(raw []byte) (T, Diagnostics) {
	value, err := c.decoder.decode(raw)
	if err != nil {
		return value, Diagnostics{aboutField(err)}
	}
	if v, ok := any(value).(Validator); ok {
		return value, diagnosticsOf(v.Validate())
	}
	if v, ok := any(&value).(Validator); ok {
		return value, diagnosticsOf(v.Validate())
	}
	return value, nil
}

func (c *Config[T]) configure(ctx context.Context, s Setup, raw []byte) Diagnostics {
	value, diagnostics := c.read(raw)
	if diagnostics.fatal() {
		return diagnostics
	}
	c.value.Store(&value)
	if c.start != nil {
		diagnostics = append(diagnostics, diagnosticsOf(c.start(ctx, s, value))...)
	}
	return diagnostics
}

func (d Diagnostics) fatal() bool {
	for _, one := range d {
		if one.Severity == SeverityError {
			return true
		}
	}
	return false
}

// aboutField is the complaint of a decoder, at the field that it is about.
func aboutField(err error) Diagnostic {
	d := Diagnostic{Summary: "Invalid configuration", Detail: "The configuration " + err.Error() + "."}
	if field, ok := errors.AsType[*fieldError](err); ok && len(field.path) > 0 {
		d.Detail = fmt.Sprintf("The attribute %s.", field.Error())
		if field.reason != "is missing" {
			d.Pointer = pointer(field.path)
		}
	}
	return d
}

// pointer returns the RFC 6901 JSON Pointer of a path.
func pointer(path []string) string {
	var b strings.Builder
	for _, step := range path {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(step))
	}
	return b.String()
}

func diagnosticsOf(err error) Diagnostics {
	if err == nil {
		return nil
	}
	if many, ok := errors.AsType[Diagnostics](err); ok {
		return many
	}
	if one, ok := errors.AsType[Diagnostic](err); ok {
		return Diagnostics{one}
	}
	return Diagnostics{{Summary: "Invalid configuration", Detail: err.Error()}}
}

func (d Diagnostics) toProto() []*pluginv1.Diagnostic {
	var list []*pluginv1.Diagnostic
	for _, one := range d {
		severity := pluginv1.Diagnostic_SEVERITY_ERROR
		if one.Severity == SeverityWarning {
			severity = pluginv1.Diagnostic_SEVERITY_WARNING
		}
		list = append(list, &pluginv1.Diagnostic{Severity: severity, Summary: valid(one.Summary), Detail: valid(one.Detail), Pointer: valid(one.Pointer)})
	}
	return list
}
