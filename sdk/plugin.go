package sdk

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// sdkName is what Describe says about this package.
const sdkName = "go/0.1.0"

// protocolMinor is the minor version of the contract that this package speaks.
const protocolMinor = 0

// A Plugin is a set of tools, resources and prompts that a host can serve.
// Primitives may be added and removed at any time, also while it is served.
type Plugin struct {
	name, version string
	instructions  string
	documentation string
	example       string
	grants        *pluginv1.GrantRequest
	secretSpecs   []*pluginv1.SecretSpec
	maxCalls      uint32
	exclusive     bool
	updates       bool
	debugged      bool // a person started it; hosts come and go
	log           hclog.Logger

	config     configurer // nil where Configure was not called
	register   *registerHook
	authorize  *authorizeHook
	subscribed func(ctx context.Context, uris []string)

	setup    atomic.Pointer[setup] // nil until the host configured the plugin
	catalog  catalog
	describe func() *pluginv1.DescribeResponse
	running  sync.WaitGroup // handlers
}

// setup is what Configure brought.
type setup struct {
	handle  string
	dataDir string
	secrets map[string]string
}

// An Option is an optional property of a [Plugin].
type Option func(*Plugin)

// New returns a plugin that offers nothing yet. Its name and version are what the host shows.
func New(name, version string, options ...Option) *Plugin {
	p := &Plugin{name: name, version: version, log: stderrLogger(os.Stderr, name)}
	p.catalog.init()
	for _, o := range options {
		o(p)
	}
	p.describe = sync.OnceValue(p.describeNow)
	return p
}

// WithInstructions sets what the model is told about the plugin's tools as a whole.
func WithInstructions(text string) Option { return func(p *Plugin) { p.instructions = text } }

// WithDocumentation sets the page, in Markdown, that the operator reads about the plugin.
func WithDocumentation(markdown string) Option {
	return func(p *Plugin) { p.documentation = markdown }
}

// WithExample sets the lines of HCL that a block of the plugin typically holds, such as config { root = "~/notes" }. They
// are shown to who starts the plugin by hand; by default they are the attributes of the configuration that must be there.
func WithExample(hcl string) Option { return func(p *Plugin) { p.example = hcl } }

// WithMaxConcurrentCalls makes the host send at most n calls at a time; 0 is no limit of the plugin's own.
func WithMaxConcurrentCalls(n uint32) Option { return func(p *Plugin) { p.maxCalls = n } }

// WithExclusive says that there must never be two processes of this plugin at once under one handle,
// because it holds a port or a file, say.
func WithExclusive() Option { return func(p *Plugin) { p.exclusive = true } }

// WithResourceUpdates announces that the plugin calls [Plugin.ResourceUpdated].
func WithResourceUpdates() Option { return func(p *Plugin) { p.updates = true } }

// WithSecret names a secret that the plugin reads with [Call.Secret], so that `mcphost validate` can miss it.
func WithSecret(name, description string, required bool) Option {
	return func(p *Plugin) {
		p.secretSpecs = append(p.secretSpecs, &pluginv1.SecretSpec{Name: name, Description: description, Required: required})
	}
}

// Grants are what a plugin would like its sandbox to allow. They are shown to the operator and grant nothing.
type Grants struct {
	ReadPaths, WritePaths []string
	NetworkHosts          []string // "api.example.com:443"
	Environment           []string // names of variables
	SpawnProcesses        bool
}

// WithGrants states what the plugin would like its sandbox to allow.
func WithGrants(g Grants) Option {
	return func(p *Plugin) {
		p.grants = &pluginv1.GrantRequest{
			ReadPaths: g.ReadPaths, WritePaths: g.WritePaths, NetworkHosts: g.NetworkHosts,
			Environment: g.Environment, SpawnProcesses: g.SpawnProcesses,
		}
	}
}

// WithLogger replaces the operator's log, which by default is hclog's JSON on stderr, as a host expects it.
func WithLogger(log hclog.Logger) Option { return func(p *Plugin) { p.log = log } }

// Name returns the name that New was given.
func (p *Plugin) Name() string { return p.name }

// Version returns the version that New was given.
func (p *Plugin) Version() string { return p.version }

// Logger returns the log of the operator. What a client shall see goes through [Call.Log].
func (p *Plugin) Logger() hclog.Logger { return p.log }

// stderrLogger returns the logger whose lines a go-plugin host understands.
func stderrLogger(w io.Writer, name string) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Name: name, Level: hclog.Debug, Output: w, JSONFormat: true})
}

// describeNow builds the static facts; describe keeps the first answer, so that the bytes never change.
func (p *Plugin) describeNow() *pluginv1.DescribeResponse {
	var schema json.RawMessage
	if p.config != nil {
		schema = p.config.schema()
	}
	return &pluginv1.DescribeResponse{
		Name: p.name, Version: p.version, Sdk: sdkName, ProtocolMinor: protocolMinor,
		Capabilities: p.capabilities(), ConfigSchemaJson: schema,
		DocumentationMarkdown: p.documentation, Grants: p.grants, Secrets: p.secretSpecs,
	}
}

// capabilities says what the plugin can do with the primitives that it has now.
func (p *Plugin) capabilities() *pluginv1.Capabilities {
	offers := p.catalog.offers()
	return &pluginv1.Capabilities{
		Tools:              true,
		Resources:          offers.resources,
		ResourceUpdates:    p.updates || p.subscribed != nil,
		Prompts:            offers.prompts,
		Completions:        offers.completions,
		CatalogChanges:     true,
		Streaming:          true,
		ShouldRegister:     p.register != nil,
		Authorize:          p.authorize != nil,
		MaxConcurrentCalls: p.maxCalls,
		Exclusive:          p.exclusive,
	}
}
