package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
	"github.com/mcphost/mcphost/sdk"
)

// secret stands in all that the plugin writes to stderr: no client may ever see it.
const secret = "SECRET-OF-STDERR"

const (
	floodSize  = 32 << 20
	answerSize = 300 << 20
)

// A patient is the plugin and what ails it.
type patient struct {
	stubborn atomic.Bool // Shutdown never answers
	deaf     atomic.Bool // Health never answers
	wires    wires
	dataDir  atomic.Pointer[string]
}

// An ask is what a caller gives to a tool.
type ask struct {
	Nonce   string `json:"nonce"`
	Payload string `json:"payload,omitempty"`
	Kind    string `json:"kind,omitempty"`
	Wait    int    `json:"wait,omitempty"` // milliseconds
}

func (p *patient) tools() *sdk.Plugin {
	s := sdk.New("chaos", "1.0.0")
	honest := func(name string, t sdk.Tool, f func(context.Context, *sdk.Call, ask) (string, error)) {
		t.Name = name
		sdk.AddTool(s, t, f)
	}
	honest("echo", sdk.Tool{}, func(ctx context.Context, _ *sdk.Call, in ask) (string, error) {
		return in.Nonce, pause(ctx, in.Wait)
	})
	honest("hash", sdk.Tool{ReadOnly: sdk.Yes}, func(_ context.Context, _ *sdk.Call, in ask) (string, error) {
		return fmt.Sprintf("%s %x", in.Nonce, sha256.Sum256([]byte(in.Payload))), nil
	})
	honest("steps", sdk.Tool{}, func(ctx context.Context, c *sdk.Call, in ask) (string, error) {
		for i := range 3 {
			c.Progress(float64(i+1), 3, in.Nonce)
			if err := pause(ctx, in.Wait/3); err != nil {
				return "", err
			}
		}
		return in.Nonce, nil
	})
	for name, f := range map[string]func(ask){
		"hang":     func(ask) { select {} },
		"exit":     func(ask) { end(7) },
		"panic":    func(ask) { go panic(secret); select {} },
		"stubborn": func(ask) { p.stubborn.Store(true) },
		"deaf":     func(ask) { p.deaf.Store(true) },
		"stderr":   func(in ask) { go flood(os.Stderr, in.Kind) },
		"stdout":   func(in ask) { go flood(os.Stdout, in.Kind) },
		"fds":      func(ask) { takeDescriptors() },
		"orphan":   func(ask) { haveGrandchild() },
		"stumble":  func(in ask) { p.plan(in.Kind) },
		"wire":     func(in ask) { p.wires.spoil(in.Kind) },
		"catalog":  func(in ask) { go churn(s, in.Kind) },
	} {
		honest(name, sdk.Tool{}, func(_ context.Context, _ *sdk.Call, in ask) (string, error) {
			f(in)
			return in.Nonce, nil
		})
	}
	for _, name := range []string{"malformed", "big"} { // the interceptor answers
		honest(name, sdk.Tool{}, func(context.Context, *sdk.Call, ask) (string, error) { return "", nil })
	}
	return s
}

// pause takes some milliseconds.
func pause(ctx context.Context, milliseconds int) error {
	if milliseconds == 0 {
		return nil
	}
	select {
	case <-time.After(time.Duration(milliseconds) * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// intercept does what the SDK would not.
func (p *patient) intercept(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	switch r := req.(type) {
	case *pluginv1.ConfigureRequest:
		dir := r.GetDataDir()
		p.dataDir.Store(&dir)
		stumble(dir)
	case *pluginv1.CallToolRequest:
		var in ask
		if err := json.Unmarshal(r.GetArgumentsJson(), &in); err != nil {
			return nil, err
		}
		switch r.GetName() {
		case "malformed":
			return malformed(in.Kind), nil
		case "big":
			return text(strings.Repeat("x", answerSize)), nil
		}
	default:
		if p.deaf.Load() && strings.HasSuffix(info.FullMethod, "/Check") {
			select {}
		}
	}
	return next(ctx, req)
}

// plan says how the next start of this handle goes wrong.
func (p *patient) plan(kind string) {
	_ = os.WriteFile(filepath.Join(*p.dataDir.Load(), "stumble"), []byte(kind), 0o600)
	end(5)
}

// stumble goes wrong, once, if it was planned.
func stumble(dir string) {
	path := filepath.Join(dir, "stumble")
	kind, err := os.ReadFile(path)
	if err != nil || os.Remove(path) != nil {
		return
	}
	if string(kind) == "hang" {
		select {}
	}
	end(6)
}

// flood writes much, as lines that a log would like or as one without an end.
func flood(w io.Writer, kind string) {
	line := []byte(strings.Repeat(secret+" ", 50))
	switch kind {
	case "lines":
		line = append(line, '\n')
	case "json":
		line = []byte(`{"@message":"` + secret + `","@level":"error","@timestamp":5,"n":[[[1]]]}` + "\n")
	}
	block := bytes.Repeat(line, 1+64<<10/len(line))
	for n := 0; n < floodSize; n += len(block) {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

// churn changes the catalog often, or makes it large for a while.
func churn(s *sdk.Plugin, kind string) {
	n := 3000
	if kind == "large" {
		n = 1000
	}
	for i := range n {
		name := "extra"
		if kind == "large" {
			name = fmt.Sprint("extra", i)
			defer s.RemoveTool(name)
		}
		sdk.AddTool(s, sdk.Tool{Name: name, Description: fmt.Sprint(i)}, func(context.Context, *sdk.Call, ask) (string, error) { return "", nil })
	}
	s.RemoveTool("extra")
}

// takeDescriptors takes all that the process may have.
func takeDescriptors() {
	for {
		if _, err := syscall.Dup(0); err != nil {
			return
		}
	}
}

// haveGrandchild ends and leaves a process of its own session behind, which
// holds our pipes.
func haveGrandchild() {
	self, err := os.Executable()
	if err != nil {
		return
	}
	c := exec.Command(self, asGrandchild) //nolint:noctx // it is to outlive everything
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		fmt.Fprintln(os.Stderr, secret, err)
		return // so that the caller sees that nothing came of it
	}
	end(0)
}
