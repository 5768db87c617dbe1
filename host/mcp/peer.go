package mcp

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/primitive"
)

// levels are the log levels of RFC 5424, least severe first.
var levels = [...]string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// ValidLevel reports whether level is one of the eight.
func ValidLevel(level string) bool { return slices.Contains(levels[:], level) }

// Notifications of one use are let through in bursts of notifyBurst and at
// notifyRate a second: patterns/progress and utilities/logging want a limit.
const (
	notifyBurst = 100
	notifyRate  = 50
)

// maxLogData bounds the data of one log message: a plugin may say as much as
// a result has, and many times a call.
const maxLogData = 64 << 10

// A Peer forwards progress and logs of one use to its client. It implements
// [primitive.Peer]. What comes after Close is dropped.
type Peer struct {
	out      Responder
	revision Revision
	token    []byte
	level    string

	mu     sync.Mutex // guards what follows
	closed bool
	last   float64
	tokens float64
	filled time.Time
	buf    []byte
}

var _ primitive.Peer = (*Peer)(nil)

// NewPeer returns a peer that writes to out, or nil if the client asked for
// neither progress (token) nor logs (level).
func NewPeer(out Responder, r Revision, token []byte, level string) *Peer {
	if token == nil && level == "" {
		return nil
	}
	return &Peer{out: out, revision: r, token: token, level: level, last: math.Inf(-1), tokens: notifyBurst, filled: time.Now()}
}

// WantsProgress implements [primitive.Peer].
func (p *Peer) WantsProgress() bool { return p.token != nil }

// LogLevel implements [primitive.Peer].
func (p *Peer) LogLevel() string { return p.level }

// Close ends forwarding: progress MUST stop after completion (patterns/progress).
func (p *Peer) Close() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

// Progress implements [primitive.Peer]. The value MUST increase with each
// notification; what does not is dropped.
func (p *Peer) Progress(g primitive.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.token == nil || math.IsNaN(g.Progress) || math.IsInf(g.Progress, 0) || g.Progress <= p.last || !p.allowLocked() {
		return
	}
	p.last = g.Progress
	b := append(p.buf[:0], `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`...)
	b = append(b, p.token...)
	b = append(b, `,"progress":`...)
	b = appendFloat(b, g.Progress)
	if g.Total != nil && !math.IsNaN(*g.Total) && !math.IsInf(*g.Total, 0) {
		b = append(b, `,"total":`...)
		b = appendFloat(b, *g.Total)
	}
	if g.Message != "" && p.revision.Has(ProgressMessage) {
		b = append(b, `,"message":`...)
		b = jsonrpc.AppendString(b, g.Message)
	}
	p.sendLocked(append(b, "}}"...))
}

// Log implements [primitive.Peer].
func (p *Peer) Log(l primitive.Log) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.level == "" || slices.Index(levels[:], l.Level) < slices.Index(levels[:], p.level) || !p.allowLocked() {
		return
	}
	b := append(p.buf[:0], `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":`...)
	b = jsonrpc.AppendString(b, l.Level)
	if l.Logger != "" {
		b = append(b, `,"logger":`...)
		b = jsonrpc.AppendString(b, l.Logger)
	}
	b = append(b, `,"data":`...)
	if len(l.Data) > maxLogData {
		b = fmt.Appendf(b, `"%d bytes are left out"`, len(l.Data))
	} else {
		b = jsonrpc.AppendLine(b, l.Data)
	}
	p.sendLocked(append(b, "}}"...))
}

func (p *Peer) sendLocked(msg []byte) {
	p.buf = msg
	if err := p.out.Notify(msg); err != nil {
		p.closed = true // the client is gone; the use learns of it by its context
	}
}

// allowLocked takes a token from the bucket if there is one.
func (p *Peer) allowLocked() bool {
	if p.closed {
		return false
	}
	now := time.Now()
	p.tokens = min(notifyBurst, p.tokens+now.Sub(p.filled).Seconds()*notifyRate)
	p.filled = now
	if p.tokens < 1 {
		return false
	}
	p.tokens--
	return true
}

func appendFloat(b []byte, f float64) []byte {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.AppendInt(b, int64(f), 10)
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}
