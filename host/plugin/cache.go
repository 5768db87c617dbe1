package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protodelim"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// encodeCatalog returns a catalog for the next run: what the plugin sent, so
// that it passes the same checks again.
func encodeCatalog(caps *pluginv1.Capabilities, parts []*pluginv1.CatalogPart) ([]byte, error) {
	var b bytes.Buffer
	if _, err := protodelim.MarshalTo(&b, caps); err != nil {
		return nil, err
	}
	for _, part := range parts {
		if _, err := protodelim.MarshalTo(&b, part); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// decodeCatalog reads what encodeCatalog made.
func (p *Plugin) decodeCatalog(b []byte) (*Catalog, error) {
	limit := protodelim.UnmarshalOptions{MaxSize: pluginv1.MaxMessageFromPlugin}
	r := bytes.NewReader(b)
	caps := &pluginv1.Capabilities{}
	if err := limit.UnmarshalFrom(r, caps); err != nil {
		return nil, fmt.Errorf("reading a cached catalog: %w", err)
	}
	parts := newAssembly(p, capabilities(caps))
	for {
		part := &pluginv1.CatalogPart{}
		switch err := limit.UnmarshalFrom(r, part); {
		case errors.Is(err, io.EOF):
			return nil, errors.New("reading a cached catalog: it has no end")
		case err != nil:
			return nil, fmt.Errorf("reading a cached catalog: %w", err)
		}
		if c := parts.add(part); c != nil {
			return c, nil
		}
	}
}

// store hands the newest catalog of w to who keeps it.
func (p *Plugin) store(w *watcher) {
	if p.o.StoreCatalog == nil {
		return
	}
	b, err := encodeCatalog(w.i.rawCaps, w.parts.parts)
	if err != nil {
		p.log.Warn("keeping the catalog", "error", err)
		return
	}
	p.o.StoreCatalog(b)
}
