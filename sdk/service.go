package sdk

import (
	"context"
	"fmt"
	"sync/atomic"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// resultRoom is what a message to the host may take beside the result itself.
const resultRoom = 64 << 10

// service answers the host: it is the plugin as the contract sees it.
type service struct {
	pluginv1.UnimplementedPluginServiceServer
	p          *Plugin
	configured atomic.Bool
}

var _ pluginv1.PluginServiceServer = (*service)(nil)

// Describe tells the static facts.
func (s *service) Describe(context.Context, *pluginv1.DescribeRequest) (*pluginv1.DescribeResponse, error) {
	return s.p.describe(), nil
}

// ValidateConfig checks a configuration.
func (s *service) ValidateConfig(_ context.Context, request *pluginv1.ValidateConfigRequest) (*pluginv1.ValidateConfigResponse, error) {
	var diagnostics Diagnostics
	err := guard(s.p, "the check of the configuration", func() error {
		diagnostics = s.config().validate(request.GetConfigJson())
		return nil
	})
	diagnostics = append(diagnostics, diagnosticsOf(err)...)
	return &pluginv1.ValidateConfigResponse{Diagnostics: diagnostics.toProto()}, nil
}

// Configure sets the plugin up, once.
func (s *service) Configure(ctx context.Context, request *pluginv1.ConfigureRequest) (*pluginv1.ConfigureResponse, error) {
	if !s.configured.CompareAndSwap(false, true) && !s.p.debugged {
		return nil, status.Error(codes.FailedPrecondition, "the plugin is configured already")
	}
	var diagnostics Diagnostics
	err := guard(s.p, "the set-up", func() error {
		about := Setup{Handle: request.GetHandle(), DataDir: request.GetDataDir(), secrets: request.GetSecrets()}
		diagnostics = s.config().configure(ctx, about, request.GetConfigJson())
		return nil
	})
	diagnostics = append(diagnostics, diagnosticsOf(err)...)
	if diagnostics.fatal() {
		s.configured.Store(false)
		return &pluginv1.ConfigureResponse{Diagnostics: diagnostics.toProto()}, nil
	}
	s.p.setup.Store(&setup{handle: request.GetHandle(), dataDir: request.GetDataDir(), secrets: request.GetSecrets()})
	return &pluginv1.ConfigureResponse{Diagnostics: diagnostics.toProto(), Capabilities: s.p.capabilities()}, nil
}

// config returns the plugin's configuration; a plugin without one takes an empty block alone.
func (s *service) config() configurer {
	if s.p.config != nil {
		return s.p.config
	}
	return &Config[struct{}]{decoder: &decoder[struct{}]{checked: true}}
}

// Watch sends the catalog, and again whenever it changed, and resource updates.
func (s *service) Watch(_ *pluginv1.WatchRequest, stream pluginv1.PluginService_WatchServer) error {
	w := s.p.catalog.watch()
	defer s.p.catalog.unwatch(w)
	for sent := (*contents)(nil); ; {
		// Updates are taken before the catalog is looked at: a new resource is told of before its update.
		updates := s.p.catalog.take(w)
		if now := s.p.catalog.load(); now != sent {
			for _, part := range now.parts(s.p.instructions) {
				if err := stream.Send(&pluginv1.WatchResponse{Event: &pluginv1.WatchResponse_Catalog{Catalog: part}}); err != nil {
					return err
				}
			}
			sent = now
		}
		for _, uri := range updates {
			event := &pluginv1.WatchResponse_ResourceUpdated{ResourceUpdated: &pluginv1.ResourceUpdated{Uri: uri}}
			if err := stream.Send(&pluginv1.WatchResponse{Event: event}); err != nil {
				return err
			}
		}
		select {
		case <-w.changed:
		case <-stream.Context().Done():
			return status.FromContextError(stream.Context().Err()).Err()
		}
	}
}

// CallTool calls a tool. Progress and logs have no way to the caller here.
func (s *service) CallTool(ctx context.Context, request *pluginv1.CallToolRequest) (*pluginv1.CallToolResponse, error) {
	return s.callTool(ctx, request, nil)
}

// CallToolStream calls a tool, and sends progress and logs before the outcome.
func (s *service) CallToolStream(request *pluginv1.CallToolStreamRequest, stream pluginv1.PluginService_CallToolStreamServer) error {
	response, err := s.callTool(stream.Context(), request.GetCall(), stream.Send)
	if err != nil {
		return err
	}
	return stream.Send(&pluginv1.CallToolStreamResponse{Event: &pluginv1.CallToolStreamResponse_Outcome{Outcome: response}})
}

func (s *service) callTool(ctx context.Context, request *pluginv1.CallToolRequest, send func(*pluginv1.CallToolStreamResponse) error) (*pluginv1.CallToolResponse, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	defer s.begin()()
	t, ok := s.p.catalog.load().tools[request.GetName()]
	if !ok {
		message := fmt.Sprintf("unknown tool %q", request.GetName())
		return toolOutcome(&outcome{err: &pluginv1.Error{Code: CodeInvalidParams, Message: message}}), nil
	}
	c := s.call(request.GetContext(), request.GetName(), request.GetInputResponsesJson(), request.State)
	c.send = send
	var result *pluginv1.ToolResult
	err := guard(s.p, t.subject, func() (err error) {
		result, err = t.call(ctx, c, request.GetArgumentsJson())
		return err
	})
	c.silence()
	if ctx.Err() != nil {
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	failed, err := c.fail(t.subject, err)
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	if failed != nil {
		return toolOutcome(failed), nil
	}
	if size := proto.Size(result); size > pluginv1.MaxMessageFromPlugin-resultRoom {
		result = errorResult(fmt.Sprintf("the result is too large: %d bytes, %d are allowed", size, pluginv1.MaxMessageFromPlugin-resultRoom))
	}
	return &pluginv1.CallToolResponse{Outcome: &pluginv1.CallToolResponse_Result{Result: result}}, nil
}

func toolOutcome(o *outcome) *pluginv1.CallToolResponse {
	switch {
	case o.input != nil:
		return &pluginv1.CallToolResponse{Outcome: &pluginv1.CallToolResponse_InputRequired{InputRequired: o.input}}
	case o.tool != nil:
		return &pluginv1.CallToolResponse{Outcome: &pluginv1.CallToolResponse_Result{Result: o.tool}}
	default:
		return &pluginv1.CallToolResponse{Outcome: &pluginv1.CallToolResponse_Error{Error: o.err}}
	}
}

// call returns the call that a handler sees.
func (s *service) call(about *pluginv1.CallContext, subject string, answers map[string][]byte, state []byte) *Call {
	return &Call{plugin: s.p, context: about, subject: subject, answers: answers, state: state, last: unset}
}

// ready returns an error while a plugin with a configuration has none.
func (s *service) ready() error {
	if s.p.config != nil && s.p.setup.Load() == nil {
		return status.Error(codes.FailedPrecondition, "the plugin is not configured")
	}
	return nil
}

// begin counts a handler that runs; the function that it returns ends the count.
func (s *service) begin() func() {
	s.p.running.Add(1)
	return s.p.running.Done
}
