package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// limit is what fifty plugins with cached catalogs may take.
const limit = 50 * time.Millisecond

// TestFirstListNeedsNoProcess is the promise of cached catalogs: of fifty
// plugins, the first tools/list after the start of the process is answered in
// less than 50 ms and names all tools. It takes the best of some starts, and
// the time on the processor where that is less than the time on the wall: the
// machine may have other things to do.
func TestFirstListNeedsNoProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("starts fifty processes")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "mcphost") // without the race detector, whatever the test has
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	for _, mode := range []string{"lazy", "eager"} {
		config := filepath.Join(dir, mode+".hcl")
		put(t, config, fifty(mode))
		tools, first := firstList(t, dir, program, config)
		if tools != 100 {
			t.Fatalf("%s: %d tools in the first run, want 100", mode, tools)
		}
		best := first
		for range 20 {
			tools, took := firstList(t, dir, program, config)
			if tools != 100 {
				t.Fatalf("%s: %d tools from the cache, want 100", mode, tools)
			}
			if best = min(best, took); best < limit {
				break
			}
		}
		t.Logf("%s: %v without a cache, %v with it", mode, first, best)
		if best >= limit && busy(t) {
			t.Skip("the machine is too busy to measure on")
		}
		if best >= limit {
			t.Errorf("%s: %v from the start to the list, want less than %v", mode, best, limit)
		}
	}
}

// busy reports whether more programs want to run than the machine has processors for.
func busy(t *testing.T) bool {
	t.Helper()
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		t.Fatal(err)
	}
	var load float64
	if _, err := fmt.Sscan(string(b), &load); err != nil {
		t.Fatal(err)
	}
	return load > float64(runtime.NumCPU())
}

// fifty is a configuration of fifty plugins.
func fifty(mode string) string {
	var b strings.Builder
	var handles []string
	for i := range 50 {
		handles = append(handles, fmt.Sprintf(`"c%02d"`, i))
		fmt.Fprintf(&b, "plugin %s {\n  command = [\"%s/plugin-clock\"]\n  start = %q\n  tools { prefix = \"c%02d_\" }\n}\n", handles[i], plugins, mode, i)
	}
	fmt.Fprintf(&b, "local \"demo\" { plugins = [%s] }\nlimits { default_page_size = 100 }\n", strings.Join(handles, ", "))
	return b.String()
}

// firstList starts a host, asks for its tools at once, and returns how many
// there are and how long that took since the start of the process.
func firstList(t *testing.T, dir, program, config string) (int, time.Duration) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "start", "demo", "-c", config)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"))
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	took := time.Since(begin)
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	// It is that of the whole process, its end included.
	took = min(took, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	var m struct {
		Result struct{ Tools []struct{ Name string } }
	}
	if err := json.Unmarshal(line, &m); err != nil {
		t.Fatal(err)
	}
	return len(m.Result.Tools), took
}
