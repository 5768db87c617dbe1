package sdk

import (
	"context"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// ReadResource reads a resource.
func (s *service) ReadResource(ctx context.Context, request *pluginv1.ReadResourceRequest) (*pluginv1.ReadResourceResponse, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	defer s.begin()()
	c := s.call(request.GetContext(), request.GetUri(), request.GetInputResponsesJson(), request.State)
	var result *pluginv1.ReadResourceResult
	err := guard(s.p, "resource "+request.GetUri(), func() error {
		read, what := s.p.catalog.load().find(request.GetUri())
		if read == nil {
			return NotFound(request.GetUri())
		}
		out, err := read(ctx, c, what)
		if err != nil {
			return err
		}
		// server/resources: servers MUST NOT return empty contents for a resource that does not exist.
		if out == nil || len(out.Contents) == 0 {
			return NotFound(request.GetUri())
		}
		result, err = out.toProto()
		return err
	})
	if ctx.Err() != nil {
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	failed, err := c.failRead(request.GetUri(), err)
	switch {
	case err != nil:
		return nil, status.Error(codes.Internal, err.Error())
	case failed == nil:
		return &pluginv1.ReadResourceResponse{Outcome: &pluginv1.ReadResourceResponse_Result{Result: result}}, nil
	case failed.input != nil:
		return &pluginv1.ReadResourceResponse{Outcome: &pluginv1.ReadResourceResponse_InputRequired{InputRequired: failed.input}}, nil
	default:
		return &pluginv1.ReadResourceResponse{Outcome: &pluginv1.ReadResourceResponse_Error{Error: failed.err}}, nil
	}
}

// GetPrompt fills in a prompt.
func (s *service) GetPrompt(ctx context.Context, request *pluginv1.GetPromptRequest) (*pluginv1.GetPromptResponse, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	defer s.begin()()
	c := s.call(request.GetContext(), request.GetName(), request.GetInputResponsesJson(), request.State)
	var result *pluginv1.GetPromptResult
	err := guard(s.p, "prompt "+request.GetName(), func() error {
		pr, ok := s.p.catalog.load().prompts[request.GetName()]
		if !ok {
			return &Error{Code: CodeInvalidParams, Message: fmt.Sprintf("unknown prompt %q", request.GetName())}
		}
		out, err := pr.get(ctx, c, request.GetArguments())
		if err != nil {
			return err
		}
		result, err = out.toProto()
		return err
	})
	if ctx.Err() != nil {
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	failed, err := c.fail("prompt", err)
	switch {
	case err != nil:
		return nil, status.Error(codes.Internal, err.Error())
	case failed == nil:
		return &pluginv1.GetPromptResponse{Outcome: &pluginv1.GetPromptResponse_Result{Result: result}}, nil
	case failed.input != nil:
		return &pluginv1.GetPromptResponse{Outcome: &pluginv1.GetPromptResponse_InputRequired{InputRequired: failed.input}}, nil
	default:
		return &pluginv1.GetPromptResponse{Outcome: &pluginv1.GetPromptResponse_Error{Error: failed.err}}, nil
	}
}

// Complete proposes values. An argument that nobody completes has none.
func (s *service) Complete(ctx context.Context, request *pluginv1.CompleteRequest) (*pluginv1.CompleteResponse, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	defer s.begin()()
	now := s.p.catalog.load()
	reference := request.GetReference()
	if !now.has(reference) {
		e := &pluginv1.Error{Code: CodeInvalidParams, Message: fmt.Sprintf("unknown reference %q", reference.GetName())}
		return &pluginv1.CompleteResponse{Outcome: &pluginv1.CompleteResponse_Error{Error: e}}, nil
	}
	fn, ok := now.completions[completionKey{reference.GetKind(), reference.GetName(), request.GetArgumentName()}]
	if !ok {
		return &pluginv1.CompleteResponse{Outcome: &pluginv1.CompleteResponse_Result{Result: completion(nil)}}, nil
	}
	c := s.call(request.GetContext(), reference.GetName(), nil, nil)
	var values []string
	err := guard(s.p, "completion of "+reference.GetName(), func() (err error) {
		values, err = fn(ctx, c, Completing{
			Argument: request.GetArgumentName(), Value: request.GetArgumentValue(), Others: request.GetContextArguments(),
		})
		return err
	})
	if ctx.Err() != nil {
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	failed, err := c.fail("completion", err)
	switch {
	case err != nil:
		return nil, status.Error(codes.Internal, err.Error())
	case failed == nil:
		return &pluginv1.CompleteResponse{Outcome: &pluginv1.CompleteResponse_Result{Result: completion(values)}}, nil
	case failed.err == nil:
		return nil, status.Error(codes.Internal, "a completion cannot ask for input")
	default:
		return &pluginv1.CompleteResponse{Outcome: &pluginv1.CompleteResponse_Error{Error: failed.err}}, nil
	}
}

// has reports whether the prompt or template of a reference is there.
func (c *contents) has(reference *pluginv1.PrimitiveRef) bool {
	switch reference.GetKind() {
	case pluginv1.PrimitiveRef_KIND_PROMPT:
		_, ok := c.prompts[reference.GetName()]
		return ok
	case pluginv1.PrimitiveRef_KIND_RESOURCE_TEMPLATE:
		_, ok := c.templates[reference.GetName()]
		return ok
	case pluginv1.PrimitiveRef_KIND_UNSPECIFIED, pluginv1.PrimitiveRef_KIND_TOOL, pluginv1.PrimitiveRef_KIND_RESOURCE:
	}
	return false
}

// SetSubscriptions tells the plugin who watches what.
func (s *service) SetSubscriptions(ctx context.Context, request *pluginv1.SetSubscriptionsRequest) (*pluginv1.SetSubscriptionsResponse, error) {
	if s.p.subscribed == nil {
		return &pluginv1.SetSubscriptionsResponse{}, nil
	}
	err := guard(s.p, "the subscriptions", func() error {
		s.p.subscribed(ctx, request.GetUris())
		return nil
	})
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &pluginv1.SetSubscriptionsResponse{}, nil
}

// ShouldRegister asks the plugin's hook.
func (s *service) ShouldRegister(ctx context.Context, request *pluginv1.ShouldRegisterRequest) (*pluginv1.ShouldRegisterResponse, error) {
	if s.p.register == nil {
		return nil, status.Error(codes.Unimplemented, "the plugin has no should_register hook")
	}
	c := s.call(request.GetContext(), "should_register", nil, nil)
	return s.p.register.answer(ctx, c, request.GetPrimitives()), nil
}

// Authorize asks the plugin's hook.
func (s *service) Authorize(ctx context.Context, request *pluginv1.AuthorizeRequest) (*pluginv1.AuthorizeResponse, error) {
	if s.p.authorize == nil {
		return nil, status.Error(codes.Unimplemented, "the plugin has no authorize hook")
	}
	c := s.call(request.GetContext(), "authorize", nil, nil)
	return s.p.authorize.answer(ctx, c, request), nil
}
