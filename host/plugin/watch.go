package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/primitive"
	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

const (
	// catalogPause is the least time between two catalogs: a plugin that sends
	// more is held up by its own stream.
	catalogPause   = 100 * time.Millisecond
	watchRetry     = time.Second
	maxReportLines = 20
)

type watchStream = grpc.ServerStreamingClient[pluginv1.WatchResponse]

// A watcher reads the events of one instance.
type watcher struct {
	i       *instance
	parts   assembly
	publish func(*Catalog)
	updated func(uri string)
}

// open opens the stream and returns with the first catalog read.
func (w *watcher) open(ctx context.Context) (watchStream, *Catalog, error) {
	stream, err := w.i.client.Watch(ctx, &pluginv1.WatchRequest{})
	if err != nil {
		return nil, nil, fmt.Errorf("watching the plugin: %w", err)
	}
	w.parts.c = nil // of a stream that broke off
	for {
		r, err := stream.Recv()
		if err != nil {
			return nil, nil, fmt.Errorf("waiting for the plugin's catalog: %w", err)
		}
		if c := w.event(r); c != nil {
			return stream, c, nil
		}
	}
}

// run reads stream until ctx is done, which is when the process has ended at the latest.
func (w *watcher) run(ctx context.Context, stream watchStream) {
	for {
		err := w.read(ctx, stream)
		if ctx.Err() != nil || w.i.stopping.Load() || w.i.gone() {
			return
		}
		if errors.Is(err, io.EOF) && !w.i.caps.CatalogChanges && !w.i.caps.ResourceUpdates {
			return // it has nothing more to say
		}
		w.i.log.Warn("plugin ended its watch; asking again", "error", err)
		var c *Catalog
		for stream = nil; stream == nil; {
			if !pause(ctx, watchRetry) {
				return
			}
			if stream, c, err = w.open(ctx); err != nil {
				w.i.log.Debug("watching the plugin again", "error", err)
			}
		}
		w.publish(c)
	}
}

func (w *watcher) read(ctx context.Context, stream watchStream) error {
	for {
		r, err := stream.Recv()
		if err != nil {
			return err
		}
		if c := w.event(r); c != nil {
			w.publish(c)
			if !pause(ctx, catalogPause) {
				return ctx.Err()
			}
		}
	}
}

// pause waits for d and reports whether ctx is still good.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// event handles one event and returns the catalog that it completed.
func (w *watcher) event(r *pluginv1.WatchResponse) *Catalog {
	switch e := r.GetEvent().(type) {
	case *pluginv1.WatchResponse_Catalog:
		c := w.parts.add(e.Catalog)
		if c != nil {
			w.report(c)
		}
		return c
	case *pluginv1.WatchResponse_ResourceUpdated:
		if uri := e.ResourceUpdated.GetUri(); w.i.caps.ResourceUpdates && validURI(uri, false) {
			w.updated(uri)
		}
	case *pluginv1.WatchResponse_Log:
		w.log(e.Log)
	}
	return nil // what a newer plugin says beyond this is not for us
}

// report logs what was left out of c.
func (w *watcher) report(c *Catalog) {
	for _, p := range c.Problems[:min(len(c.Problems), maxReportLines)] {
		w.i.log.Warn("left out of the catalog", p.Kind.String(), p.Name, "error", p.Reason)
	}
	if n := w.parts.left - maxReportLines; n > 0 {
		w.i.log.Warn("left more out of the catalog", "number", n)
	}
}

// log writes a log message for the operator; it counts like a line of stderr.
func (w *watcher) log(l *pluginv1.Log) {
	s := w.i.proc.stderr
	ok, dropped := s.limit.allow(time.Now())
	if !ok {
		return
	}
	if dropped > 0 {
		s.log.Warn("log lines of plugin dropped", "lines", dropped)
	}
	text := "null"
	if data := l.GetDataJson(); jsonrpc.Valid(data) {
		text = string(data)
		if decoded, isString := jsonrpc.String(trimSpace(data)); isString {
			text = decoded
		}
	}
	s.log.Log(hclogLevel(l.GetLevel()), clean(text, maxLogLine, false), "logger", clean(l.GetLogger(), maxShort, false))
}

// newAssembly starts over with an empty catalog.
func newAssembly(source primitive.Source, caps Capabilities) assembly {
	return assembly{source: source, caps: caps}
}
