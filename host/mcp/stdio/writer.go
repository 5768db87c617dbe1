package stdio

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/mcphost/mcphost/host/mcp"
)

// maxPending is how many bytes may wait while a write is under way. Whoever has
// more to say waits with it, so that a client that does not read holds its own
// requests and no memory.
const maxPending = 1 << 20

// A writer writes whole lines. Whoever finds it idle writes at once, for all
// who come meanwhile: a lone line is never delayed, and many share one write.
type writer struct {
	w      io.Writer
	broken context.CancelCauseFunc

	mu      sync.Mutex // guards what follows
	drained sync.Cond
	pending []byte
	spare   []byte
	busy    bool
	writes  int // that have ended
	err     error
}

var _ mcp.Responder = (*writer)(nil)

// newWriter returns a writer that calls broken when w fails.
func newWriter(w io.Writer, broken context.CancelCauseFunc) *writer {
	out := &writer{w: w, broken: broken}
	out.drained.L = &out.mu
	return out
}

// Notify implements [mcp.Responder].
func (w *writer) Notify(msg []byte) error { return w.write(msg) }

// Reply implements [mcp.Responder]. A pipe has no status, and nothing to say where msg is nil.
func (w *writer) Reply(msg []byte, _ int) {
	if msg != nil {
		_ = w.write(msg) // a client that is gone ends the pipe, which the write has seen to
	}
}

// write writes msg and a line end. It may return before the bytes are out.
func (w *writer) write(msg []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.err == nil && w.busy && len(w.pending) > maxPending {
		w.drained.Wait()
	}
	if w.err != nil {
		return w.err
	}
	w.pending = append(w.pending, msg...)
	w.pending = append(w.pending, '\n')
	if w.busy {
		return nil
	}
	return w.flushLocked()
}

// written returns how many writes have ended.
func (w *writer) written() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writes
}

// abandon fails all who wait for a write if one is under way and none has ended
// since there were writes of them; it reports whether that was so. The write
// itself cannot be called back.
func (w *writer) abandon(writes int, err error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.busy || w.writes != writes {
		return false
	}
	w.err = err
	w.drained.Broadcast()
	return true
}

// flushLocked writes until nothing is pending.
func (w *writer) flushLocked() error {
	w.busy = true
	for len(w.pending) > 0 && w.err == nil {
		out := w.pending
		w.pending = w.spare[:0]
		w.mu.Unlock()
		_, err := w.w.Write(out)
		w.mu.Lock()
		w.writes++
		if w.spare = out; cap(w.spare) > 2*maxPending {
			w.spare = nil
		}
		if err != nil {
			w.err = fmt.Errorf("writing messages: %w", err)
			w.broken(w.err)
		}
		w.drained.Broadcast()
	}
	w.busy = false
	return w.err
}
