package sdk

import (
	"context"
	"fmt"
	"time"

	"github.com/yosida95/uritemplate/v3"
	"google.golang.org/protobuf/types/known/durationpb"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// A Resource is what a client is told about a resource. URI and Name must be set.
type Resource struct {
	URI         string
	Name        string
	Title       string
	Description string
	MIMEType    string
	Size        *int64 // bytes; nil is unknown

	Audience     []string
	Priority     *float64
	LastModified time.Time
	Icons        []Icon
	Meta         map[string]any
}

// A Template is a family of resources, whose URIs match an RFC 6570 template. URITemplate and Name must be set.
type Template struct {
	URITemplate string
	Name        string
	Title       string
	Description string
	MIMEType    string

	Audience     []string
	Priority     *float64
	LastModified time.Time
	Icons        []Icon
	Meta         map[string]any
}

// A Read is what a [ReadFunc] is asked for.
type Read struct {
	URI      string
	MIMEType string            // of the resource or template
	Vars     map[string]string // of the template that matched; nil for a resource
}

// A ReadResult is what a resource holds.
type ReadResult struct {
	Contents []EmbeddedResource
	TTL      time.Duration // how long it may be kept; 0: not at all
	Public   bool          // whether it may be kept for everybody, not for this caller alone
	Meta     map[string]any
}

// Text returns text as the contents of the resource that was asked for.
func (r Read) Text(text string) *ReadResult {
	return &ReadResult{Contents: []EmbeddedResource{{URI: r.URI, MIMEType: r.MIMEType, Text: text}}}
}

// Blob returns bytes as the contents of the resource that was asked for.
func (r Read) Blob(data []byte) *ReadResult {
	if data == nil {
		data = []byte{}
	}
	return &ReadResult{Contents: []EmbeddedResource{{URI: r.URI, MIMEType: r.MIMEType, Blob: data}}}
}

// A ReadFunc reads a resource. An error that is fs.ErrNotExist, and an empty result, mean that there is no such resource.
type ReadFunc func(ctx context.Context, c *Call, r Read) (*ReadResult, error)

// resource is a resource as it is served.
type resource struct {
	definition *pluginv1.Resource
	read       ReadFunc
}

// template is a template as it is served.
type template struct {
	definition *pluginv1.ResourceTemplate
	pattern    *uritemplate.Template
	read       ReadFunc
}

// AddResource adds a resource, or replaces the one of that URI. It panics if the definition is broken.
func (p *Plugin) AddResource(r Resource, fn ReadFunc) {
	definition, err := r.toProto()
	if err != nil {
		panic(fmt.Sprintf("sdk: resource %q: %v", r.URI, err))
	}
	p.catalog.change(func(c *contents) { c.resources[r.URI] = &resource{definition: definition, read: fn} })
}

// RemoveResource removes a resource. It does nothing if there is no such resource.
func (p *Plugin) RemoveResource(uri string) {
	p.catalog.change(func(c *contents) { delete(c.resources, uri) })
}

// AddTemplate adds a template, or replaces the one that is spelled the same. Where several match a URI, the first
// by spelling is asked; a resource of that very URI comes before all. It panics if the definition is broken.
func (p *Plugin) AddTemplate(t Template, fn ReadFunc) {
	definition, err := t.toProto()
	if err != nil {
		panic(fmt.Sprintf("sdk: resource template %q: %v", t.URITemplate, err))
	}
	pattern, err := uritemplate.New(t.URITemplate)
	if err != nil {
		panic(fmt.Sprintf("sdk: resource template %q: %v", t.URITemplate, err))
	}
	// The pattern compiles its matcher on first use, and not under a lock.
	pattern.Regexp()
	p.catalog.change(func(c *contents) {
		c.templates[t.URITemplate] = &template{definition: definition, pattern: pattern, read: fn}
	})
}

// RemoveTemplate removes a template. It does nothing if there is no such template.
func (p *Plugin) RemoveTemplate(uriTemplate string) {
	p.catalog.change(func(c *contents) { delete(c.templates, uriTemplate) })
}

// ResourceUpdated tells those who watch the resource that its contents changed. It needs [WithResourceUpdates].
func (p *Plugin) ResourceUpdated(uri string) { p.catalog.updated(uri) }

// OnSubscriptions has fn called with the whole set of resource URIs that somebody watches now, whenever it changes.
// It must be called before the plugin is served.
func (p *Plugin) OnSubscriptions(fn func(ctx context.Context, uris []string)) { p.subscribed = fn }

func (r Resource) toProto() (*pluginv1.Resource, error) {
	if r.URI == "" || r.Name == "" {
		return nil, fmt.Errorf("a resource has a URI and a name")
	}
	definition := &pluginv1.Resource{
		Uri: valid(r.URI), Name: valid(r.Name), Title: valid(r.Title), Description: valid(r.Description), MimeType: valid(r.MIMEType), Size: r.Size,
	}
	var err error
	if definition.AnnotationsJson, err = annotationsJSON(r.Audience, r.Priority, r.LastModified); err != nil {
		return nil, err
	}
	if definition.IconsJson, err = iconsJSON(r.Icons); err != nil {
		return nil, err
	}
	definition.MetaJson, err = optionalJSON(r.Meta)
	return definition, err
}

func (t Template) toProto() (*pluginv1.ResourceTemplate, error) {
	if t.Name == "" {
		return nil, fmt.Errorf("a resource template has a name")
	}
	definition := &pluginv1.ResourceTemplate{
		UriTemplate: t.URITemplate, Name: t.Name, Title: t.Title, Description: t.Description, MimeType: t.MIMEType,
	}
	var err error
	if definition.AnnotationsJson, err = annotationsJSON(t.Audience, t.Priority, t.LastModified); err != nil {
		return nil, err
	}
	if definition.IconsJson, err = iconsJSON(t.Icons); err != nil {
		return nil, err
	}
	definition.MetaJson, err = optionalJSON(t.Meta)
	return definition, err
}

func (r *ReadResult) toProto() (*pluginv1.ReadResourceResult, error) {
	scope := pluginv1.CacheHint_SCOPE_PRIVATE
	if r.Public {
		scope = pluginv1.CacheHint_SCOPE_PUBLIC
	}
	result := &pluginv1.ReadResourceResult{Cache: &pluginv1.CacheHint{Ttl: durationpb.New(r.TTL), Scope: scope}}
	for _, part := range r.Contents {
		contents, err := part.contents()
		if err != nil {
			return nil, err
		}
		result.Contents = append(result.Contents, contents)
	}
	var err error
	result.MetaJson, err = optionalJSON(r.Meta)
	return result, err
}

// find returns who reads uri, and what it is asked for.
func (c *contents) find(uri string) (ReadFunc, Read) {
	if r, ok := c.resources[uri]; ok {
		return r.read, Read{URI: uri, MIMEType: r.definition.GetMimeType()}
	}
	for _, key := range c.templateOrder {
		t := c.templates[key]
		values := t.pattern.Match(uri)
		if values == nil {
			continue
		}
		read := Read{URI: uri, MIMEType: t.definition.GetMimeType(), Vars: map[string]string{}}
		for _, name := range t.pattern.Varnames() {
			read.Vars[name] = values.Get(name).String()
		}
		return t.read, read
	}
	return nil, Read{}
}
