package plugin

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphost/mcphost/host/primitive"
	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// A Plugin is one configured handle and the process behind it, which it starts,
// watches and starts again. Its methods may be called concurrently.
type Plugin struct {
	o   Options
	log hclog.Logger
	sup *supervisor[*instance]

	catalog atomic.Pointer[Catalog]
	queued  atomic.Int64 // uses that wait for a process or for their turn
	starts  atomic.Int64 // processes that came to serve

	mu      sync.Mutex // guards what follows
	started bool
	cancel  context.CancelFunc
	wanted  []string // the resources that somebody watches

	publishing sync.Mutex // one catalog at a time reaches OnCatalog
	wg         sync.WaitGroup
}

var _ primitive.Source = (*Plugin)(nil)

// New returns a plugin that is not started.
func New(o Options) *Plugin {
	o = o.withDefaults()
	p := &Plugin{o: o, log: o.Logger.Named("plugin").With("handle", o.Handle)}
	p.sup = newSupervisor(p.startInstance, &p.o, p.log)
	return p
}

// Start begins to supervise the plugin and returns when its first catalog is
// there, at once if it was cached, or with why the first start failed. After an error that is not
// [Permanent] it is tried again behind the scenes; Close ends that. Start may
// be called once; ctx bounds the waiting alone.
func (p *Plugin) Start(ctx context.Context) error {
	p.mu.Lock()
	if p.started {
		p.mu.Unlock()
		return fmt.Errorf("plugin %q was started already, or closed", p.o.Handle)
	}
	p.started = true
	cached := p.useCache()
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p.cancel = cancel
	p.wg.Go(func() { p.sup.run(life) }) // ends by Close
	p.mu.Unlock()
	if cached {
		return nil
	}
	if _, err := p.sup.get(ctx); err != nil {
		return fmt.Errorf("starting plugin %q: %w", p.o.Handle, err)
	}
	return nil
}

// useCache publishes the catalog of an earlier run and reports whether there is one.
func (p *Plugin) useCache() bool {
	if p.o.CachedCatalog == nil {
		return false
	}
	c, err := p.decodeCatalog(p.o.CachedCatalog)
	if err != nil {
		p.log.Warn("starting without the cached catalog", "error", err)
		return false
	}
	p.publish(c)
	return true
}

// Close lets the uses that run come to an end until ctx is done, takes no new
// ones, ends the process and returns when nothing of it runs any more. It may
// be called twice, and before Start, which then fails.
func (p *Plugin) Close(ctx context.Context) error {
	p.mu.Lock()
	p.started = true
	cancel := p.cancel
	p.mu.Unlock()
	if cancel == nil {
		return nil
	}
	p.sup.drain(ctx)
	cancel()
	p.wg.Wait()
	return nil
}

// Restart ends the process, if there is one, and starts a new one. It also
// gets a plugin out of CrashLoop and Failed. It does not wait.
func (p *Plugin) Restart() { nudge(p.sup.restarts) }

// State returns where the plugin stands, and why if it is Unhealthy, in
// Backoff, CrashLoop or Failed. The reason is for the operator.
func (p *Plugin) State() (State, error) { return p.sup.status() }

// Handle returns the plugin's name in the configuration.
func (p *Plugin) Handle() string { return p.o.Handle }

// Catalog returns the newest catalog, nil before the first. It stays while the
// plugin is down.
func (p *Plugin) Catalog() *Catalog { return p.catalog.Load() }

// startInstance starts a process and makes it ready to serve.
func (p *Plugin) startInstance(ctx context.Context) (*instance, error) {
	life := context.WithoutCancel(ctx)
	ctx, cancel := context.WithTimeout(ctx, p.o.StartTimeout)
	defer cancel()
	i, err := newInstance(ctx, &p.o, p.log)
	if err != nil {
		return nil, err
	}
	if err := i.configure(ctx, &p.o); err != nil {
		return nil, i.abandon(ctx, err)
	}
	if err := p.watch(ctx, life, i); err != nil {
		return nil, i.abandon(ctx, err)
	}
	if err := p.sendSubscriptions(ctx, i); err != nil {
		i.log.Warn("plugin does not say when resources change", "error", err)
	}
	p.starts.Add(1)
	i.log.Info("plugin started", "path", i.proc.path)
	return i, nil
}

// watch returns with the first catalog published and goes on with the next
// ones until i has ended. life is not bounded by the start, as ctx is.
func (p *Plugin) watch(ctx, life context.Context, i *instance) error {
	life, cancel := context.WithCancel(life)
	i.wg.Go(func() { // ends when the process does
		<-i.proc.dead
		cancel()
	})
	w := &watcher{i: i, parts: newAssembly(p, i.caps), updated: p.o.OnResourceUpdated}
	w.parts.keep = p.o.StoreCatalog != nil
	w.publish = func(c *Catalog) {
		if p.publish(c) {
			p.store(w)
		}
	}
	stop := context.AfterFunc(ctx, cancel)
	stream, c, err := w.open(life)
	if err != nil {
		return err
	}
	if !stop() {
		return ctx.Err()
	}
	w.publish(c)
	i.wg.Go(func() { w.run(life, stream) }) // ends when the process does
	return nil
}

// publish reports whether c is another catalog than the one before.
func (p *Plugin) publish(c *Catalog) bool {
	p.publishing.Lock()
	defer p.publishing.Unlock()
	if old := p.catalog.Load(); old != nil && old.digest == c.digest {
		return false // a list that did not change is no change
	}
	p.catalog.Store(c)
	p.o.OnCatalog(c)
	return true
}

// SetSubscriptions says which resources somebody watches, all of them. It is
// sent to the process, if there is one, and to each that comes.
func (p *Plugin) SetSubscriptions(ctx context.Context, uris []string) error {
	uris = append([]string(nil), uris...)
	p.mu.Lock()
	p.wanted = uris
	p.mu.Unlock()
	p.sup.watched.Store(len(uris) > 0)
	if len(uris) == 0 && p.sup.serving() == nil {
		return nil
	}
	p.sup.enter()
	defer p.sup.leave()
	i, err := p.sup.get(ctx)
	if err != nil {
		return p.unavailable(ctx, err)
	}
	return p.sendSubscriptions(ctx, i)
}

func (p *Plugin) sendSubscriptions(ctx context.Context, i *instance) error {
	p.mu.Lock()
	uris := p.wanted
	p.mu.Unlock()
	if uris == nil || !i.caps.ResourceUpdates {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, setTimeout)
	defer cancel()
	if _, err := i.client.SetSubscriptions(ctx, &pluginv1.SetSubscriptionsRequest{Uris: uris}); err != nil {
		return fmt.Errorf("setting the subscriptions: %w", err)
	}
	return nil
}
