//go:build linux

package plugin_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphost/mcphost/host/plugin"
)

// script writes an executable file.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plugin.sh")
	if err := os.WriteFile(path, []byte(body), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// startFails starts a plugin that must not start and returns why.
func startFails(t *testing.T, o plugin.Options) error {
	t.Helper()
	p := plugin.New(o)
	err := p.Start(t.Context())
	shut(t, p)
	if err == nil {
		t.Fatal("Start: got no error")
	}
	return err
}

// foreignProgram is the head of an ELF file for a machine that nobody has.
func foreignProgram() string {
	b := make([]byte, 64)
	copy(b, "\x7fELF\x02\x01\x01")
	binary.LittleEndian.PutUint16(b[16:], 2)   // executable
	binary.LittleEndian.PutUint16(b[18:], 243) // RISC-V
	binary.LittleEndian.PutUint32(b[20:], 1)
	binary.LittleEndian.PutUint16(b[52:], 64)
	return string(b)
}

// brokenCommands are commands that are no plugin, and what the error must say.
var brokenCommands = map[string]struct {
	command   string // or the text of a script:
	script    string
	permanent bool
	want      []string
}{
	"no such file": {
		command: "/nowhere/plugin", permanent: true,
		want: []string{`there is no file "/nowhere/plugin"`, "build or install"},
	},
	"not in PATH": {
		command: "no-such-command-at-all", permanent: true,
		want: []string{"is not in PATH"},
	},
	"a folder": {
		command: "/etc/", permanent: true,
		want: []string{"is a folder"},
	},
	"not executable": {
		command: "/etc/passwd", permanent: true,
		want: []string{"is not executable", "chmod +x"},
	},
	"interpreter is missing": {
		script: "#!/no/such/interpreter -x\n", permanent: true,
		want: []string{`wants the interpreter "/no/such/interpreter"`, "install it"},
	},
	"interpreter is not in PATH": {
		script: "#!/usr/bin/env no-such-language\n", permanent: true,
		want: []string{`wants the interpreter "no-such-language"`},
	},
	"neither program nor script": {
		script: "hello\x00\x01", permanent: true,
		want: []string{"neither a program"},
	},
	"other architecture": {
		script: foreignProgram(), permanent: true,
		want: []string{"is built for riscv64"},
	},
	"ends at once": {
		script: "#!/bin/sh\necho 'no database' >&2\nexit 3\n",
		want:   []string{"exit status 3", "before its handshake", `last words on stderr: "no database"`},
	},
	"is no plugin": {
		script: "#!/bin/sh\necho hello\n",
		want:   []string{"did not print a handshake", `it printed "hello"`, "is "},
	},
	"inner command is missing": {
		script: "#!/bin/sh\nexec no-such-thing\n",
		want:   []string{"exit status 127", "not found"},
	},
	"killed": {
		script: "#!/bin/sh\nkill -9 $$\n",
		want:   []string{"signal: killed"},
	},
	"other version of the protocol": {
		script:    "#!/bin/sh\necho '1|9|unix|/x|grpc'\nsleep 30\n",
		permanent: true, want: []string{"speaks version 9 of the plugin protocol"},
	},
	"other version of go-plugin": {
		script:    "#!/bin/sh\necho '2|1|unix|/x|grpc'\nsleep 30\n",
		permanent: true, want: []string{"version 2 of go-plugin's handshake"},
	},
	"netrpc": {
		script:    "#!/bin/sh\necho '1|1|unix|/x'\nsleep 30\n",
		permanent: true, want: []string{`the fifth field must be "grpc"`},
	},
	"line that never ends": {
		script: "#!/bin/sh\nhead -c 90000 /dev/zero | tr '\\0' A\nsleep 30\n",
		want:   []string{"more than 64 KiB on stdout"},
	},
	"socket that is not there": {
		script: "#!/bin/sh\necho \"1|1|unix|$PLUGIN_UNIX_SOCKET_DIR/x|grpc\"\nsleep 30\n",
		want:   []string{"a socket that is not there"},
	},
	"file instead of a socket": {
		script:    "#!/bin/sh\n: >$PLUGIN_UNIX_SOCKET_DIR/x\necho \"1|1|unix|$PLUGIN_UNIX_SOCKET_DIR/x|grpc\"\nsleep 30\n",
		permanent: true, want: []string{"which is no socket"},
	},
	"orphan that holds the pipes": {
		script: "#!/bin/sh\nsetsid sleep 25 &\nexit 3\n",
		want:   []string{"exit status 3"},
	},
}

func TestStartSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, test := range brokenCommands {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := test.command
			if test.script != "" {
				command = script(t, test.script)
			}
			o, _ := commandOptions(t, command)
			var err error
			within(t, 10*time.Second, "the start", func() { err = startFails(t, o) })
			wantContains(t, "error", err.Error(), append(test.want, `starting plugin "test"`)...)
			if got := plugin.Permanent(err); got != test.permanent {
				t.Errorf("Permanent(%v) = %v, want %v", err, got, test.permanent)
			}
		})
	}
}

func TestStartIsBounded(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ behaviour, body, want string }{
		"no handshake":       {body: "#!/bin/sh\necho wait...\nsleep 60\n", want: `no handshake line in time; it printed ["wait..."]`},
		"hung Describe":      {behaviour: "hung-describe", want: "describe itself"},
		"hung health":        {behaviour: "hung-health", want: "health"},
		"NOT_SERVING":        {behaviour: "not-serving", want: "not SERVING but NOT_SERVING"},
		"no health service":  {behaviour: "no-health", want: "does not serve grpc.health.v1.Health"},
		"bad config schema":  {behaviour: "bad-schema", want: "no JSON object"},
		"refused config":     {behaviour: "refuse-config", want: "the plugin refused its configuration: /root: No root"},
		"ends with a reason": {behaviour: "crash-at-start", want: "cannot find my database"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, _ := options(t, test.behaviour)
			if test.body != "" {
				o.Command = []string{script(t, test.body)}
			}
			o.StartTimeout = 2 * time.Second
			var err error
			within(t, 12*time.Second, "the start", func() { err = startFails(t, o) })
			wantContains(t, "error", err.Error(), test.want)
		})
	}
}

func TestStartIsGivenUpWithItsContext(t *testing.T) {
	t.Parallel()
	o, _ := commandOptions(t, script(t, "#!/bin/sh\nsleep 60\n"))
	p := plugin.New(o)
	defer shut(t, p)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := p.Start(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's error", err)
	}
}

func TestRunDirMustBeShort(t *testing.T) {
	t.Parallel()
	o, _ := options(t, "good")
	o.RunDir = filepath.Join(shortDir(t), strings.Repeat("long", 20))
	err := startFails(t, o)
	wantContains(t, "error", err.Error(), "is too long", "107 are possible", "XDG_RUNTIME_DIR")
}

// victim listens where no plugin may send us, and says whether anybody came.
func victim(t *testing.T, network, addr string) (string, func() bool) {
	t.Helper()
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String(), func() bool {
		type deadliner interface{ SetDeadline(time.Time) error }
		if err := l.(deadliner).SetDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		c, err := l.Accept()
		if err == nil {
			c.Close()
		}
		return err == nil
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	tcp, tcpVisited := victim(t, "tcp", "127.0.0.1:0")
	unix, unixVisited := victim(t, "unix", filepath.Join(shortDir(t), "victim"))
	tests := map[string]struct{ body, want string }{
		"tcp":     {"#!/bin/sh\necho '1|1|tcp|" + tcp + "|grpc'\nsleep 30\n", "only a unix socket"},
		"unix":    {"#!/bin/sh\necho '1|1|unix|" + unix + "|grpc'\nsleep 30\n", "outside of its own folder"},
		"dots":    {"#!/bin/sh\necho \"1|1|unix|$PLUGIN_UNIX_SOCKET_DIR/../../../../.." + unix + "|grpc\"\nsleep 30\n", "outside of its own folder"},
		"symlink": {"#!/bin/sh\nln -s " + unix + " $PLUGIN_UNIX_SOCKET_DIR/s\necho \"1|1|unix|$PLUGIN_UNIX_SOCKET_DIR/s|grpc\"\nsleep 30\n", "no socket"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o, _ := commandOptions(t, script(t, test.body))
			wantContains(t, "error", startFails(t, o).Error(), test.want)
		})
	}
	if tcpVisited() || unixVisited() {
		t.Error("the host connected to a victim")
	}
	// A hard link is a socket in the right folder, and somebody else's: we
	// hang up before a byte is sent.
	t.Run("hard link", func(t *testing.T) {
		o, _ := options(t, "hard-link")
		o.Env["VICTIM"] = unix
		wantContains(t, "error", startFails(t, o).Error(), "which is none of the plugin's")
	})
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	t.Run("unasked for", func(t *testing.T) {
		t.Parallel()
		o, _ := options(t, "unasked-cert")
		if got := mustText(t, start(t, o), `{}`); got != "ok" {
			t.Errorf("got %q, want ok", got)
		}
	})
	t.Run("missing", func(t *testing.T) {
		t.Parallel()
		o, _ := options(t, "no-tls")
		o.MTLS = true
		wantContains(t, "error", startFails(t, o).Error(), "announced no certificate")
	})
	t.Run("of another", func(t *testing.T) {
		t.Parallel()
		o, _ := options(t, "other-cert")
		o.MTLS, o.StartTimeout = true, 3*time.Second
		wantContains(t, "error", startFails(t, o).Error(), "another certificate than it announced")
	})
}
