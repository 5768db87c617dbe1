//go:build linux

package plugin_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// A testPlugin is a plugin written straight on the contract. What it does
// wrong depends on its name.
type testPlugin struct {
	pluginv1.UnimplementedPluginServiceServer

	name   string
	events chan *pluginv1.WatchResponse
	subs   chan []string
	config *pluginv1.ConfigureRequest
}

// servePlugin is main of a plugin.
func servePlugin(name string) int {
	p := &testPlugin{name: name, events: make(chan *pluginv1.WatchResponse, 10), subs: make(chan []string, 10)}
	p.before()
	dir := os.Getenv("PLUGIN_UNIX_SOCKET_DIR")
	if dir == "" {
		fmt.Fprintln(os.Stderr, "not started by a host")
		return 1
	}
	path := filepath.Join(dir, "p.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if name == "hard-link" {
		if err := os.Link(os.Getenv("VICTIM"), path+"2"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		path += "2"
	}
	opts := []grpc.ServerOption{grpc.MaxRecvMsgSize(pluginv1.MaxMessageToPlugin), grpc.MaxSendMsgSize(math.MaxInt32)}
	field := ""
	if ca := os.Getenv("PLUGIN_CLIENT_CERT"); ca != "" && name != "no-tls" {
		cert := selfSigned()
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM([]byte(ca))
		opts = append(opts, grpc.Creds(credentials.NewTLS(&tls.Config{
			Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, MinVersion: tls.VersionTLS12,
		})))
		field = "|" + base64.RawStdEncoding.EncodeToString(cert.Certificate[0])
		if name == "other-cert" {
			field = "|" + base64.RawStdEncoding.EncodeToString(selfSigned().Certificate[0])
		}
	}
	if name == "unasked-cert" {
		field = "|" + base64.RawStdEncoding.EncodeToString(selfSigned().Certificate[0])
	}
	s := grpc.NewServer(opts...)
	pluginv1.RegisterPluginServiceServer(s, p)
	if name != "no-health" {
		grpc_health_v1.RegisterHealthServer(s, health{name: name})
	}
	if name != "no-controller" {
		s.RegisterService(controller(p, s), p)
	}
	fmt.Printf("1|1|unix|%s|grpc%s\n", path, field)
	p.after()
	_ = s.Serve(l)
	return 0
}

// before is what the plugin does ahead of its handshake.
func (p *testPlugin) before() {
	switch p.name {
	case "pollute":
		fmt.Println("Loading model...")
		fmt.Println(strings.Repeat("x", 20000))
	case "json-panic":
		fmt.Fprintln(os.Stderr, `{"@message": 1}`)
		fmt.Fprintln(os.Stderr, `{"@level": 1}`)
		fmt.Fprintln(os.Stderr, `{"@message":"x","@timestamp": 5}`)
		fmt.Fprintln(os.Stderr, `{"@message":"x","@level": {}, "@timestamp": "yesterday", "@module": [1]}`)
		fmt.Fprintln(os.Stderr, `{"@level":"error","@message":"from a plugin","n":12}`)
	case "stderr-flood":
		_, _ = io.CopyN(os.Stderr, endless('A'), 100<<20)
	case "grandchild":
		c := exec.Command("setsid", "sleep", "60")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		c.Env = []string{"PATH=" + os.Getenv("PATH")} // leaves no mark
		if err := c.Start(); err != nil {
			panic(err)
		}
		_ = os.WriteFile(os.Getenv("PID_FILE"), fmt.Append(nil, c.Process.Pid), 0o600)
	case "marked-grandchild":
		c := exec.Command("setsid", "sleep", "60")
		if err := c.Start(); err != nil {
			panic(err)
		}
		_ = os.WriteFile(os.Getenv("PID_FILE"), fmt.Append(nil, c.Process.Pid), 0o600)
	case "crash-at-start":
		fmt.Fprintln(os.Stderr, "cannot find my database")
		os.Exit(3)
	case "slow-start":
		waitFor(os.Getenv("GO_FILE"))
	}
}

// after is what the plugin does behind its handshake.
func (p *testPlugin) after() {
	if p.name == "stdout-flood" {
		go io.CopyN(os.Stdout, endless('B'), 20<<20)
	}
}

type endless byte

func (e endless) Read(b []byte) (int, error) {
	copy(b, bytes.Repeat([]byte{byte(e)}, len(b)))
	return len(b), nil
}

func waitFor(path string) {
	for {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func selfSigned() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	t := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func controller(p *testPlugin, s *grpc.Server) *grpc.ServiceDesc {
	return &grpc.ServiceDesc{
		ServiceName: "plugin.GRPCController", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Shutdown", Handler: func(_ any, ctx context.Context, dec func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			if p.name == "hung-shutdown" {
				select {}
			}
			go s.Stop()
			return &emptypb.Empty{}, dec(&emptypb.Empty{})
		}}},
	}
}

type health struct {
	grpc_health_v1.UnimplementedHealthServer
	name string
}

func (p health) Check(ctx context.Context, _ *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	switch p.name {
	case "hung-health":
		<-ctx.Done()
		return nil, ctx.Err()
	case "not-serving":
		return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_NOT_SERVING}, nil
	}
	return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_SERVING}, nil
}

func (p *testPlugin) capabilities() *pluginv1.Capabilities {
	c := &pluginv1.Capabilities{
		Tools: true, Resources: true, ResourceUpdates: true, Prompts: true, Completions: true, CatalogChanges: true, Streaming: true,
		ResourcePages: true, ShouldRegister: strings.HasPrefix(p.name, "hooks"), Authorize: strings.HasPrefix(p.name, "hooks"),
	}
	if p.name == "one-at-a-time" {
		c.MaxConcurrentCalls = 1
	}
	return c
}

func (p *testPlugin) Describe(ctx context.Context, _ *pluginv1.DescribeRequest) (*pluginv1.DescribeResponse, error) {
	switch p.name {
	case "hung-describe":
		<-ctx.Done()
		return nil, ctx.Err()
	case "bad-schema":
		return &pluginv1.DescribeResponse{ConfigSchemaJson: []byte(`{"type":`)}, nil
	}
	return &pluginv1.DescribeResponse{
		Name: "test\x1b[31m", Version: "1.2.3", Sdk: "none", Capabilities: p.capabilities(),
		ConfigSchemaJson: []byte(`{"type":"object"}`), Secrets: []*pluginv1.SecretSpec{{Name: "token", Required: true}},
	}, nil
}

func (p *testPlugin) ValidateConfig(_ context.Context, r *pluginv1.ValidateConfigRequest) (*pluginv1.ValidateConfigResponse, error) {
	return &pluginv1.ValidateConfigResponse{Diagnostics: []*pluginv1.Diagnostic{{
		Severity: pluginv1.Diagnostic_SEVERITY_ERROR, Summary: "Bad root", Detail: string(r.GetConfigJson()), Pointer: "/root",
	}}}, nil
}

func (p *testPlugin) Configure(_ context.Context, r *pluginv1.ConfigureRequest) (*pluginv1.ConfigureResponse, error) {
	p.config = r
	if p.name == "refuse-config" {
		return &pluginv1.ConfigureResponse{Diagnostics: []*pluginv1.Diagnostic{{Summary: "No root", Pointer: "/root"}}}, nil
	}
	return &pluginv1.ConfigureResponse{}, nil
}

func (p *testPlugin) Watch(_ *pluginv1.WatchRequest, s grpc.ServerStreamingServer[pluginv1.WatchResponse]) error {
	for _, part := range catalogParts(p.name) {
		if err := s.Send(&pluginv1.WatchResponse{Event: &pluginv1.WatchResponse_Catalog{Catalog: part}}); err != nil {
			return err
		}
	}
	for {
		select {
		case e := <-p.events:
			if e == nil {
				return status.Error(codes.Aborted, "watch broke")
			}
			if err := s.Send(e); err != nil {
				return err
			}
		case <-s.Context().Done():
			return nil
		}
	}
}

func (p *testPlugin) SetSubscriptions(_ context.Context, r *pluginv1.SetSubscriptionsRequest) (*pluginv1.SetSubscriptionsResponse, error) {
	for _, uri := range r.GetUris() {
		p.events <- &pluginv1.WatchResponse{Event: &pluginv1.WatchResponse_ResourceUpdated{ResourceUpdated: &pluginv1.ResourceUpdated{Uri: uri}}}
	}
	return &pluginv1.SetSubscriptionsResponse{}, nil
}

func catalogParts(name string) []*pluginv1.CatalogPart {
	yes := true
	tools := []*pluginv1.Tool{
		{Name: "echo", Title: "Echo", Description: "Says it\x1b[2J again.", InputSchemaJson: []byte("{\"type\": \"object\",\n \"properties\": {}}")},
		{Name: "safe", Annotations: &pluginv1.ToolAnnotations{ReadOnly: &yes}},
	}
	if name == "bad-catalog" {
		tools = append(tools, badTools()...)
	}
	return []*pluginv1.CatalogPart{
		{Revision: 7, Tools: tools},
		{
			Revision: 7, Last: true, Instructions: "Use echo.",
			Resources:         []*pluginv1.Resource{{Uri: "test://a", Name: "a", MimeType: "text/plain"}},
			ResourceTemplates: []*pluginv1.ResourceTemplate{{UriTemplate: "test://{name}", Name: "any"}},
			Prompts:           []*pluginv1.Prompt{{Name: "greet", Arguments: []*pluginv1.PromptArgument{{Name: "who", Required: true}}}},
		},
	}
}

func badTools() []*pluginv1.Tool {
	return []*pluginv1.Tool{
		{Name: "with space"},
		{Name: strings.Repeat("n", 129)},
		{Name: "echo"},
		{Name: "bad_json", InputSchemaJson: []byte(`{"type":"object"`)},
		{Name: "array_schema", InputSchemaJson: []byte(`[]`)},
		{Name: "string_schema", InputSchemaJson: []byte(`{"type":"string"}`)},
		{Name: "bad_icons", IconsJson: []byte(`{}`)},
		{Name: "bad_meta", MetaJson: []byte(`nul`)},
		{Name: "bad_output", OutputSchemaJson: []byte(`true`)},
		{DefinitionJson: []byte(`{"name":"twice","inputSchema":{"type":"object"},"name":"other"}`)},
		{DefinitionJson: []byte(`{"name":"no_schema"}`)},
		{DefinitionJson: []byte(`[]`)},
		{Name: "big", InputSchemaJson: []byte(`{"type":"object","x":"` + strings.Repeat("x", 1<<20) + `"}`)},
		{Name: "bad_header", InputSchemaJson: []byte(`{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}`)},
		{
			Name: "verbatim", Title: "ignored",
			DefinitionJson: []byte("{\"name\":\"old\",\n\"custom\":1.0,\"inputSchema\":{\"type\":\"object\"},\"annotations\":{\"idempotentHint\":true},\"description\":\"a\\u001bb\"}"),
		},
	}
}

// text is an answer with one text.
func text(format string, args ...any) *pluginv1.CallToolResponse {
	return result(&pluginv1.ToolResult{Content: []*pluginv1.Content{{Kind: &pluginv1.Content_Text{Text: fmt.Sprintf(format, args...)}}}})
}

func result(r *pluginv1.ToolResult) *pluginv1.CallToolResponse {
	return &pluginv1.CallToolResponse{Outcome: &pluginv1.CallToolResponse_Result{Result: r}}
}

// arguments of a test call: do says what the plugin is to do.
type arguments struct {
	Do   string `json:"do"`
	JSON string `json:"json"`
	File string `json:"file"`
}

func (p *testPlugin) CallTool(ctx context.Context, r *pluginv1.CallToolRequest) (*pluginv1.CallToolResponse, error) {
	var a arguments
	if len(r.GetArgumentsJson()) > 0 {
		if err := json.Unmarshal(r.GetArgumentsJson(), &a); err != nil {
			return nil, err
		}
	}
	if answer := badAnswer(&a); answer != nil {
		return answer, nil
	}
	switch a.Do {
	case "env":
		return text("%s", strings.Join(os.Environ(), "\n")), nil
	case "stdin":
		b, err := io.ReadAll(os.Stdin)
		return text("%q %v", b, err), nil
	case "config":
		return text("%s %s %s %s", p.config.GetHandle(), p.config.GetConfigJson(), p.config.GetSecrets()["token"], p.config.GetDataDir()), nil
	case "context":
		b, err := json.Marshal(r.GetContext())
		return text("%s", b), err
	case "pid":
		return text("%d %d", os.Getpid(), r.GetContext().GetAttempt()), nil
	case "exit":
		fmt.Fprintln(os.Stderr, "my last words, which hold a secret")
		os.Exit(7)
	case "exit-once": // ends the process, but not a second time
		if _, err := os.Stat(a.File); err != nil {
			_ = os.WriteFile(a.File, nil, 0o600)
			os.Exit(7)
		}
		return text("survived, attempt %d", r.GetContext().GetAttempt()), nil
	case "stop":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		<-ctx.Done()
	case "hang":
		if a.File != "" {
			_ = os.WriteFile(a.File, nil, 0o600)
		}
		<-ctx.Done()
		return nil, ctx.Err()
	case "big":
		return text("%s", strings.Repeat("x", 300<<20)), nil
	case "say":
		return text("%s", a.JSON), nil
	case "status":
		return nil, status.Error(codes.InvalidArgument, "x must be\x1b[0m positive")
	case "break-watch":
		p.events <- nil
	case "change":
		p.events <- &pluginv1.WatchResponse{Event: &pluginv1.WatchResponse_Catalog{Catalog: &pluginv1.CatalogPart{Revision: 8, Last: true}}}
	case "sticky":
		if s := r.State; s != nil {
			return text("state %q", s), nil
		}
		return &pluginv1.CallToolResponse{Outcome: &pluginv1.CallToolResponse_InputRequired{
			InputRequired: &pluginv1.InputRequired{State: []byte("s1"), Sticky: true},
		}}, nil
	}
	return text("ok"), nil
}

// badAnswer returns an answer with a.JSON in the field that a.Do names.
func badAnswer(a *arguments) *pluginv1.CallToolResponse {
	j := []byte(a.JSON)
	block := func(c *pluginv1.Content) *pluginv1.CallToolResponse {
		return result(&pluginv1.ToolResult{Content: []*pluginv1.Content{c}})
	}
	hi := &pluginv1.Content_Text{Text: "hi"}
	switch a.Do {
	case "structured_json":
		return result(&pluginv1.ToolResult{StructuredJson: j})
	case "meta_json":
		return result(&pluginv1.ToolResult{MetaJson: j})
	case "result_json":
		return result(&pluginv1.ToolResult{ResultJson: j})
	case "content_json":
		return block(&pluginv1.Content{Kind: &pluginv1.Content_ContentJson{ContentJson: j}})
	case "content.annotations_json":
		return block(&pluginv1.Content{Kind: hi, AnnotationsJson: j})
	case "content.meta_json":
		return block(&pluginv1.Content{Kind: hi, MetaJson: j})
	case "link.definition_json":
		return block(&pluginv1.Content{Kind: &pluginv1.Content_ResourceLink{ResourceLink: &pluginv1.Resource{DefinitionJson: j}}})
	case "link.icons_json":
		return block(&pluginv1.Content{Kind: &pluginv1.Content_ResourceLink{ResourceLink: &pluginv1.Resource{Uri: "a:b", Name: "b", IconsJson: j}}})
	case "resource.meta_json":
		return block(&pluginv1.Content{Kind: &pluginv1.Content_Resource{Resource: &pluginv1.ResourceContents{Uri: "a:b", MetaJson: j}}})
	case "params_json":
		return &pluginv1.CallToolResponse{Outcome: &pluginv1.CallToolResponse_InputRequired{InputRequired: &pluginv1.InputRequired{
			Requests: []*pluginv1.InputRequest{{Key: "k", Method: "roots/list", ParamsJson: j}},
		}}}
	case "error.data_json":
		return &pluginv1.CallToolResponse{Outcome: &pluginv1.CallToolResponse_Error{Error: &pluginv1.Error{Code: -32000, Message: "no", DataJson: j}}}
	case "no-outcome":
		return &pluginv1.CallToolResponse{}
	case "no-kind":
		return block(&pluginv1.Content{})
	}
	return nil
}

func (p *testPlugin) CallToolStream(r *pluginv1.CallToolStreamRequest, s grpc.ServerStreamingServer[pluginv1.CallToolStreamResponse]) error {
	var a arguments
	_ = json.Unmarshal(r.GetCall().GetArgumentsJson(), &a)
	total := 2.0
	for _, n := range []float64{1, math.NaN(), math.Inf(1), 2} {
		if err := s.Send(&pluginv1.CallToolStreamResponse{Event: &pluginv1.CallToolStreamResponse_Progress{Progress: &pluginv1.Progress{Progress: n, Total: &total, Message: "m"}}}); err != nil {
			return err
		}
	}
	for _, data := range []string{`"said"`, `{`} {
		if err := s.Send(&pluginv1.CallToolStreamResponse{Event: &pluginv1.CallToolStreamResponse_Log{Log: &pluginv1.Log{Level: "info", DataJson: []byte(data)}}}); err != nil {
			return err
		}
	}
	if a.Do == "no-outcome" {
		return nil
	}
	resp, err := p.CallTool(s.Context(), r.GetCall())
	if err != nil {
		return err
	}
	return s.Send(&pluginv1.CallToolStreamResponse{Event: &pluginv1.CallToolStreamResponse_Outcome{Outcome: resp}})
}

func (p *testPlugin) ReadResource(_ context.Context, r *pluginv1.ReadResourceRequest) (*pluginv1.ReadResourceResponse, error) {
	if r.GetUri() == "test://missing" {
		return &pluginv1.ReadResourceResponse{Outcome: &pluginv1.ReadResourceResponse_Error{Error: &pluginv1.Error{Code: -32002, Message: "no such"}}}, nil
	}
	return &pluginv1.ReadResourceResponse{Outcome: &pluginv1.ReadResourceResponse_Result{Result: &pluginv1.ReadResourceResult{
		Contents: []*pluginv1.ResourceContents{{Uri: r.GetUri(), Body: &pluginv1.ResourceContents_Blob{Blob: []byte{1, 2}}}},
	}}}, nil
}

func (p *testPlugin) GetPrompt(_ context.Context, r *pluginv1.GetPromptRequest) (*pluginv1.GetPromptResponse, error) {
	return &pluginv1.GetPromptResponse{Outcome: &pluginv1.GetPromptResponse_Result{Result: &pluginv1.GetPromptResult{
		Messages: []*pluginv1.PromptMessage{{Role: "user", Content: &pluginv1.Content{Kind: &pluginv1.Content_Text{Text: "hello " + r.GetArguments()["who"]}}}},
	}}}, nil
}

func (p *testPlugin) Complete(_ context.Context, r *pluginv1.CompleteRequest) (*pluginv1.CompleteResponse, error) {
	return &pluginv1.CompleteResponse{Outcome: &pluginv1.CompleteResponse_Result{Result: &pluginv1.Completion{
		Values: make([]string, 150), HasMore: false,
	}}}, nil
}

func (p *testPlugin) ListResources(context.Context, *pluginv1.ListResourcesRequest) (*pluginv1.ListResourcesResponse, error) {
	return &pluginv1.ListResourcesResponse{
		Resources: []*pluginv1.Resource{{Uri: "test://b", Name: "b"}, {Uri: "not a uri", Name: "c"}}, NextCursor: "2",
	}, nil
}

func (p *testPlugin) ShouldRegister(_ context.Context, r *pluginv1.ShouldRegisterRequest) (*pluginv1.ShouldRegisterResponse, error) {
	if r.GetPrimitives()[0].GetName() == "safe" && len(r.GetPrimitives()) == 1 {
		return &pluginv1.ShouldRegisterResponse{}, nil
	}
	return &pluginv1.ShouldRegisterResponse{Register: []bool{true}}, nil
}

func (p *testPlugin) Authorize(ctx context.Context, r *pluginv1.AuthorizeRequest) (*pluginv1.AuthorizeResponse, error) {
	if r.GetPurpose() == pluginv1.AuthorizeRequest_PURPOSE_USE {
		switch {
		case strings.Contains(string(r.GetArgumentsJson()), `"hang-hook"`):
			<-ctx.Done()
			return nil, ctx.Err()
		case strings.Contains(string(r.GetArgumentsJson()), `"forbidden"`):
			return &pluginv1.AuthorizeResponse{Verdicts: []*pluginv1.Verdict{{Decision: pluginv1.Verdict_DECISION_DENY, Reason: "a reason"}}}, nil
		}
	}
	return &pluginv1.AuthorizeResponse{Verdicts: []*pluginv1.Verdict{{Decision: pluginv1.Verdict_DECISION_ALLOW}}}, nil
}
