package stdio_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/mcp/stdio"
	"github.com/mcphost/mcphost/host/primitive"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo answers each line with itself, as work of its own.
type echo struct{}

func (echo) Accept(x *mcp.Exchange, body []byte) *mcp.Work {
	return &mcp.Work{Run: func(context.Context) { x.Out.Reply(bytes.Clone(body), 200) }}
}

func newEndpoint() *mcp.Endpoint {
	return &mcp.Endpoint{Name: "test", Transport: "stdio", Limits: mcp.DefaultLimits()}
}

// A client that goes without reading what it was told must not keep the host
// and its plugins for ever, whether it closes our input or has us stopped.
func TestTheEndWaitsForNoReader(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		t.Run(fmt.Sprintf("stopped=%v", stopped), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				inR, inW := io.Pipe()
				outR, outW := io.Pipe()
				done := make(chan error, 1)
				go func() { done <- stdio.Serve(ctx, inR, outW, echo{}, newEndpoint(), primitive.Principal{}) }()
				if _, err := io.WriteString(inW, strings.Repeat("{}\n", 100)); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if stopped {
					stop()
				} else {
					inW.Close()
				}
				if err := <-done; err == nil {
					t.Error("Serve returned no error")
				}
				inW.Close()
				outR.Close()
			})
		})
	}
}

func TestASlowReaderGetsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outR, outW := io.Pipe()
		done := make(chan error, 1)
		go func() {
			err := stdio.Serve(t.Context(), strings.NewReader(strings.Repeat("{}\n", 100)), outW, echo{}, newEndpoint(), primitive.Principal{})
			done <- errors.Join(err, outW.Close())
		}()
		said, err := io.ReadAll(outR)
		if err != nil || bytes.Count(said, []byte("{}\n")) != 100 {
			t.Errorf("read %q, %v", said, err)
		}
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

// A slow client is not one that does not read: it takes longer than all our patience here.
func TestAReaderThatIsSlowAtTheEndGetsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := strings.Repeat("x", 700<<10) + "\n" // two of them are more than waits for one write
		outR, outW := io.Pipe()
		done := make(chan error, 1)
		go func() {
			err := stdio.Serve(t.Context(), strings.NewReader(strings.Repeat(line, 10)), slow{outW}, echo{}, newEndpoint(), primitive.Principal{})
			done <- errors.Join(err, outW.Close())
		}()
		said, err := io.ReadAll(outR)
		if err != nil || bytes.Count(said, []byte(line)) != 10 {
			t.Errorf("read %d bytes, %v", len(said), err)
		}
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

// slow takes most of the grace for each write.
type slow struct{ io.Writer }

func (s slow) Write(b []byte) (int, error) {
	<-time.After(stdio.Grace * 9 / 10)
	return s.Writer.Write(b)
}
