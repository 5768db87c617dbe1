// Package sdktest runs a plugin in a test, without a host and without a process: its gRPC service is called as a host
// calls it, in memory.
package sdktest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
	"github.com/mcphost/mcphost/sdk"
)

// A Client is a host of one plugin. Its methods fail the test when the plugin breaks the contract.
type Client struct {
	pluginv1.PluginServiceClient
	t testing.TB
}

// An Option is something that a host brings to a plugin.
type Option func(*pluginv1.ConfigureRequest)

// WithConfig gives the plugin a configuration, encoded as JSON.
func WithConfig(config any) Option {
	return func(r *pluginv1.ConfigureRequest) {
		raw, err := json.Marshal(config)
		if err != nil {
			panic(err)
		}
		r.ConfigJson = raw
	}
}

// WithSecret gives the plugin a secret.
func WithSecret(name, value string) Option {
	return func(r *pluginv1.ConfigureRequest) {
		if r.Secrets == nil {
			r.Secrets = map[string]string{}
		}
		r.Secrets[name] = value
	}
}

// Connect serves p in memory until the test ends, not configured.
func Connect(tb testing.TB, p *sdk.Plugin) *Client {
	tb.Helper()
	listener := bufconn.Listen(1 << 20)
	server := grpc.NewServer(grpc.MaxRecvMsgSize(pluginv1.MaxMessageToPlugin), grpc.MaxSendMsgSize(pluginv1.MaxMessageFromPlugin))
	p.RegisterService(server)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }() // ends with server.Stop
	connection, err := grpc.NewClient("passthrough:///plugin",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(pluginv1.MaxMessageFromPlugin), grpc.MaxCallSendMsgSize(pluginv1.MaxMessageToPlugin)))
	if err != nil {
		tb.Fatalf("connecting to the plugin: %v", err)
	}
	tb.Cleanup(func() {
		if err := connection.Close(); err != nil {
			tb.Errorf("closing the connection: %v", err)
		}
		server.Stop()
		if err := <-done; err != nil {
			tb.Errorf("serving the plugin: %v", err)
		}
	})
	return &Client{PluginServiceClient: pluginv1.NewPluginServiceClient(connection), t: tb}
}

// Start serves p in memory until the test ends, configured.
func Start(tb testing.TB, p *sdk.Plugin, options ...Option) *Client {
	tb.Helper()
	c := Connect(tb, p)
	request := &pluginv1.ConfigureRequest{Handle: "test", DataDir: tb.TempDir()}
	for _, o := range options {
		o(request)
	}
	response, err := c.Configure(tb.Context(), request)
	if err != nil {
		tb.Fatalf("configuring the plugin: %v", err)
	}
	for _, d := range response.GetDiagnostics() {
		if d.GetSeverity() == pluginv1.Diagnostic_SEVERITY_ERROR {
			tb.Fatalf("configuring the plugin: %s: %s: %s", d.GetPointer(), d.GetSummary(), d.GetDetail())
		}
	}
	return c
}

// An Outcome is how a call ended.
type Outcome struct {
	*pluginv1.CallToolResponse
	Events  []*pluginv1.CallToolStreamResponse // progress and logs
	client  *Client
	request *pluginv1.CallToolRequest
}

// Call calls a tool with arguments, encoded as JSON. The caller wants progress and all logs.
func (c *Client) Call(name string, arguments any) *Outcome {
	c.t.Helper()
	raw, err := json.Marshal(arguments)
	if err != nil {
		c.t.Fatalf("encoding the arguments: %v", err)
	}
	return c.run(&pluginv1.CallToolRequest{
		Context: &pluginv1.CallContext{
			CallId: "call", WantProgress: true, LogLevel: "debug", ProtocolVersion: "2026-07-28",
			Principal:              &pluginv1.Principal{Subject: "tester"},
			ClientCapabilitiesJson: []byte(`{"elicitation":{},"sampling":{},"roots":{}}`),
		},
		Name: name, ArgumentsJson: raw,
	})
}

// Answer calls the tool again with the answers to what it asked, by key, each encoded as JSON.
func (o *Outcome) Answer(answers map[string]any) *Outcome {
	o.client.t.Helper()
	next := &pluginv1.CallToolRequest{
		Context: o.request.GetContext(), Name: o.request.GetName(), ArgumentsJson: o.request.GetArgumentsJson(),
		State: o.GetInputRequired().State, InputResponsesJson: map[string][]byte{},
	}
	next.Context.Round++
	for key, answer := range answers {
		raw, err := json.Marshal(answer)
		if err != nil {
			o.client.t.Fatalf("encoding the answer %q: %v", key, err)
		}
		next.InputResponsesJson[key] = raw
	}
	return o.client.run(next)
}

func (c *Client) run(request *pluginv1.CallToolRequest) *Outcome {
	c.t.Helper()
	stream, err := c.CallToolStream(c.t.Context(), &pluginv1.CallToolStreamRequest{Call: request})
	if err != nil {
		c.t.Fatalf("calling %s: %v", request.GetName(), err)
	}
	o := &Outcome{client: c, request: request}
	for {
		event, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			if o.CallToolResponse == nil {
				c.t.Fatalf("calling %s: no outcome", request.GetName())
			}
			return o
		case err != nil:
			c.t.Fatalf("calling %s: %v", request.GetName(), err)
		case o.CallToolResponse != nil:
			c.t.Fatalf("calling %s: an event after the outcome: %v", request.GetName(), event)
		case event.GetOutcome() != nil:
			o.CallToolResponse = event.GetOutcome()
		default:
			o.Events = append(o.Events, event)
		}
	}
}

// IsError reports whether the result is an error that the model may read.
func (o *Outcome) IsError() bool { return o.GetResult().GetIsError() }

// Text returns the text blocks of the result, one after the other.
func (o *Outcome) Text() string {
	var text strings.Builder
	for _, block := range o.GetResult().GetContent() {
		text.WriteString(block.GetText())
	}
	return text.String()
}

// Decode decodes the structured content into v, a pointer.
func (o *Outcome) Decode(v any) {
	o.client.t.Helper()
	if o.IsError() {
		o.client.t.Fatalf("calling %s: error result: %s", o.request.GetName(), o.Text())
	}
	if err := json.Unmarshal(o.GetResult().GetStructuredJson(), v); err != nil {
		o.client.t.Fatalf("decoding the result %q of %s: %v", o.GetResult().GetStructuredJson(), o.request.GetName(), err)
	}
}

// Catalog returns what the plugin offers now, as one part.
func (c *Client) Catalog() *pluginv1.CatalogPart {
	c.t.Helper()
	ctx, cancel := context.WithCancel(c.t.Context())
	defer cancel()
	stream, err := c.Watch(ctx, &pluginv1.WatchRequest{})
	if err != nil {
		c.t.Fatalf("watching the plugin: %v", err)
	}
	return c.NextCatalog(stream)
}

// NextCatalog returns the next whole catalog of a Watch stream, as one part. Other events are skipped.
func (c *Client) NextCatalog(stream pluginv1.PluginService_WatchClient) *pluginv1.CatalogPart {
	c.t.Helper()
	whole := &pluginv1.CatalogPart{}
	for !whole.GetLast() {
		event, err := stream.Recv()
		if err != nil {
			c.t.Fatalf("watching the plugin: %v", err)
		}
		part := event.GetCatalog()
		if part == nil {
			continue
		}
		whole.Revision, whole.Last = part.GetRevision(), part.GetLast()
		whole.Tools = append(whole.Tools, part.GetTools()...)
		whole.Resources = append(whole.Resources, part.GetResources()...)
		whole.ResourceTemplates = append(whole.ResourceTemplates, part.GetResourceTemplates()...)
		whole.Prompts = append(whole.Prompts, part.GetPrompts()...)
		whole.Instructions += part.GetInstructions()
	}
	return whole
}

// Manifest returns what the plugin is and offers, as JSON to keep beside the test: a changed schema then shows up in
// review. The plugin must not need a configuration to know its tools.
func (c *Client) Manifest() []byte {
	c.t.Helper()
	about, err := c.Describe(c.t.Context(), &pluginv1.DescribeRequest{})
	if err != nil {
		c.t.Fatalf("describing the plugin: %v", err)
	}
	catalog := c.Catalog()
	catalog.Revision = 0
	manifest := map[string]any{"describe": readable(c.t, about), "catalog": readable(c.t, catalog)}
	raw, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		c.t.Fatalf("encoding the manifest: %v", err)
	}
	return append(raw, '\n')
}

// readable returns a message as a JSON value, with the JSON inside of it as JSON, not as base64.
func readable(tb testing.TB, message proto.Message) any {
	tb.Helper()
	raw, err := protojson.Marshal(message)
	if err != nil {
		tb.Fatalf("encoding the manifest: %v", err)
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		tb.Fatalf("encoding the manifest: %v", err)
	}
	unwrap(tb, value)
	return value
}

func unwrap(tb testing.TB, value any) {
	tb.Helper()
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			unwrap(tb, element)
		}
	case map[string]any:
		for key, member := range value {
			text, ok := member.(string)
			if !ok || !strings.HasSuffix(key, "Json") {
				unwrap(tb, member)
				continue
			}
			raw, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				tb.Fatalf("decoding %s: %v", key, err)
			}
			value[key] = json.RawMessage(raw)
		}
	}
}

// ReadableJSON returns messages as one JSON list, with the JSON inside of them as JSON.
func ReadableJSON[M proto.Message](tb testing.TB, messages []M) []byte {
	tb.Helper()
	list := []any{}
	for _, message := range messages {
		list = append(list, readable(tb, message))
	}
	raw, err := json.Marshal(list)
	if err != nil {
		tb.Fatalf("encoding messages: %v", err)
	}
	return raw
}
