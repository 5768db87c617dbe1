package registry

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/primitive"
)

// newWatched returns an endpoint with one template, and counts matches of it.
func newWatched(t *testing.T, watched *[]string) (e *Endpoint, matches *int) {
	t.Helper()
	r := New(hclog.NewNullLogger(), func(_ string, uris []string) { *watched = uris })
	r.SetOffer("p", &Offer{HasResources: true, ResourceUpdates: true, Templates: []*primitive.Primitive{
		{Kind: primitive.KindTemplate, Key: "t://a/{id}", Own: "t://a/{id}", Definition: []byte(`{}`)},
	}})
	e = r.NewEndpoint(Options{Name: "e", Plugins: []Member{{Handle: "p"}}})
	matches = new(int)
	template := e.current.Load().templates[0]
	really := template.Matches
	template.Matches = func(uri string) bool { *matches++; return really(uri) }
	return e, matches
}

func TestASubscriptionCostsItsOwnURIs(t *testing.T) {
	var watched []string
	e, matches := newWatched(t, &watched)
	var subs []mcp.Subscription
	const n = 50
	for i := range n {
		subs = append(subs, e.Subscribe(nil, mcp.Interest{URIs: []string{fmt.Sprintf("t://a/%d", i)}}))
	}
	if len(watched) != n || *matches != n {
		t.Errorf("%d resources are watched after %d matches, want %d of both", len(watched), *matches, n)
	}
	for _, s := range subs {
		s.Close()
	}
	if len(watched) != 0 || *matches != n {
		t.Errorf("%d resources are watched after the end and %d matches", len(watched), *matches)
	}
}

func TestOwnersAreLookedUpAnewInANewCatalog(t *testing.T) {
	var watched []string
	r := New(hclog.NewNullLogger(), func(_ string, uris []string) { watched = uris })
	e := r.NewEndpoint(Options{Name: "e", Plugins: []Member{{Handle: "p"}}})
	s := e.Subscribe(nil, mcp.Interest{URIs: []string{"t://a/1"}})
	defer s.Close()
	if watched != nil {
		t.Fatalf("nobody's resource is watched: %q", watched)
	}
	r.SetOffer("p", &Offer{ResourceUpdates: true, Templates: []*primitive.Primitive{
		{Kind: primitive.KindTemplate, Key: "t://a/{id}", Own: "t://a/{id}", Definition: []byte(`{}`)},
	}})
	if len(watched) != 1 {
		t.Errorf("watched %q after the plugin came, want t://a/1", watched)
	}
}

// A match takes microseconds a byte: one read of a URI of a megabyte took
// seconds for each template.
func TestLongURIsMatchNoTemplate(t *testing.T) {
	var watched []string
	e, _ := newWatched(t, &watched)
	v := e.View(t.Context(), nil)
	for uri, want := range map[string]bool{
		"t://a/" + strings.Repeat("x", 3000):    true,
		"t://a/" + strings.Repeat("x", 1<<20):   false,
		"other://" + strings.Repeat("x", 1<<20): false,
	} {
		if got := e.Readable(v, uri); got != want {
			t.Errorf("a URI of %d bytes is readable: %v, want %v", len(uri), got, want)
		}
	}
}
