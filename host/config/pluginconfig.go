package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// A ConfigValue is a plugin's own configuration, whole and valid, with the
// place of each of its parts.
type ConfigValue struct { //nolint:revive // it is the value of a config block; Value alone would not say of what
	// JSON is one object, for ConfigureRequest.config_json. It may hold
	// secrets: never log it.
	JSON []byte

	places  map[string]span
	secrets []string // texts that must not appear in a diagnostic, longest first
}

// A span is where a value stands, and its name.
type span struct {
	value, name Range
	expr        hcl.Expression // nil for a block
}

// DecodeConfig reads the plugin's config block as its schema says: JSON Schema
// 2020-12, as untrusted bytes, empty for a plugin that takes none. Arguments
// become properties; blocks become objects, the items of an array, or with
// labels the values of a map; absent properties get their defaults, and strings
// whose schema says "x-mcphost-path": true become absolute paths.
//
// The value is nil if a diagnostic is an error. It may be called again, also at
// once for several plugins.
func (p *Plugin) DecodeConfig(schemaJSON []byte) (*ConfigValue, hcl.Diagnostics) {
	if len(bytes.TrimSpace(schemaJSON)) == 0 {
		return p.withoutSchema()
	}
	s, err := compileSchema(schemaJSON)
	if err != nil {
		return nil, hcl.Diagnostics{NewError(p.At("command"), "Invalid plugin schema",
			fmt.Sprintf("The plugin %q declares a schema of its configuration that cannot be used: %s. This is a fault of the plugin.", p.Handle, clean(err.Error(), maxDetail)))}
	}
	w := &configWalker{eval: p.eval, places: map[string]span{"": p.configPlace()}}
	object := map[string]any{}
	if p.config != nil {
		object = w.body(p.config.Body, "", s.node())
	}
	w.findSecrets(object, "", s.node(), false)
	w.mask(p.sources)
	if w.diags.HasErrors() {
		return nil, inOrder(w.diags)
	}
	s.node().fill(object)
	s.node().rewritePaths(object, p.absolute)
	return p.validated(s, w, object)
}

func (p *Plugin) validated(s *schema, w *configWalker, object map[string]any) (*ConfigValue, hcl.Diagnostics) {
	invalid, err := s.validate(object)
	if err != nil {
		return nil, hcl.Diagnostics{NewError(p.At("command"), "Invalid plugin schema",
			fmt.Sprintf("The schema that the plugin %q declares cannot be used: %v. This is a fault of the plugin.", p.Handle, err))}
	}
	if invalid != nil {
		t := &translator{walker: w, schema: s, plugin: p.Handle}
		t.translate(invalid)
		return nil, inOrder(t.diags)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(object); err != nil {
		return nil, hcl.Diagnostics{NewError(w.places[""].value, "Invalid plugin configuration", fmt.Sprintf("It cannot be written as JSON: %v.", err))}
	}
	return &ConfigValue{JSON: bytes.TrimSpace(out.Bytes()), places: w.places, secrets: p.secretTexts(w, object)}, nil
}

// withoutSchema accepts no config block but an empty one.
func (p *Plugin) withoutSchema() (*ConfigValue, hcl.Diagnostics) {
	v := &ConfigValue{JSON: []byte("{}"), places: map[string]span{"": p.configPlace()}, secrets: p.secretTexts(&configWalker{}, nil)}
	if p.config == nil {
		return v, nil
	}
	args, blocks, diags := open(p.config.Body)
	if len(args)+len(blocks) > 0 {
		diags = append(diags, NewError(p.config.DefRange, "No configuration expected",
			fmt.Sprintf("The plugin %q takes no configuration. Remove the config block.", p.Handle)))
	}
	if diags.HasErrors() {
		return nil, diags
	}
	return v, diags
}

func (p *Plugin) configPlace() span {
	if p.config == nil {
		return span{value: p.Block, name: p.Block}
	}
	return span{value: p.config.DefRange, name: p.config.TypeRange}
}

// minSecret keeps a secret such as "1" from masking every 1 in a sentence.
const minSecret = 4

// secretTexts are the strings that nothing may show, longest first: one may be part of another.
func (p *Plugin) secretTexts(w *configWalker, object map[string]any) []string {
	texts := map[string]bool{}
	for _, s := range p.Secrets {
		texts[s.Reveal()] = true
	}
	for pointer := range w.secret {
		switch v := lookup(object, pointer).(type) {
		case string:
			texts[v] = true
		case json.Number:
			texts[v.String()] = true
		}
	}
	maps.DeleteFunc(texts, func(s string, _ bool) bool { return len(s) < minSecret })
	out := slices.Collect(maps.Keys(texts))
	slices.SortFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}

// Diagnostic returns a plugin's own complaint about its configuration, at the
// place that the JSON Pointer (RFC 6901) names or the nearest one around it.
// The texts are untrusted: control characters go, length is bounded, and
// secrets are masked.
func (v *ConfigValue) Diagnostic(pointer string, severity hcl.DiagnosticSeverity, summary, detail string) *hcl.Diagnostic {
	if summary = v.hide(summary, maxSummary); summary == "" {
		summary = "Invalid plugin configuration"
	}
	at := nearest(v.places, pointer)
	return newDiagnostic(severity, at.value, summary, v.hide(detail, maxDetail))
}

func (v *ConfigValue) hide(s string, limit int) string {
	for _, secret := range v.secrets {
		s = strings.ReplaceAll(s, secret, redacted)
	}
	return clean(s, limit)
}

// nearest returns the place of a pointer, or of the nearest value around it.
func nearest(places map[string]span, pointer string) span {
	for {
		if at, ok := places[pointer]; ok {
			return at
		}
		cut := strings.LastIndexByte(pointer, '/')
		if cut < 0 {
			return places[""]
		}
		pointer = pointer[:cut]
	}
}

func inOrder(diags hcl.Diagnostics) hcl.Diagnostics {
	slices.SortStableFunc(diags, func(a, b *hcl.Diagnostic) int { return compareRanges(subject(a), subject(b)) })
	return diags
}
