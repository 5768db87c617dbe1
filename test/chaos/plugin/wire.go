package main

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"net"
	"sync"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// A listener keeps the connections that it accepts at hand.
type listener struct {
	net.Listener
	wires *wires
}

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.wires.add(c)
	}
	return c, err
}

// wires are the connections beneath gRPC.
type wires struct {
	mu   sync.Mutex // guards list
	list []net.Conn
}

func (w *wires) add(c net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, c)
}

// spoil writes to the host behind gRPC's back. What cannot be written any more
// is spoilt already.
func (w *wires) spoil(kind string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.list {
		if _, err := c.Write(garbage(kind)); err != nil {
			continue
		}
		if kind == "cut" {
			_ = c.Close() // it is the host that must cope
		}
	}
}

// Types of HTTP/2 frames.
const (
	frameData    = 0
	frameHeaders = 1
	frameGoAway  = 7
	framePing    = 6
	frameWindow  = 8
)

func garbage(kind string) []byte {
	switch kind {
	case "goaway":
		return frame(frameGoAway, 0, make([]byte, 8))
	case "pings":
		return bytes.Repeat(frame(framePing, 0, make([]byte, 8)), 20_000)
	case "data": // of a stream that nobody opened
		return frame(frameData, 1<<20+1, make([]byte, 1<<14))
	case "headers": // that no table explains
		return frame(frameHeaders, 1, bytes.Repeat([]byte{0xff}, 1<<14))
	case "window":
		return frame(frameWindow, 0, []byte{0x7f, 0xff, 0xff, 0xff})
	case "cut":
		return frame(frameData, 1, make([]byte, 1<<14))[:100]
	}
	noise := make([]byte, 64<<10)
	_, _ = rand.Read(noise) // never fails
	return noise
}

func frame(kind byte, stream uint32, payload []byte) []byte {
	head := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(kind))
	return append(binary.BigEndian.AppendUint32(append(head, 0), stream), payload...)
}

// malformed is an answer that breaks the contract.
func malformed(kind string) *pluginv1.CallToolResponse {
	hi := []*pluginv1.Content{{Kind: &pluginv1.Content_Text{Text: "hi"}}}
	switch kind {
	case "structured":
		return result(&pluginv1.ToolResult{Content: hi, StructuredJson: []byte(`{"a":`)})
	case "meta":
		return result(&pluginv1.ToolResult{Content: hi, MetaJson: []byte(`[]`)})
	case "cut":
		return result(&pluginv1.ToolResult{ResultJson: []byte(`{"content":[`)})
	case "lines": // as two messages, to who reads lines
		return result(&pluginv1.ToolResult{ResultJson: []byte("{\"content\":[]}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n{\"content\":[]}")})
	case "break": // right, but not on one line
		return result(&pluginv1.ToolResult{ResultJson: []byte("{\"content\":[\n{\"type\":\"text\",\r\n\"text\":\"hi\"}\n]}")})
	case "utf8":
		return result(&pluginv1.ToolResult{ResultJson: []byte("{\"content\":[{\"type\":\"text\",\"text\":\"\xff\xfe\"}]}")})
	case "deep":
		return result(&pluginv1.ToolResult{Content: hi, MetaJson: bytes.Repeat([]byte(`{"a":`), 100_000)})
	case "block":
		return result(&pluginv1.ToolResult{Content: []*pluginv1.Content{{Kind: &pluginv1.Content_ContentJson{ContentJson: []byte(`nul`)}}}})
	case "error":
		return &pluginv1.CallToolResponse{Outcome: &pluginv1.CallToolResponse_Error{Error: &pluginv1.Error{Code: -1, DataJson: []byte(`}`)}}}
	case "input":
		return &pluginv1.CallToolResponse{Outcome: &pluginv1.CallToolResponse_InputRequired{InputRequired: &pluginv1.InputRequired{
			Requests: []*pluginv1.InputRequest{{Key: "k", Method: "exec", ParamsJson: []byte(`{`)}},
		}}}
	}
	return &pluginv1.CallToolResponse{}
}

func text(s string) *pluginv1.CallToolResponse {
	return result(&pluginv1.ToolResult{Content: []*pluginv1.Content{{Kind: &pluginv1.Content_Text{Text: s}}}})
}

func result(r *pluginv1.ToolResult) *pluginv1.CallToolResponse {
	return &pluginv1.CallToolResponse{Outcome: &pluginv1.CallToolResponse_Result{Result: r}}
}
