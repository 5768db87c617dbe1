package main

import (
	"context"
	"time"

	"github.com/mcphost/mcphost/sdk"
)

// version is the plugin's own.
const version = "0.1.0"

// watchedURI is the resource that changes by itself.
const watchedURI = "test://watched-resource"

// step is the pause that the suite wants between notifications of one call.
const step = 50 * time.Millisecond

// none is the arguments of a tool that takes none.
type none struct{}

// newPlugin returns the fixture, and the function that says every three seconds that the watched resource changed.
func newPlugin() (p *sdk.Plugin, tick func(ctx context.Context)) {
	p = sdk.New("everything", version, sdk.WithResourceUpdates(), sdk.WithInstructions("A fixture for tests. Nothing here does anything."))
	addContentTools(p)
	addNotifyingTools(p)
	addSchemaTools(p)
	addChangeTools(p)
	addQuestionTools(p)
	addInputTools(p)
	addResources(p)
	addPrompts(p)
	return p, func(ctx context.Context) {
		ticker := time.NewTicker(3 * time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				p.ResourceUpdated(watchedURI)
			}
		}
	}
}

// pause waits, unless the call ends before.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
