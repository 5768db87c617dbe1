package plugin

import (
	"bufio"
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// resolve finds the file that command names: as it is with a slash, relative
// to dir, or in PATH. It reports what is wrong with the file in words that
// say what to do.
func resolve(command, dir string) (string, error) {
	path := command
	switch {
	case command == "":
		return "", permanentf("the command is empty")
	case !strings.ContainsRune(command, filepath.Separator):
		found, err := exec.LookPath(command)
		if err != nil {
			return "", permanentf("command %q is not in PATH: install it or write its path", command)
		}
		path = found
	case !filepath.IsAbs(command):
		path = filepath.Join(dir, command)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return path, checkFile(path)
}

func checkFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return permanentf("there is no file %q: build or install the plugin, or mend the path", path)
	case err != nil:
		return permanentf("looking at the command: %w", err)
	case info.IsDir():
		return permanentf("%q is a folder, not a program", path)
	case info.Mode()&0o111 == 0 && runtime.GOOS != "windows":
		return permanentf("%q is not executable: chmod +x it, or name its interpreter in the command", path)
	}
	return nil
}

// explainExec says why the kernel cannot run the program at path, nil if it
// seems that it can.
func explainExec(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil // what can be executed need not be readable
	}
	defer f.Close() //nolint:errcheck // only read
	head := make([]byte, 256)
	n, _ := f.Read(head)
	head = head[:n]
	switch {
	case bytes.HasPrefix(head, []byte("#!")):
		return explainShebang(path, head[2:])
	case bytes.HasPrefix(head, []byte(elf.ELFMAG)):
		return explainELF(path)
	case n == 0:
		return permanentf("%q is an empty file", path)
	case runtime.GOOS == "linux":
		return permanentf("%q is neither a program for Linux nor a script that names its interpreter (#!)", path)
	}
	return nil
}

func explainShebang(path string, rest []byte) error {
	line, _, _ := bufio.NewReader(bytes.NewReader(rest)).ReadLine()
	fields := strings.Fields(string(line))
	if len(fields) == 0 {
		return permanentf("%q begins with #! and names no interpreter", path)
	}
	interpreter := fields[0]
	if strings.HasSuffix(string(rest[:min(len(rest), len(line)+1)]), "\r") {
		return permanentf("%q has Windows line breaks, so its interpreter %q is not found: convert it to Unix ones", path, interpreter)
	}
	if _, err := os.Stat(interpreter); err != nil {
		return permanentf("%q wants the interpreter %q, which is not there: install it", path, interpreter)
	}
	if filepath.Base(interpreter) == "env" && len(fields) > 1 && !strings.HasPrefix(fields[1], "-") {
		if _, err := exec.LookPath(fields[1]); err != nil {
			return permanentf("%q wants the interpreter %q, which is not in PATH: install it", path, fields[1])
		}
	}
	return nil
}

// machines are the names of architectures as Go has them.
var machines = map[elf.Machine]string{
	elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64", elf.EM_386: "386", elf.EM_ARM: "arm",
	elf.EM_RISCV: "riscv64", elf.EM_PPC64: "ppc64le", elf.EM_S390: "s390x", elf.EM_LOONGARCH: "loong64",
}

func explainELF(path string) error {
	if runtime.GOOS != "linux" {
		return permanentf("%q is a program for Linux, and this is %s", path, runtime.GOOS)
	}
	f, err := elf.Open(path)
	if err != nil {
		return permanentf("%q is a damaged program: %w", path, err)
	}
	defer f.Close() //nolint:errcheck // only read
	arch, known := machines[f.Machine]
	if !known {
		arch = f.Machine.String()
	}
	if arch != runtime.GOARCH {
		return permanentf("%q is built for %s, and this machine is %s: build it for that", path, arch, runtime.GOARCH)
	}
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP || p.Filesz > 4096 {
			continue
		}
		b := make([]byte, p.Filesz)
		if _, err := p.ReadAt(b, 0); err != nil {
			continue
		}
		loader := string(bytes.TrimRight(b, "\x00"))
		if _, err := os.Stat(loader); err != nil {
			return permanentf("%q needs the loader %q, which is not there: it was built for another system (glibc or musl)", path, loader)
		}
	}
	return nil
}

// explainStart makes an error of a start that did not come to a handshake,
// from everything that is known of the process.
func explainStart(ctx context.Context, p *process, path string, cause error) error {
	_, _, fault := p.announced()
	switch {
	case fault != nil:
		return withTail(p, fault)
	case ctx.Err() != nil: // its process may have ended meanwhile, but by our hand
		return withTail(p, explainTimeout(ctx, p))
	case !p.forked():
		if err := explainExec(path); err != nil {
			return err
		}
		return cause
	case !closed(p.dead):
		return withTail(p, cause)
	}
	printed := p.stdout.printed()
	var err error
	switch code := exitCode(p); {
	case code == 126 || code == 127:
		if err = explainExec(path); err == nil {
			err = fmt.Errorf("plugin ended with %s before its handshake: a command in it was not found or cannot be run", p.status())
		}
	case len(printed) > 0:
		err = fmt.Errorf("plugin ended (%s) and did not print a handshake line; it printed %q: "+
			"is %q an mcphost plugin?", p.status(), strings.Join(printed, "\n"), path)
	default:
		err = fmt.Errorf("plugin ended (%s) before its handshake", p.status())
	}
	return withTail(p, err)
}

// explainTimeout says what a start waited for when ctx ended it.
func explainTimeout(ctx context.Context, p *process) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	if printed := p.stdout.printed(); len(printed) > 0 {
		return fmt.Errorf("plugin printed no handshake line in time; it printed %q", printed)
	}
	return errors.New("plugin printed no handshake line in time")
}

// withTail adds the last lines of stderr.
func withTail(p *process, err error) error {
	lines := p.stderr.last(5)
	if len(lines) == 0 {
		return err
	}
	return fmt.Errorf("%w; its last words on stderr: %q", err, strings.Join(lines, "\n"))
}

func exitCode(p *process) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == nil {
		return -1
	}
	return p.state.ExitCode()
}

// checkSocket reports whether addr is a socket right inside dir.
func checkSocket(network, addr, dir string) error {
	if network != "unix" {
		return permanentf("plugin announced a %s address: only unix sockets are accepted", network)
	}
	if filepath.Dir(addr) != dir || filepath.Base(addr) == ".." || strings.ContainsRune(addr, 0) {
		return permanentf("plugin announced the socket %q outside of its own folder: it must make it in PLUGIN_UNIX_SOCKET_DIR (%s)",
			clean(addr, 200, false), dir)
	}
	if len(addr) > maxSocketPath {
		return permanentf("plugin announced a socket path of %d bytes; at most %d are possible", len(addr), maxSocketPath)
	}
	info, err := os.Lstat(addr)
	if err != nil {
		return fmt.Errorf("plugin announced a socket that is not there: %w", err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return permanentf("plugin announced %q, which is no socket (%v)", addr, info.Mode())
	}
	return nil
}
