package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/primitive"
	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// stream makes a call over a stream, hands progress and logs to peer, and
// returns the outcome and the process that gave it. A call that has told the peer something is not
// made again.
func (p *Plugin) stream(ctx context.Context, c *toolCall, state heldState, peer primitive.Peer, again bool) (*instance, *pluginv1.CallToolResponse, error) {
	c.context.WantProgress = peer.WantsProgress()
	c.context.LogLevel = peer.LogLevel()
	for {
		i, err := p.enter(ctx)
		if err != nil {
			return nil, nil, err
		}
		told := false
		var resp *pluginv1.CallToolResponse
		if err = state.check(i); err == nil {
			resp, told, err = i.streamOnce(ctx, c, peer)
		}
		p.leave(i)
		if err == nil {
			return i, resp, nil
		}
		failure := p.failure(ctx, i, err)
		if !again || told || c.context.Attempt > 0 || failure.Failure != primitive.Crashed || state.sticky {
			return nil, nil, failure
		}
		c.context.Attempt++
	}
}

// streamOnce makes one attempt and reports whether the peer was told anything.
func (i *instance) streamOnce(ctx context.Context, c *toolCall, peer primitive.Peer) (resp *pluginv1.CallToolResponse, told bool, err error) {
	ctx, cancel := context.WithCancel(ctx) // lets go of the stream
	defer cancel()
	s, err := i.client.CallToolStream(ctx, &pluginv1.CallToolStreamRequest{Call: &c.req})
	if err != nil {
		return nil, false, err
	}
	for {
		r, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return nil, told, brokenContract("the stream ended without an outcome")
		}
		if err != nil {
			return nil, told, err
		}
		switch e := r.GetEvent().(type) {
		case *pluginv1.CallToolStreamResponse_Outcome:
			// The first outcome is the last event; what follows it is not read.
			return e.Outcome, told, nil
		case *pluginv1.CallToolStreamResponse_Progress:
			if p, ok := progress(e.Progress); ok && c.context.WantProgress {
				told = true
				peer.Progress(p)
			}
		case *pluginv1.CallToolStreamResponse_Log:
			if l, ok := callLog(e.Log); ok && c.context.LogLevel != "" {
				told = true
				peer.Log(l)
			}
		}
	}
}

// progress converts p; a number that JSON cannot write is no progress.
func progress(p *pluginv1.Progress) (primitive.Progress, bool) {
	if !finite(p.GetProgress()) {
		return primitive.Progress{}, false
	}
	out := primitive.Progress{Progress: p.GetProgress(), Message: clean(p.GetMessage(), maxText, true)}
	if p.Total != nil && finite(p.GetTotal()) {
		out.Total = new(p.GetTotal())
	}
	return out, true
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// callLog converts l; one whose data is not JSON, or whose level MCP does not know, is none.
func callLog(l *pluginv1.Log) (primitive.Log, bool) {
	if _, known := logLevels[l.GetLevel()]; !known {
		return primitive.Log{}, false
	}
	data := l.GetDataJson()
	if !jsonrpc.Valid(data) {
		return primitive.Log{}, false
	}
	return primitive.Log{Level: l.GetLevel(), Logger: clean(l.GetLogger(), maxShort, false), Data: line(data)}, true
}

// brokenContract says that an answer of the plugin is none.
func brokenContract(format string, args ...any) error {
	return primitive.Wrap(primitive.InvalidResult, fmt.Errorf(format, args...))
}
