//go:build linux

package chaos

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// A pipe is a client of mcphost start, of both lineages at once.
type pipe struct {
	writing sync.Mutex // guards in; never taken with mu
	in      io.WriteCloser

	mu     sync.Mutex // guards what follows
	last   int64
	calls  map[int64]chan *message // in flight
	raw    map[int64][]byte        // the answers of calls, until they are taken
	broken error                   // why there is nothing more to read
	ended  chan struct{}           // closed with broken set
}

func newPipe(in io.WriteCloser, out io.Reader) *pipe {
	p := &pipe{in: in, calls: map[int64]chan *message{}, raw: map[int64][]byte{}, ended: make(chan struct{})}
	go func() { // ends with the process
		err := p.read(out)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.broken = err
		close(p.ended)
	}()
	return p
}

// read reads until something comes that should not.
func (p *pipe) read(out io.Reader) error {
	in := bufio.NewReader(out)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return err
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			return fmt.Errorf("%w: %.300s", err, line)
		}
		p.mu.Lock()
		switch c := p.calls[p.about(&m)]; {
		case m.ID != nil && c != nil:
			p.raw[*m.ID] = line
			delete(p.calls, *m.ID)
			c <- &m
		case m.ID == nil && m.Method == "notifications/progress" && c != nil:
		case m.ID == nil && m.Method == "notifications/tools/list_changed":
		default:
			err = fmt.Errorf("nobody waits for this: %.300s", line)
		}
		p.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// about returns the call that m is about.
func (*pipe) about(m *message) int64 {
	if m.ID != nil {
		return *m.ID
	}
	return m.Params.ProgressToken
}

// ask sends the request that message returns for an id, and waits for its answer.
func (p *pipe) ask(ctx context.Context, request func(id int64) []byte) (*answer, error) {
	came := make(chan *message, 1)
	p.mu.Lock()
	p.last++
	id := p.last
	p.calls[id] = came
	p.mu.Unlock()
	if err := p.write(request(id)); err != nil {
		return nil, err
	}
	select {
	case m := <-came:
		p.mu.Lock()
		raw := p.raw[id]
		delete(p.raw, id)
		p.mu.Unlock()
		return m.answer(raw)
	case <-p.ended:
		return nil, fmt.Errorf("the pipe is at its end: %w", p.broken)
	case <-ctx.Done():
		return nil, errors.New("no answer")
	}
}

// open begins the legacy session.
func (p *pipe) open(ctx context.Context) error {
	if _, err := p.ask(ctx, initialize); err != nil {
		return err
	}
	return p.write([]byte(initialized))
}

func (p *pipe) write(line []byte) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	_, err := p.in.Write(append(line, '\n'))
	return err
}

// A pipeLane is a lane over a pipe.
type pipeLane struct {
	p        *pipe
	revision string
}

func (l pipeLane) call(ctx context.Context, c *call) (*answer, error) {
	return l.p.ask(ctx, func(id int64) []byte { return c.request(id, l.revision) })
}
