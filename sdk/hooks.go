package sdk

import (
	"context"
	"encoding/json"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// A Kind is one of the four kinds of primitive.
type Kind uint8

// The kinds of primitive.
const (
	KindTool Kind = iota + 1
	KindResource
	KindTemplate
	KindPrompt
)

// A Ref names one primitive by the plugin's own name; a resource by its URI.
type Ref struct {
	Kind Kind
	Name string
}

// A Verdict says whether a caller may use a primitive. The zero value is a denial.
type Verdict struct {
	Allow          bool
	Reason         string // for the audit log
	RequiredScopes []string
}

// A RegisterFunc decides whether a primitive is there at all for a caller. An error is a no.
type RegisterFunc func(ctx context.Context, c *Call, ref Ref) (bool, error)

// An AuthorizeFunc decides whether a caller may see or use a primitive. Arguments are those of the use, or nil when
// the primitive is only listed. An error is a denial.
type AuthorizeFunc func(ctx context.Context, c *Call, ref Ref, arguments json.RawMessage) (Verdict, error)

type registerHook struct {
	decide RegisterFunc
	keep   time.Duration
}

type authorizeHook struct {
	decide AuthorizeFunc
	keep   time.Duration
}

// ShouldRegister sets the hook that decides which primitives are there for a caller. The host may keep an answer for the
// time given. A hook can only narrow what the operator allows, has a short deadline, and must be set before the
// plugin is served.
func (p *Plugin) ShouldRegister(keep time.Duration, fn RegisterFunc) {
	p.register = &registerHook{decide: fn, keep: keep}
}

// Authorize sets the hook that decides what a caller may see and use. The host may keep an answer about a listing
// for the time given. What [Plugin.ShouldRegister] says about hooks holds here too.
func (p *Plugin) Authorize(keep time.Duration, fn AuthorizeFunc) {
	p.authorize = &authorizeHook{decide: fn, keep: keep}
}

// answer answers for all primitives of the request; one that failed is not there.
func (h *registerHook) answer(ctx context.Context, c *Call, refs []*pluginv1.PrimitiveRef) *pluginv1.ShouldRegisterResponse {
	response := &pluginv1.ShouldRegisterResponse{Register: make([]bool, len(refs)), CacheFor: durationpb.New(h.keep)}
	for i, ref := range refs {
		err := guard(c.plugin, "should_register hook", func() (err error) {
			response.Register[i], err = h.decide(ctx, c, refOf(ref))
			return err
		})
		if err != nil {
			c.plugin.log.Warn("hook did not decide", "primitive", ref.GetName(), "error", err)
			response.Register[i] = false
			response.CacheFor = nil
		}
	}
	return response
}

// answer gives a verdict on all primitives of the request; one that failed is denied.
func (h *authorizeHook) answer(ctx context.Context, c *Call, request *pluginv1.AuthorizeRequest) *pluginv1.AuthorizeResponse {
	response := &pluginv1.AuthorizeResponse{CacheFor: durationpb.New(h.keep)}
	var arguments json.RawMessage
	if request.GetPurpose() == pluginv1.AuthorizeRequest_PURPOSE_USE {
		arguments = request.GetArgumentsJson()
	}
	for _, ref := range request.GetPrimitives() {
		var verdict Verdict
		err := guard(c.plugin, "authorize hook", func() (err error) {
			verdict, err = h.decide(ctx, c, refOf(ref), arguments)
			return err
		})
		if err != nil {
			c.plugin.log.Warn("hook did not decide", "primitive", ref.GetName(), "error", err)
			verdict = Verdict{Reason: "the hook failed"}
			response.CacheFor = nil
		}
		response.Verdicts = append(response.Verdicts, verdict.toProto())
	}
	return response
}

func (v Verdict) toProto() *pluginv1.Verdict {
	decision := pluginv1.Verdict_DECISION_DENY
	if v.Allow {
		decision = pluginv1.Verdict_DECISION_ALLOW
	}
	return &pluginv1.Verdict{Decision: decision, Reason: v.Reason, RequiredScopes: v.RequiredScopes}
}

func refOf(ref *pluginv1.PrimitiveRef) Ref {
	r := Ref{Name: ref.GetName()}
	switch ref.GetKind() {
	case pluginv1.PrimitiveRef_KIND_TOOL:
		r.Kind = KindTool
	case pluginv1.PrimitiveRef_KIND_RESOURCE:
		r.Kind = KindResource
	case pluginv1.PrimitiveRef_KIND_RESOURCE_TEMPLATE:
		r.Kind = KindTemplate
	case pluginv1.PrimitiveRef_KIND_PROMPT:
		r.Kind = KindPrompt
	case pluginv1.PrimitiveRef_KIND_UNSPECIFIED:
	}
	return r
}
