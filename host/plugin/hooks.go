package plugin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/primitive"
	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// hookTimeout bounds an answer of a hook. Without one in time, the caller must
// take it for a no.
const hookTimeout = 2 * time.Second

// A Verdict is what the plugin's own hook says of one primitive.
type Verdict struct {
	Allow          bool
	Reason         string // for the audit log
	RequiredScopes []string
}

// ShouldRegister asks the plugin which of list are there at all for c: one
// answer for each, and how long they are good for. It is called only if the
// plugin announced it; an error means none.
func (p *Plugin) ShouldRegister(ctx context.Context, c *primitive.Caller, list []*primitive.Primitive) ([]bool, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, hookTimeout)
	defer cancel()
	i, err := p.hook(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer p.sup.leave()
	r, err := i.client.ShouldRegister(ctx, &pluginv1.ShouldRegisterRequest{Context: callContext(c, nil), Primitives: references(list)})
	if err != nil {
		return nil, 0, p.failure(ctx, i, err)
	}
	answers := make([]bool, len(list))
	copy(answers, r.GetRegister())
	return answers, keepFor(r.GetCacheFor()), nil
}

// Authorize asks the plugin whether c may use list: many to list them, then
// args is nil, or one to use it with args. It is called only if the plugin
// announced it; an error means no.
func (p *Plugin) Authorize(
	ctx context.Context, c *primitive.Caller, list []*primitive.Primitive, use bool, args []byte,
) ([]Verdict, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, hookTimeout)
	defer cancel()
	if args != nil && !jsonrpc.IsObject(args) {
		return nil, 0, primitive.Wrap(primitive.Internal, errors.New("the arguments are no object"))
	}
	i, err := p.hook(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer p.sup.leave()
	purpose := pluginv1.AuthorizeRequest_PURPOSE_LIST
	if use {
		purpose = pluginv1.AuthorizeRequest_PURPOSE_USE
	}
	r, err := i.client.Authorize(ctx, &pluginv1.AuthorizeRequest{
		Context: callContext(c, nil), Purpose: purpose, Primitives: references(list), ArgumentsJson: args,
	})
	if err != nil {
		return nil, 0, p.failure(ctx, i, err)
	}
	answers := make([]Verdict, len(list))
	got := r.GetVerdicts()
	for n, v := range got[:min(len(got), len(list))] {
		answers[n] = Verdict{
			Allow:          v.GetDecision() == pluginv1.Verdict_DECISION_ALLOW,
			Reason:         clean(v.GetReason(), maxText, false),
			RequiredScopes: cleanList(v.GetRequiredScopes()),
		}
	}
	return answers, keepFor(r.GetCacheFor()), nil
}

// permit asks the plugin's own hooks, where it has some, whether c may use pr
// with args. What is not there for c fails as a name that never was; a hook
// that fails, hangs or says nothing is a denial.
//
// Listings are not filtered by hooks: they show what a use is then refused.
func (p *Plugin) permit(ctx context.Context, c *primitive.Caller, pr *primitive.Primitive, args []byte) error {
	catalog := p.catalog.Load()
	if catalog == nil {
		return nil // then there is nothing that could be used
	}
	one := []*primitive.Primitive{pr}
	if catalog.Capabilities.ShouldRegister {
		there, _, err := p.ShouldRegister(ctx, c, one)
		if err != nil {
			return p.denied(pr, err.Error())
		}
		if !there[0] {
			return absent(pr)
		}
	}
	if catalog.Capabilities.Authorize {
		verdicts, _, err := p.Authorize(ctx, c, one, true, args)
		if err != nil {
			return p.denied(pr, err.Error())
		}
		if !verdicts[0].Allow {
			return p.denied(pr, verdicts[0].Reason)
		}
	}
	return nil
}

// denied tells the operator why; the client learns only that it is so.
func (p *Plugin) denied(pr *primitive.Primitive, reason string) error {
	p.log.Info("use denied by the plugin's hook", "primitive", pr.Kind, "name", pr.Own, "reason", reason)
	return &primitive.Error{Failure: primitive.Denied, Err: errors.New(reason)}
}

// absent is the failure of a name that is not there; see registry.
func absent(pr *primitive.Primitive) error {
	if pr.Kind == primitive.KindResource || pr.Kind == primitive.KindTemplate {
		return primitive.Errorf(primitive.NotFound, "resource not found")
	}
	return primitive.Errorf(primitive.NotFound, "unknown %s: %q", pr.Kind, pr.Key)
}

// hook returns the process to ask. A hook takes no slot: it must not wait for
// the calls that wait for it. leave must follow if err is nil.
func (p *Plugin) hook(ctx context.Context) (*instance, error) {
	p.sup.enter()
	i, err := p.sup.get(ctx)
	if err != nil {
		p.sup.leave()
		return nil, p.unavailable(ctx, fmt.Errorf("asking a hook: %w", err))
	}
	return i, nil
}

func references(list []*primitive.Primitive) []*pluginv1.PrimitiveRef {
	refs := make([]*pluginv1.PrimitiveRef, len(list))
	for i, p := range list {
		refs[i] = reference(p)
	}
	return refs
}

func keepFor(d *durationpb.Duration) time.Duration {
	if !d.IsValid() || d.AsDuration() < 0 {
		return 0
	}
	return d.AsDuration()
}
