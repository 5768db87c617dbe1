package sandbox_test

import (
	"bufio"
	"os/exec"
	"sync"
	"testing"

	"github.com/mcphost/mcphost/host/sandbox"
)

func TestStartReportsAProgramThatIsNotThere(t *testing.T) {
	if err := sandbox.Start(exec.CommandContext(t.Context(), "/nonexistent")); err == nil {
		t.Fatal("starting a missing program succeeded")
	}
}

func TestStartServesManyCallersAtOnce(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), "echo", "started")
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Error(err)
				return
			}
			if err := sandbox.Start(cmd); err != nil {
				t.Error(err)
				return
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil || line != "started\n" {
				t.Errorf("read %q, %v; want %q", line, err, "started\n")
			}
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
