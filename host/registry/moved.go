package registry

import (
	"context"
	"errors"
	"time"

	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/primitive"
)

// moveWait bounds how long a use waits for the next source of a primitive
// whose source retired before the next one was ready.
const moveWait = time.Minute

// follow makes a use of what v shows. If the source of it has retired, the use
// is made once more of what the caller sees then: a reload loses no use.
func follow[T any](
	ctx context.Context, e *Endpoint, v mcp.View, c *primitive.Caller, use func(mcp.View) (T, error),
) (T, error) {
	out, err := use(v)
	if !errors.Is(err, primitive.ErrRetired) {
		return out, err
	}
	ctx, cancel := context.WithTimeout(ctx, moveWait)
	defer cancel()
	for errors.Is(err, primitive.ErrRetired) && e.moved(ctx, v) {
		v = e.View(ctx, c)
		out, err = use(v)
	}
	return out, err
}

// moved returns when the current snapshot is another than that of v; false
// when ctx is done.
func (e *Endpoint) moved(ctx context.Context, v mcp.View) bool {
	c := e.current.Load()
	if c.snapshot != v.Snapshot {
		return true
	}
	select {
	case <-c.replaced:
		return true
	case <-ctx.Done():
		return false
	}
}
