// Package stdio carries MCP over a pair of byte streams, one message a line
// (basic/transports/stdio). Both lineages live on the one pipe.
package stdio

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/primitive"
)

// Grace is how long requests in flight may take to end once the input has
// ended, before they are cancelled: what was piped in gets its answers, and
// the host is still gone promptly.
const Grace = time.Second

// Serve reads messages from r and serves them with front until r ends, w
// breaks or ctx is done. It then ends open subscriptions, cancels what still
// runs after [Grace], and returns when all of it has ended. A blocked read of
// r is left behind when ctx is done, and a write that nobody reads for [Grace]
// after the cancellation; then there is an error.
func Serve(ctx context.Context, r io.Reader, w io.Writer, front mcp.Front, ep *mcp.Endpoint, who primitive.Principal) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := &pipe{front: front, endpoint: ep, principal: who, out: newWriter(w, cancel)}
	p.conn.Send = p.out.write
	ended := make(chan error, 1)
	go func() { ended <- p.read(ctx, r) }() // ends with r, or when ctx is done and a line arrives

	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
			err = cause
		}
	}
	return errors.Join(err, p.shutdown(ctx, cancel))
}

var errUnread = errors.New("the client does not read what it is told")

// A pipe is one client on one pair of streams.
type pipe struct {
	front     mcp.Front
	endpoint  *mcp.Endpoint
	principal primitive.Principal
	conn      mcp.Conn
	out       *writer

	mu      sync.Mutex // guards closing, and wg against Add after Wait
	closing bool
	wg      sync.WaitGroup
}

// shutdown ends what is open: subscriptions in order, calls after a while, the session.
func (p *pipe) shutdown(ctx context.Context, cancel context.CancelCauseFunc) error {
	p.mu.Lock()
	p.closing = true
	p.mu.Unlock()
	p.endpoint.Close()
	idle := make(chan struct{})
	go func() { p.wg.Wait(); close(idle) }()
	grace := time.NewTimer(Grace)
	defer grace.Stop()
	select {
	case <-idle:
	case <-grace.C:
	case <-ctx.Done():
	}
	cancel(nil)
	ended := make(chan struct{})
	go func() { // ends as what writes does, at the latest with the process
		defer close(ended)
		if session := p.conn.Session(); session != nil {
			session.Close()
		}
		<-idle
	}()
	for writes := p.out.written(); ; writes = p.out.written() {
		grace.Reset(Grace)
		select {
		case <-ended:
			return nil
		case <-grace.C:
			if p.out.abandon(writes, errUnread) {
				return errUnread
			}
		}
	}
}

// read serves the lines of r one by one.
func (p *pipe) read(ctx context.Context, r io.Reader) error {
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		buf, err := p.line(in)
		if len(bytes.TrimSpace(*buf)) > 0 && !errors.Is(err, errTooLong) {
			if !p.accept(ctx, buf) {
				return nil
			}
		} else {
			freeLine(buf)
		}
		switch {
		case errors.Is(err, errTooLong):
			tooLong := jsonrpc.Errorf(jsonrpc.InvalidRequest, "the message is larger than the limit of %d bytes", p.endpoint.Limits.MaxRequestSize)
			if err := p.out.write(jsonrpc.AppendError(nil, nil, tooLong)); err != nil {
				return err
			}
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("reading messages: %w", err)
		}
	}
}

// accept hands one line on; it reports false once the pipe is closing.
func (p *pipe) accept(ctx context.Context, buf *[]byte) bool {
	p.mu.Lock()
	if p.closing {
		p.mu.Unlock()
		return false
	}
	p.wg.Add(1)
	p.mu.Unlock()
	x := &mcp.Exchange{Endpoint: p.endpoint, Conn: &p.conn, Principal: p.principal, Out: p.out}
	work := p.front.Accept(x, *buf)
	if work == nil {
		freeLine(buf)
		p.wg.Done()
		return true
	}
	go func() {
		defer p.wg.Done()
		work.Run(ctx)
		freeLine(buf)
	}()
	return true
}

// lines holds buffers of lines that have been served.
var lines = sync.Pool{New: func() any { return new([]byte) }}

// lineKeep is the size up to which a buffer is kept for others: one that a
// request of the long kind gets is not free for long.
const lineKeep = 256 << 10

func freeLine(buf *[]byte) {
	if cap(*buf) <= lineKeep {
		lines.Put(buf)
	}
}

// errTooLong says that a line was longer than the limit and has been skipped.
var errTooLong = errors.New("line too long")

// line reads one line without its end. A line beyond the limit is read to its
// end, but not kept.
func (p *pipe) line(in *bufio.Reader) (*[]byte, error) {
	buf, _ := lines.Get().(*[]byte)
	b, tooLong := (*buf)[:0], false
	for {
		part, err := in.ReadSlice('\n')
		if int64(len(b)+len(part)) > p.endpoint.Limits.MaxRequestSize+1 { // 1 is the line end
			tooLong, b = true, b[:0]
		}
		if !tooLong {
			b = append(b, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		*buf = bytes.TrimRight(b, "\r\n")
		if tooLong && err == nil {
			err = errTooLong
		}
		return buf, err
	}
}
