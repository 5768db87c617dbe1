package sdk

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// A Content is one block of what a tool or prompt says: [Text], [Image], [Audio], [EmbeddedResource],
// [ResourceLink], [RawContent], or one of these with more around it, [Annotated].
type Content interface {
	toProto() (*pluginv1.Content, error)
}

var _ = []Content{Text(""), Image{}, Audio{}, EmbeddedResource{}, ResourceLink{}, RawContent(nil), Annotated{}}

// Text is a block of text.
type Text string

// Image is a picture; Data is the picture itself, not base64.
type Image struct {
	Data     []byte
	MIMEType string
}

// Audio is a sound; Data is the sound itself, not base64.
type Audio struct {
	Data     []byte
	MIMEType string
}

// EmbeddedResource is a resource with its contents. It is a blob if Blob is not nil, text otherwise.
type EmbeddedResource struct {
	URI      string
	MIMEType string
	Text     string
	Blob     []byte
	Meta     map[string]any
}

// ResourceLink points to a resource that the client may read.
type ResourceLink Resource

// RawContent is a block of a type that this package does not know: one JSON object, passed on as it is.
type RawContent json.RawMessage

// Annotated is a block with hints for the client around it.
type Annotated struct {
	Content      Content
	Audience     []string  // "user", "assistant"
	Priority     *float64  // 0 to 1
	LastModified time.Time // zero: not said
	Meta         map[string]any
}

func (t Text) toProto() (*pluginv1.Content, error) {
	return &pluginv1.Content{Kind: &pluginv1.Content_Text{Text: valid(string(t))}}, nil
}

func (i Image) toProto() (*pluginv1.Content, error) {
	return &pluginv1.Content{Kind: &pluginv1.Content_Image{Image: &pluginv1.Blob{Data: i.Data, MimeType: valid(i.MIMEType)}}}, nil
}

func (a Audio) toProto() (*pluginv1.Content, error) {
	return &pluginv1.Content{Kind: &pluginv1.Content_Audio{Audio: &pluginv1.Blob{Data: a.Data, MimeType: valid(a.MIMEType)}}}, nil
}

func (r EmbeddedResource) toProto() (*pluginv1.Content, error) {
	contents, err := r.contents()
	if err != nil {
		return nil, err
	}
	return &pluginv1.Content{Kind: &pluginv1.Content_Resource{Resource: contents}}, nil
}

func (r EmbeddedResource) contents() (*pluginv1.ResourceContents, error) {
	meta, err := optionalJSON(r.Meta)
	if err != nil {
		return nil, fmt.Errorf("encoding the metadata of resource %q: %w", r.URI, err)
	}
	contents := &pluginv1.ResourceContents{Uri: valid(r.URI), MimeType: valid(r.MIMEType), MetaJson: meta}
	if r.Blob != nil {
		contents.Body = &pluginv1.ResourceContents_Blob{Blob: r.Blob}
	} else {
		contents.Body = &pluginv1.ResourceContents_Text{Text: valid(r.Text)}
	}
	return contents, nil
}

func (l ResourceLink) toProto() (*pluginv1.Content, error) {
	resource, err := Resource(l).toProto()
	if err != nil {
		return nil, err
	}
	return &pluginv1.Content{Kind: &pluginv1.Content_ResourceLink{ResourceLink: resource}}, nil
}

func (r RawContent) toProto() (*pluginv1.Content, error) {
	if !json.Valid(r) {
		return nil, fmt.Errorf("raw content is not valid JSON")
	}
	return &pluginv1.Content{Kind: &pluginv1.Content_ContentJson{ContentJson: r}}, nil
}

func (a Annotated) toProto() (*pluginv1.Content, error) {
	if a.Content == nil {
		return nil, fmt.Errorf("annotated content holds no content")
	}
	content, err := a.Content.toProto()
	if err != nil {
		return nil, err
	}
	content.AnnotationsJson, err = annotationsJSON(a.Audience, a.Priority, a.LastModified)
	if err != nil {
		return nil, err
	}
	content.MetaJson, err = optionalJSON(a.Meta)
	return content, err
}

// valid returns s with what is not UTF-8 replaced: protobuf would refuse the whole message.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// annotationsJSON returns the annotations of content and resources, or nil if there are none.
func annotationsJSON(audience []string, priority *float64, modified time.Time) ([]byte, error) {
	if len(audience) == 0 && priority == nil && modified.IsZero() {
		return nil, nil
	}
	return encodeJSON(struct {
		Audience     []string  `json:"audience,omitempty"`
		Priority     *float64  `json:"priority,omitempty"`
		LastModified time.Time `json:"lastModified,omitzero"`
	}{audience, priority, modified})
}

// contentsToProto translates blocks; a nil block is an error, not a crash.
func contentsToProto(blocks []Content) ([]*pluginv1.Content, error) {
	list := make([]*pluginv1.Content, 0, len(blocks))
	for i, block := range blocks {
		if block == nil {
			return nil, fmt.Errorf("content block %d is nil", i)
		}
		content, err := block.toProto()
		if err != nil {
			return nil, fmt.Errorf("content block %d: %w", i, err)
		}
		list = append(list, content)
	}
	return list, nil
}
