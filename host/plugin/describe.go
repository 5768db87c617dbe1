package plugin

import (
	"fmt"
	"strings"

	"github.com/mcphost/mcphost/host/jsonrpc"
	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// A Description is what a plugin says of itself before it is configured. Its
// strings are safe to print.
type Description struct {
	Name, Version, SDK string
	ProtocolMinor      uint32
	Capabilities       Capabilities
	// ConfigSchema is the JSON Schema of the config block: an object, or nil if
	// there is nothing to configure. It may be invalid as a schema.
	ConfigSchema  []byte
	Documentation string // Markdown
	// Wishes are what it would like to be granted. They grant nothing.
	Wishes  Wishes
	Secrets []Secret
}

// Capabilities are what a plugin announced.
type Capabilities struct {
	Tools, Resources, ResourceUpdates, Prompts, Completions bool
	CatalogChanges, Streaming, ShouldRegister, Authorize    bool
	Reconfigure, ResourcePages, Exclusive                   bool
	MaxConcurrentCalls                                      int // 0: no limit of its own
}

// Wishes are the grants that a plugin would like.
type Wishes struct {
	ReadPaths, WritePaths, NetworkHosts, Environment []string
	SpawnProcesses                                   bool
}

// A Secret is one that a plugin wants.
type Secret struct {
	Name, Description string
	Required          bool
}

const (
	maxSchema        = 1 << 20
	maxDocumentation = 1 << 20
	maxShort         = 256     // bytes of a name or a version
	maxText          = 4 << 10 // of a message or a summary
	maxItems         = 1000    // of a list in a description
)

func describe(r *pluginv1.DescribeResponse) (*Description, error) {
	d := &Description{
		Name:          clean(r.GetName(), maxShort, false),
		Version:       clean(r.GetVersion(), maxShort, false),
		SDK:           clean(r.GetSdk(), maxShort, false),
		ProtocolMinor: r.GetProtocolMinor(),
		Capabilities:  capabilities(r.GetCapabilities()),
		Documentation: clean(r.GetDocumentationMarkdown(), maxDocumentation, true),
	}
	if s := r.GetConfigSchemaJson(); len(s) > 0 {
		if len(s) > maxSchema {
			return nil, permanentf("plugin describes its configuration by a schema of %d bytes; at most %d are possible", len(s), maxSchema)
		}
		if err := jsonrpc.Check(s); err != nil || !jsonrpc.IsObject(s) {
			return nil, permanentf("plugin describes its configuration by a schema that is no JSON object")
		}
		d.ConfigSchema = s
	}
	g := r.GetGrants()
	d.Wishes = Wishes{
		ReadPaths: cleanList(g.GetReadPaths()), WritePaths: cleanList(g.GetWritePaths()),
		NetworkHosts: cleanList(g.GetNetworkHosts()), Environment: cleanList(g.GetEnvironment()),
		SpawnProcesses: g.GetSpawnProcesses(),
	}
	secrets := r.GetSecrets()
	for _, s := range secrets[:min(len(secrets), maxItems)] {
		d.Secrets = append(d.Secrets, Secret{
			Name: clean(s.GetName(), maxShort, false), Description: clean(s.GetDescription(), maxText, true), Required: s.GetRequired(),
		})
	}
	return d, nil
}

func cleanList(list []string) []string {
	var out []string
	for _, s := range list[:min(len(list), maxItems)] {
		out = append(out, clean(s, maxText, false))
	}
	return out
}

func capabilities(c *pluginv1.Capabilities) Capabilities {
	return Capabilities{
		Tools: c.GetTools(), Resources: c.GetResources(), ResourceUpdates: c.GetResourceUpdates(),
		Prompts: c.GetPrompts(), Completions: c.GetCompletions(), CatalogChanges: c.GetCatalogChanges(),
		Streaming: c.GetStreaming(), ShouldRegister: c.GetShouldRegister(), Authorize: c.GetAuthorize(),
		Reconfigure: c.GetReconfigure(), ResourcePages: c.GetResourcePages(), Exclusive: c.GetExclusive(),
		MaxConcurrentCalls: int(min(c.GetMaxConcurrentCalls(), 1<<20)),
	}
}

// A Diagnostic is a complaint of a plugin about its configuration.
type Diagnostic struct {
	Warning         bool // otherwise an error
	Summary, Detail string
	Pointer         string // JSON Pointer into the configuration; empty is all of it
}

// String returns the diagnostic as one line.
func (d Diagnostic) String() string {
	s := d.Summary
	if d.Pointer != "" {
		s = d.Pointer + ": " + s
	}
	if d.Detail != "" {
		s += ": " + d.Detail
	}
	return s
}

func diagnostics(list []*pluginv1.Diagnostic) []Diagnostic {
	var out []Diagnostic
	for _, d := range list[:min(len(list), 100)] {
		out = append(out, Diagnostic{
			Warning: d.GetSeverity() == pluginv1.Diagnostic_SEVERITY_WARNING,
			Summary: clean(d.GetSummary(), maxText, false),
			Detail:  clean(d.GetDetail(), maxText, true),
			Pointer: clean(d.GetPointer(), maxText, false),
		})
	}
	return out
}

// A ConfigError says that the plugin refused its configuration. It is permanent.
type ConfigError struct{ Diagnostics []Diagnostic }

// Error implements error.
func (e *ConfigError) Error() string {
	lines := make([]string, len(e.Diagnostics))
	for i, d := range e.Diagnostics {
		lines[i] = d.String()
	}
	return fmt.Sprintf("the plugin refused its configuration: %s", strings.Join(lines, "; "))
}

// configError returns the refusal in list, nil if there is none.
func configError(list []Diagnostic) error {
	for _, d := range list {
		if !d.Warning {
			return &permanentError{&ConfigError{Diagnostics: list}}
		}
	}
	return nil
}
