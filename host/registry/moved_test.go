package registry_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphost/mcphost/host/config"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/primitive"
	"github.com/mcphost/mcphost/host/registry"
)

// A retired source takes no more uses, and says when it was asked.
type retired struct {
	source

	asked chan struct{}
}

func (r *retired) CallTool(context.Context, *primitive.Primitive, *primitive.Use) (*primitive.ToolResult, error) {
	r.asked <- struct{}{}
	return nil, primitive.Wrap(primitive.Unavailable, primitive.ErrRetired)
}

func TestAUseFollowsItsToolToTheNextSource(t *testing.T) {
	r := registry.New(hclog.NewNullLogger(), nil)
	e := r.NewEndpoint(registry.Options{Name: "e", Plugins: members("a", "b")})
	old := &retired{asked: make(chan struct{}, 9)}
	r.SetOffer("a", &registry.Offer{Tools: []*primitive.Primitive{
		{Kind: primitive.KindTool, Own: "t", Key: "t", Source: old, Definition: []byte(`{"name":"t"}`), InputSchema: []byte(`{}`)},
	}})
	before := view(t, e)
	done := make(chan string)
	call := func() {
		res, err := e.CallTool(t.Context(), before, "t", &primitive.Use{})
		if err != nil {
			done <- err.Error()
			return
		}
		done <- res.Content[0].Text
	}
	go call()
	<-old.asked
	r.SetOffer("b", tools(&source{name: "b"}, "other")) // not what it waits for
	<-old.asked
	r.SetOffer("a", tools(&source{name: "next"}, "t"))
	if got := <-done; got != "next t {}" {
		t.Errorf("a use that waited got %q", got)
	}
	go call()
	<-old.asked
	if got := <-done; got != "next t {}" {
		t.Errorf("a use that came with an old view got %q", got)
	}
	r.SetOffer("a", nil)
	go call()
	<-old.asked
	if got := <-done; got != `unknown tool: "t"` {
		t.Errorf("a use of a tool that has gone got %q", got)
	}
}

func TestAUseDoesNotWaitForEver(t *testing.T) {
	r := registry.New(hclog.NewNullLogger(), nil)
	e := r.NewEndpoint(registry.Options{Name: "e", Plugins: members("a")})
	old := &retired{asked: make(chan struct{}, 9)}
	r.SetOffer("a", &registry.Offer{Tools: []*primitive.Primitive{
		{Kind: primitive.KindTool, Own: "t", Key: "t", Source: old, Definition: []byte(`{"name":"t"}`), InputSchema: []byte(`{}`)},
	}})
	before := view(t, e)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := e.CallTool(ctx, before, "t", &primitive.Use{})
		done <- err
	}()
	<-old.asked
	cancel()
	if err := <-done; !errors.Is(err, primitive.ErrRetired) {
		t.Errorf("got %v", err)
	}
}

func TestApplyIsOneStep(t *testing.T) {
	r := registry.New(hclog.NewNullLogger(), nil)
	e := r.NewEndpoint(registry.Options{Name: "e", Plugins: members("a", "b")})
	gone := r.NewEndpoint(registry.Options{Name: "gone", Plugins: members("a")})
	r.SetOffer("a", tools(&source{name: "a"}, "x"))
	r.SetOffer("b", tools(&source{name: "b"}, "y"))
	sub := e.Subscribe(&primitive.Caller{}, mcp.Interest{Tools: true})
	defer sub.Close()
	prefixed := registry.Options{Name: "e", Plugins: members("a", "c"), Shapes: registry.Shapes{Tools: &config.Shape{Prefix: "p_"}}}
	r.Apply(registry.Change{
		Offers:    map[string]*registry.Offer{"a": tools(&source{name: "a2"}, "x"), "b": nil, "c": tools(&source{name: "c"}, "z")},
		Endpoints: map[*registry.Endpoint]registry.Options{e: prefixed},
		Removed:   []*registry.Endpoint{gone},
	})
	if got, want := keys(view(t, e).Snapshot.Tools), []string{"p_x", "p_z"}; !slices.Equal(got, want) {
		t.Errorf("served %v, want %v", got, want)
	}
	<-sub.Ready()
	if !sub.Take().Tools {
		t.Error("the change of the list was not told")
	}
	// The same once more, by another process: nothing that a client sees.
	r.Apply(registry.Change{
		Offers:    map[string]*registry.Offer{"a": tools(&source{name: "a3"}, "x")},
		Endpoints: map[*registry.Endpoint]registry.Options{e: prefixed},
	})
	select {
	case <-sub.Ready():
		t.Errorf("told of a list that did not change: %+v", sub.Take())
	default:
	}
	if res, err := e.CallTool(t.Context(), view(t, e), "p_x", &primitive.Use{}); err != nil || res.Content[0].Text != "a3 x {}" {
		t.Errorf("got %v, %v, want the new source", res, err)
	}
	if got := keys(view(t, gone).Snapshot.Tools); !slices.Equal(got, []string{"x"}) {
		t.Errorf("a removed endpoint serves %v", got)
	}
}
