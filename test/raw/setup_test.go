package raw

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// mcphost is the program under test.
var mcphost string

func TestMain(m *testing.M) {
	code, err := furnish(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func furnish(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "mcphost-raw")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	mcphost = filepath.Join(dir, "mcphost")
	if err := run(".", "go", "build", "-o", mcphost, "../../cmd/mcphost"); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

func run(dir, program string, args ...string) error {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, out)
	}
	return nil
}

const contract = "../../proto/mcphost/plugin/v1/plugin.proto"

// install makes a folder below .cache what an author's folder is: the plugin
// and what it runs on. What is pinned is installed when the pins have changed.
func install(name string, pins []string, packages func(dir string) error) (dir string, err error) {
	if dir, err = filepath.Abs("../../.cache/raw/" + name); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	lock, err := os.Create(dir + ".lock")
	if err != nil {
		return "", err
	}
	defer lock.Close() // it holds nothing but a lock
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	want, err := pinned(pins)
	if err != nil {
		return "", err
	}
	// The stamp is written last, so an install that was cut short is done again.
	stamp := dir + ".installed"
	if have, err := os.ReadFile(stamp); err != nil || !bytes.Equal(have, want) {
		if err := os.RemoveAll(dir); err != nil {
			return "", err
		}
		if err := copyInto(dir, pins); err != nil {
			return "", err
		}
		if err := packages(dir); err != nil {
			return "", err
		}
		if err := os.WriteFile(stamp, want, 0o644); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// pinned returns everything that an installation is made of.
func pinned(pins []string) ([]byte, error) {
	var all bytes.Buffer
	for _, path := range append([]string{contract}, pins...) {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		all.Write(text)
	}
	return all.Bytes(), nil
}

// copyInto copies files into a folder; each is there in one step.
func copyInto(dir string, files []string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.Base(path))
		if err := errors.Join(os.WriteFile(to+".new", text, 0o644), os.Rename(to+".new", to)); err != nil {
			return err
		}
	}
	return nil
}

// installPython makes a venv, and Python of the contract beside the plugin.
func installPython() (string, error) {
	pins := []string{"python/requirements.txt", "python/requirements-build.txt"}
	dir, err := install("python", pins, func(dir string) error {
		proto, err := filepath.Abs("../../proto")
		if err != nil {
			return err
		}
		build, python := dir+".build", ".venv/bin/python3"
		pip := []string{"python3", "-m", "pip", "--python", python, "install", "--quiet", "--no-deps"}
		for _, step := range [][]string{
			{"python3", "-m", "venv", "--without-pip", ".venv"},
			append(slices.Clip(pip), "-r", "requirements.txt"),
			append(slices.Clip(pip), "-r", "requirements-build.txt", "--target", build),
			{
				"env", "PYTHONPATH=" + build, python, "-m", "grpc_tools.protoc", "-I", proto,
				"--python_out", ".", "--grpc_python_out", ".", "mcphost/plugin/v1/plugin.proto",
			},
		} {
			if err := run(dir, step[0], step[1:]...); err != nil {
				return err
			}
		}
		return os.RemoveAll(build)
	})
	return dir, errors.Join(err, copyInto(dir, []string{"python/plugin.py"}))
}

// installNode runs npm, and puts the contract beside the plugin.
func installNode() (string, error) {
	pins := []string{"node/package.json", "node/package-lock.json"}
	dir, err := install("node", pins, func(dir string) error {
		return run(dir, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	})
	return dir, errors.Join(err, copyInto(dir, []string{"node/plugin.mjs", "node/certificate.mjs", contract}))
}
