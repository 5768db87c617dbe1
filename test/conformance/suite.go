package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

var (
	//go:embed package.json
	packageJSON []byte
	//go:embed package-lock.json
	packageLock []byte
)

const (
	installTimeout = 10 * time.Minute
	runTimeout     = 10 * time.Minute
)

// A suiteRun is one start of the suite.
type suiteRun struct {
	name string
	args []string
	// revision is that of the requirement set that must all be there; empty for none.
	revision string
	// scenarios is how many the suite must run at least, so that nothing goes missing unseen.
	scenarios int
}

// runs are what decides. The requirement sets bring along what is not scored:
// the pending scenarios, session-lifecycle and sse-polling count here as well.
var runs = []suiteRun{
	{name: "2026-07-28", args: []string{"--requirements", "2026-07-28"}, revision: "2026-07-28", scenarios: 37 + 3},
	{name: "2025-11-25", args: []string{"--requirements", "2025-11-25"}, revision: "2025-11-25", scenarios: 30 + 3},
	{name: "2025-06-18-all", args: []string{"--suite", "all", "--spec-version", "2025-06-18"}, scenarios: 27},
	{name: "2025-03-26-all", args: []string{"--suite", "all", "--spec-version", "2025-03-26"}, scenarios: 1},
}

// optional are scenarios of extensions that mcphost does not announce.
var optional = regexp.MustCompile(`^tasks-`)

// substance are checks that a server can avoid by not having what they test.
// mcphost has it, so they must have passed.
var substance = map[string][]string{
	"server-sse-polling":       {"server-sse-priming-event", "server-sse-retry-field", "server-sse-disconnect-resume"},
	"server-session-lifecycle": {"server-session-delete-accepted", "server-session-terminated-returns-404"},
	"server-initialize":        {"server-session-id-visible-ascii"},
}

// A suite is the installed conformance suite.
type suite struct {
	node, script string
	required     string // the folder of the requirement sets
	out          string
	lock         *os.File // held until the process ends: two runs would judge each other's results
}

// lock makes dir this process's own.
func lock(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("another run uses %s: %w", dir, err), f.Close())
	}
	return f, nil
}

// install puts the pinned suite into dir, if it is not there.
func install(ctx context.Context, dir string) (*suite, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	if runtime.GOOS != "linux" || arch == "" {
		return nil, fmt.Errorf("there is no Node for %s/%s in package.json", runtime.GOOS, runtime.GOARCH)
	}
	root := filepath.Join(dir, "node_modules", "@modelcontextprotocol", "conformance")
	s := &suite{
		node:     filepath.Join(dir, "node_modules", "node-linux-"+arch, "bin", "node"),
		script:   filepath.Join(root, "dist", "index.js"),
		required: filepath.Join(root, "requirements"),
		out:      filepath.Join(dir, "out"),
	}
	if s.lock, err = lock(dir); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(s.out); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return nil, err
	}
	// The copy of the lock is written last, so an install that was cut short is done again.
	stamp := filepath.Join(dir, "installed.json")
	if have, err := os.ReadFile(stamp); err == nil && bytes.Equal(have, packageLock) {
		return s, nil
	}
	for name, text := range map[string][]byte{"package.json": packageJSON, "package-lock.json": packageLock} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	c := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	c.Dir, c.Stdout, c.Stderr = dir, os.Stderr, os.Stderr
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("npm ci: %w", err)
	}
	return s, os.WriteFile(stamp, packageLock, 0o644)
}

// A report is what one run found.
type report struct {
	run       suiteRun
	scenarios []scenario
	took      time.Duration
	faults    []string // why the run fails beside its checks
}

// A scenario is one of the suite's, judged by its checks.
type scenario struct {
	name                        string
	scored, optional            bool
	ok, failed, warned, skipped int
	complaints                  []string
}

// run runs r against url.
func (s *suite) run(ctx context.Context, r suiteRun, url string) (rep report, err error) {
	rep.run = r
	dir := filepath.Join(s.out, r.name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return rep, err
	}
	log, err := os.Create(filepath.Join(s.out, r.name+".log"))
	if err != nil {
		return rep, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	args := append([]string{s.script, "server", "--url", url, "-o", dir}, r.args...)
	c := exec.CommandContext(ctx, s.node, args...)
	c.Stdout, c.Stderr = log, log
	// The exit code tells of what is scored alone, and of no warning: the checks decide.
	var exit *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &exit) {
		return rep, err
	}
	if ctx.Err() != nil {
		return rep, fmt.Errorf("did not end: %w", ctx.Err())
	}
	return rep, s.judge(&rep, dir)
}

// judge reads the checks that a run left in dir.
func (s *suite) judge(rep *report, dir string) error {
	required, err := s.requirements(rep.run.revision)
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if err != nil {
		return err
	}
	for _, file := range files {
		sc, err := readScenario(file)
		if err != nil {
			return err
		}
		sc.scored = slices.Contains(required, sc.name)
		sc.optional = optional.MatchString(sc.name)
		rep.scenarios = append(rep.scenarios, sc)
	}
	for _, name := range required {
		if !slices.ContainsFunc(rep.scenarios, func(sc scenario) bool { return sc.name == name && sc.ok > 0 }) {
			rep.faults = append(rep.faults, "the required scenario "+name+" passed no check")
		}
	}
	n := 0
	for _, sc := range rep.scenarios {
		if !sc.optional {
			n++
		}
	}
	if n < rep.run.scenarios {
		rep.faults = append(rep.faults, fmt.Sprintf("%d scenarios ran, %d were expected", n, rep.run.scenarios))
	}
	return nil
}

// stamped is the name of a scenario's folder: server-NAME-TIME.
var stamped = regexp.MustCompile(`^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$`)

func readScenario(file string) (scenario, error) {
	var sc scenario
	m := stamped.FindStringSubmatch(filepath.Base(filepath.Dir(file)))
	if m == nil {
		return sc, fmt.Errorf("%s: not the name of a scenario's folder", file)
	}
	sc.name = m[1]
	text, err := os.ReadFile(file)
	if err != nil {
		return sc, err
	}
	var checks []struct{ ID, Name, Status, ErrorMessage string }
	if err := json.Unmarshal(text, &checks); err != nil {
		return sc, fmt.Errorf("%s: %w", file, err)
	}
	var passed []string
	for _, c := range checks {
		switch c.Status {
		case "SUCCESS":
			sc.ok++
			passed = append(passed, c.ID)
		case "FAILURE":
			sc.failed++
		case "WARNING":
			sc.warned++
		case "SKIPPED":
			sc.skipped++
		}
		if c.Status == "FAILURE" || c.Status == "WARNING" {
			sc.complaints = append(sc.complaints, fmt.Sprintf("%s %s (%s): %s", c.Status, c.ID, c.Name, c.ErrorMessage))
		}
	}
	for _, id := range substance[sc.name] {
		if !slices.Contains(passed, id) {
			sc.failed++
			sc.complaints = append(sc.complaints, "the check "+id+" did not pass; the suite may have skipped it")
		}
	}
	return sc, nil
}

// requirements lists the server scenarios that are scored for a revision.
func (s *suite) requirements(revision string) ([]string, error) {
	if revision == "" {
		return nil, nil
	}
	text, err := os.ReadFile(filepath.Join(s.required, revision+".yaml"))
	if err != nil {
		return nil, err
	}
	// The file is YAML of one simple form: "server:", then "  - NAME" a line.
	_, rest, found := strings.Cut(string(text), "\nserver:\n")
	var names []string
	for line := range strings.Lines(rest) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !ok {
			if strings.TrimSpace(line) == "" || strings.HasPrefix(strings.TrimSpace(line), "#") {
				continue
			}
			break
		}
		names = append(names, name)
	}
	if !found || len(names) == 0 {
		return nil, fmt.Errorf("%s.yaml names no server scenario", revision)
	}
	return names, nil
}
