package sandbox_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphost/mcphost/host/sandbox"
)

// ways are with namespaces and without, as a change of the policy.
var ways = map[string]func(t *testing.T, p sandbox.Policy) sandbox.Policy{
	"namespaces": func(t *testing.T, p sandbox.Policy) sandbox.Policy {
		t.Helper()
		needNamespaces(t)
		return p
	},
	"plain": func(t *testing.T, p sandbox.Policy) sandbox.Policy {
		t.Helper()
		return plain(p)
	},
}

func expect(t *testing.T, running *plugin, line, want string) {
	t.Helper()
	if got := running.must(t, line); !strings.HasPrefix(got, want) {
		t.Errorf("%s: %q, want %q", line, got, want)
	}
}

func TestGrantedPathsKeepTheirRights(t *testing.T) {
	for way, spaces := range ways {
		t.Run(way, func(t *testing.T) {
			dir := folder(t)
			for _, sub := range []string{"read", "read/write", "elsewhere"} {
				if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, sub, "f"), []byte("text"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			link := filepath.Join(dir, "link")
			if err := os.Symlink(filepath.Join(dir, "elsewhere"), link); err != nil {
				t.Fatal(err)
			}
			running := startProbe(t, spaces(t, sandbox.Policy{Grant: sandbox.Grant{
				Read:  []string{filepath.Join(dir, "read"), link},
				Write: []string{filepath.Join(dir, "read", "write")},
			}}), sandbox.Options{})
			expect(t, running, "try read "+dir+"/read/f", "reached")
			expect(t, running, "try append "+dir+"/read/f", "denied")
			expect(t, running, "try append "+dir+"/read/write/f", "reached")
			expect(t, running, "try write "+dir+"/read/write/new", "reached")
			expect(t, running, "try remove "+dir+"/read/write/new", "reached")
			expect(t, running, "try read "+dir+"/elsewhere/f", "reached")
			expect(t, running, "try append "+dir+"/elsewhere/f", "denied")
			if err := os.WriteFile(filepath.Join(dir, "beside"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			expect(t, running, "try read "+dir+"/beside", "denied")
		})
	}
}

func TestAGrantByASymbolicLinkIsThereByThatName(t *testing.T) {
	needNamespaces(t)
	dir := folder(t)
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "real", "f"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("real", link); err != nil {
		t.Fatal(err)
	}
	running := startProbe(t, sandbox.Policy{Grant: sandbox.Grant{Read: []string{link}}}, sandbox.Options{})
	expect(t, running, "try read "+link+"/f", "reached")
}

func TestAPluginCannotWidenItsNextStartByALink(t *testing.T) {
	dir := folder(t)
	out := filepath.Join(dir, "out")
	if err := os.Mkdir(out, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc", filepath.Join(out, "cache")); err != nil { // as the plugin may have done
		t.Fatal(err)
	}
	for way, spaces := range ways {
		t.Run(way, func(t *testing.T) {
			p := spaces(t, sandbox.Policy{Grant: sandbox.Grant{Write: []string{out}, Read: []string{filepath.Join(out, "cache")}}})
			_, err := run(t.Context(), exec.Command(probePath(t), "exit", "0"), p, sandbox.Options{})
			if err == nil || !strings.Contains(err.Error(), "leads out of") {
				t.Errorf("got %v, want the link refused", err)
			}
		})
	}
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	const missing = "/no/such/folder"
	for way, spaces := range ways {
		t.Run(way, func(t *testing.T) {
			granted := startProbe(t, spaces(t, sandbox.Policy{Grant: sandbox.Grant{Read: []string{missing}}}), sandbox.Options{})
			if notes := strings.Join(granted.report.Notes, "\n"); !strings.Contains(notes, missing) {
				t.Errorf("notes %q do not name a granted path that is missing", notes)
			}
			_, err := run(t.Context(), exec.Command(probePath(t), "exit", "0"), spaces(t, sandbox.Policy{Files: []string{missing}}), sandbox.Options{})
			if err == nil || !strings.Contains(err.Error(), missing) {
				t.Errorf("got %v, want the plugin refused: a part of it is missing", err)
			}
		})
	}
}

func TestALimitWithoutEffectIsSaid(t *testing.T) {
	running := startProbe(t, sandbox.Policy{Grant: sandbox.Grant{CPU: 0.5}}, sandbox.Options{})
	said := strings.Contains(strings.Join(running.report.Notes, "\n"), "cpu is not enforced")
	if exact := strings.Contains(running.report.Find(sandbox.Memory).By, "cgroup"); said == exact {
		t.Errorf("a cgroup holds the plugin: %v; the notes say that cpu is not enforced: %v", exact, said)
	}
}

func TestExecGrantsPrograms(t *testing.T) {
	for way, spaces := range ways {
		t.Run(way, func(t *testing.T) {
			one := startProbe(t, spaces(t, sandbox.Policy{Grant: sandbox.Grant{Exec: []string{"/usr/bin/true"}}}), sandbox.Options{})
			expect(t, one, "try exec /usr/bin/true", "reached")
			expect(t, one, "try exec /usr/bin/id", "denied EACCES")
			all := startProbe(t, spaces(t, sandbox.Policy{Grant: sandbox.Grant{Exec: []string{"*"}}}), sandbox.Options{})
			expect(t, all, "try exec /usr/bin/id", "reached")
		})
	}
}

func TestNetworkGrantedIsOpenAndSaysSo(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	addr := server.Listener.Addr().String()
	for way, spaces := range ways {
		t.Run(way, func(t *testing.T) {
			running := startProbe(t, spaces(t, sandbox.Policy{Grant: sandbox.Grant{Network: true}}), sandbox.Options{})
			if s := running.report.Find(sandbox.Net); !s.Granted || s.By != "" {
				t.Errorf("net is %v, want it open as granted", s)
			}
			expect(t, running, "try tcp "+addr, "reached")
			expect(t, running, "try udp "+addr, "reached")
			expect(t, running, "try read /etc/resolv.conf", "reached")
			for _, line := range []string{"try mptcp " + addr, "try raw x", "try packet x", "try highbits x", "try netlink x", "try vsock x"} {
				expect(t, running, line, "denied EPERM")
			}
		})
	}
}

// names is a resolver of the test's own.
type names map[string]netip.Addr

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if ip, ok := n[host]; ok {
		return []netip.Addr{ip}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

func TestHostsAreReachedAndNothingElse(t *testing.T) {
	needNamespaces(t)
	hello := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })
	plainServer, tlsServer := httptest.NewServer(hello), httptest.NewTLSServer(hello)
	defer plainServer.Close()
	defer tlsServer.Close()
	http1, https := port(t, plainServer.URL), port(t, tlsServer.URL)
	loopback := netip.MustParseAddr("127.0.0.1")
	running := startProbe(t, sandbox.Policy{Grant: sandbox.Grant{
		// The addresses are named, too, because they are private.
		Hosts: []string{"api.test:" + http1, "127.0.0.1:" + http1, "api.test:" + https, "127.0.0.1:" + https},
	}}, sandbox.Options{Resolver: names{"api.test": loopback, "other.test": loopback}})
	if s := running.report.Find(sandbox.Egress); !s.Holds() || s.Granted {
		t.Errorf("egress is %v, want it enforced", s)
	}
	expect(t, running, "try get http://api.test:"+http1+"/", "reached")
	expect(t, running, "try gets https://api.test:"+https+"/", "reached")
	expect(t, running, "try get http://other.test:"+http1+"/", "denied 403 mcphost refuses")
	expect(t, running, "try gets https://other.test:"+https+"/", "denied")
	expect(t, running, "try tcp 127.0.0.1:"+http1, "denied ECONNREFUSED") // nothing is there in its own network
	expect(t, running, "try tcp 1.1.1.1:443", "denied ENETUNREACH")
	expect(t, running, "try udp 1.1.1.1:53", "denied ENETUNREACH")
	expect(t, running, "try netlink x", "denied EPERM")
}

func port(t *testing.T, raw string) string {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u.Port()
}

const pythonServer = `
import os, socket, sys, tempfile, ssl, json, threading, subprocess
assert os.listdir(tempfile.gettempdir()) is not None
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen()
while True:
    c, _ = s.accept()
    c.sendall(c.recv(100))
`

const nodeServer = `
const net = require('net'), os = require('os'), fs = require('fs'), crypto = require('crypto');
fs.writeFileSync(os.tmpdir() + '/x', crypto.randomBytes(8)); os.userInfo();
net.createServer(c => c.pipe(c)).listen(process.argv[2]);
`

func TestRuntimesServeInside(t *testing.T) {
	tests := map[string]struct{ program, file, source string }{
		"python": {"/usr/bin/python3", "plugin.py", pythonServer},
		"node":   {"/usr/bin/node", "plugin.js", nodeServer},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := os.Stat(test.program); err != nil {
				t.Skipf("not installed: %v", err)
			}
			for way, spaces := range ways {
				t.Run(way, func(t *testing.T) {
					dir, files := folder(t), folder(t)
					script := filepath.Join(files, test.file)
					if err := os.WriteFile(script, []byte(test.source), 0o600); err != nil {
						t.Fatal(err)
					}
					socket := filepath.Join(dir, "s")
					cmd := exec.Command(test.program, script, socket)
					cmd.Env = []string{"HOME=" + dir, "TMPDIR=" + dir, "LANG=C.UTF-8"}
					p := spaces(t, sandbox.Policy{Files: []string{files}, Folders: []string{dir}})
					running, err := serve(t.Context(), cmd, p, sandbox.Options{}, socket)
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(running.stop)
					if got := running.must(t, "hello"); got != "hello" {
						t.Errorf("answered %q", got)
					}
				})
			}
		})
	}
}

func TestAScriptStartsByItsFirstLine(t *testing.T) {
	for way, spaces := range ways {
		t.Run(way, func(t *testing.T) {
			script := filepath.Join(folder(t), "script")
			if err := os.WriteFile(script, []byte("#!/usr/bin/env python3\nprint('ran')\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(script)
			cmd.Env = []string{"PATH=/usr/bin:/bin"}
			cmd.Stderr = os.Stderr
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			running, err := run(t.Context(), cmd, spaces(t, sandbox.Policy{}), sandbox.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(running.stop)
			if line, err := bufio.NewReader(out).ReadString('\n'); line != "ran\n" {
				t.Errorf("read %q, %v", line, err)
			}
		})
	}
}

func TestAnotherUserRunsThePlugin(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	for way, spaces := range ways {
		t.Run(way, func(t *testing.T) {
			dir := folder(t)
			if err := os.Chown(dir, nobody, nobody); err != nil {
				t.Fatal(err)
			}
			socket := filepath.Join(dir, "s")
			p := spaces(t, sandbox.Policy{Folders: []string{dir}, RunAs: &sandbox.User{UID: nobody, GID: nobody}})
			running, err := serve(t.Context(), exec.Command(probePath(t), "serve", socket), p, sandbox.Options{}, socket)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(running.stop)
			info, err := os.Stat(socket)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(info.Sys()); !strings.Contains(got, fmt.Sprint(nobody)) {
				t.Errorf("the socket is %s, want it made by %d", got, nobody)
			}
			expect(t, running, "try caps x", "denied")
		})
	}
}
