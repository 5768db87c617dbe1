package control_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/mcphost/mcphost/host/control"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// folder returns one whose path is short enough for a socket.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ctl") //nolint:usetesting // the path of t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "control")
}

func listen(t *testing.T, dir string, handle func(context.Context, control.Request) (any, error)) *control.Server {
	t.Helper()
	s, err := control.Listen(t.Context(), dir, []string{"a.hcl"}, handle)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestHostsOfOneConfigurationAnswer(t *testing.T) {
	dir := folder(t)
	listen(t, dir, func(_ context.Context, r control.Request) (any, error) {
		if r.Do == "fail" {
			return nil, errors.New("no")
		}
		return []string{r.Do}, nil
	})
	abs, err := filepath.Abs("a.hcl")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		paths []string
		do    string
		want  string // of each reply: value or error
	}{
		"relative":      {[]string{"a.hcl"}, "x", `["x"]`},
		"absolute":      {[]string{abs}, "y", `["y"]`},
		"an error":      {[]string{"a.hcl"}, "fail", "no"},
		"another file":  {[]string{"b.hcl"}, "x", ""},
		"one file more": {[]string{"a.hcl", "b.hcl"}, "x", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			replies, err := control.Ask(t.Context(), dir, test.paths, control.Request{Do: test.do})
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, r := range replies {
				got.WriteString(string(r.Value) + r.Error)
				if r.PID != os.Getpid() {
					t.Errorf("pid %d", r.PID)
				}
			}
			if got.String() != test.want {
				t.Errorf("got %q, want %q", got.String(), test.want)
			}
		})
	}
}

func TestNobodyAnswersForAKilledHost(t *testing.T) {
	dir := folder(t)
	s := listen(t, dir, nil)
	sockets, _ := filepath.Glob(filepath.Join(dir, "*.sock"))
	if len(sockets) != 1 {
		t.Fatalf("sockets: %v", sockets)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(sockets[0]); !os.IsNotExist(err) {
		t.Errorf("the socket stays after Close: %v", err)
	}
	ln, err := net.Listen("unix", sockets[0])
	if err != nil {
		t.Fatal(err)
	}
	ln.(*net.UnixListener).SetUnlinkOnClose(false)
	ln.Close() // as a kill leaves it
	replies, err := control.Ask(t.Context(), dir, []string{"a.hcl"}, control.Request{})
	if len(replies) != 0 || err != nil {
		t.Errorf("got %v, %v", replies, err)
	}
	if _, err := os.Lstat(sockets[0]); !os.IsNotExist(err) {
		t.Errorf("the dead socket stays: %v", err)
	}
}

func TestCloseCancelsARequestAndTheClientGoesAway(t *testing.T) {
	dir := folder(t)
	asked := make(chan struct{})
	s := listen(t, dir, func(ctx context.Context, _ control.Request) (any, error) {
		close(asked)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := control.Ask(ctx, dir, []string{"a.hcl"}, control.Request{Do: "hang"})
		done <- err
	}()
	<-asked
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the client got %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestTheFolderMustBePrivate(t *testing.T) {
	dir := folder(t)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := control.Listen(t.Context(), dir, []string{"a.hcl"}, nil); err == nil || !strings.Contains(err.Error(), "nobody else") {
		t.Errorf("got %v, want a refusal", err)
	}
	if err := errors.Join(os.Chmod(dir, 0o700), os.Chmod(filepath.Dir(dir), 0o777)); err != nil {
		t.Fatal(err)
	}
	if _, err := control.Listen(t.Context(), dir, []string{"a.hcl"}, nil); err == nil || !strings.Contains(err.Error(), "nobody else") {
		t.Errorf("a folder that others can replace: %v, want a refusal", err)
	}
}

func TestGarbageIsNotAnswered(t *testing.T) {
	dir := folder(t)
	listen(t, dir, func(context.Context, control.Request) (any, error) {
		t.Error("garbage was handled")
		return nil, nil
	})
	sockets, _ := filepath.Glob(filepath.Join(dir, "*.sock"))
	for _, text := range []string{"{", "[]\n", `{"do":"` + strings.Repeat("x", 1<<20)} {
		conn, err := net.Dial("unix", sockets[0])
		if err != nil {
			t.Fatal(err)
		}
		conn.Write([]byte(text))
		conn.(*net.UnixConn).CloseWrite()
		if n, _ := conn.Read(make([]byte, 1)); n != 0 {
			t.Errorf("%.10q was answered", text)
		}
		conn.Close()
	}
}
