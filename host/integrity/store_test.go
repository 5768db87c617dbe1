package integrity

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func write(t *testing.T, path, text string, mode fs.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func openStore(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func take(t *testing.T, s *Store, subject Subject) *Copy {
	t.Helper()
	c, err := s.Take(subject)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCopyIsWhatWasHashed(t *testing.T) {
	dir := t.TempDir()
	program := write(t, filepath.Join(dir, "plugin"), "#!/bin/sh\necho first\n", 0o755)
	c := take(t, openStore(t, filepath.Join(dir, "copies")), Subject{Program: program})
	want := fmt.Sprintf("%x", sha256.Sum256([]byte("#!/bin/sh\necho first\n")))
	if c.Program != want || c.Files != "" {
		t.Errorf("got sums %+v, want the program's sha256 %s and no files", c.Sums, want)
	}
	// What comes to the place of the program after it was hashed does not run.
	write(t, program, "#!/bin/sh\necho second\n", 0o755)
	out, err := exec.Command(c.Path(program)).Output()
	if err != nil || string(out) != "first\n" {
		t.Errorf("the copy says %q, %v; want what was hashed", out, err)
	}
	info, err := os.Stat(c.Path(program))
	if err != nil || info.Mode() != 0o500 {
		t.Errorf("the copy has mode %v, %v; want one that nobody else has and nobody writes", info.Mode(), err)
	}
}

func TestScriptFindsItsFilesBesideTheCopy(t *testing.T) {
	dir := t.TempDir()
	script := write(t, filepath.Join(dir, "p", "plugin.sh"), "#!/bin/sh\ncat \"${0%/*}/lib/word\" \"$1\" \"${2#--word=}\"\n", 0o755)
	word := write(t, filepath.Join(dir, "p", "lib", "word"), "first ", 0o600)
	if err := os.Symlink(word, filepath.Join(dir, "p", "lib", "absolute")); err != nil {
		t.Fatal(err)
	}
	c := take(t, openStore(t, filepath.Join(dir, "copies")), Subject{Program: script, Files: []string{filepath.Join(dir, "p", "lib")}})
	write(t, word, "second ", 0o600)
	out, err := exec.Command(c.Path(script), c.Text(word), c.Text("--word="+filepath.Join(dir, "p", "lib", "absolute"))).Output()
	if err != nil || string(out) != "first first first " {
		t.Errorf("the copy says %q, %v; want only what was hashed", out, err)
	}
	list := strings.Join([]string{"/usr/lib", filepath.Join(dir, "p", "lib")}, ":")
	if got, want := c.Text(list), "/usr/lib:"+c.Path(filepath.Join(dir, "p", "lib")); got != want {
		t.Errorf("Text(%q) = %q, want %q", list, got, want)
	}
}

// TestSumsTellEveryChange changes one thing of a plugin at a time.
func TestSumsTellEveryChange(t *testing.T) {
	changes := map[string]string{
		"bytes":        "printf other >files/a/b.js",
		"new file":     ": >files/c",
		"executable":   "chmod +x files/a/b.js",
		"name":         "mv files/a/b.js files/a/c.js",
		"link":         "ln -sfn elsewhere files/link",
		"empty folder": "mkdir files/empty",
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, subject := openStore(t, filepath.Join(dir, "copies")), tree(t, dir)
			before := take(t, s, subject)
			shell(t, dir, change)
			if after := take(t, s, subject); after.Files == before.Files || after.Program != before.Program {
				t.Errorf("got %+v after %+v, want other files and the same program", after.Sums, before.Sums)
			}
		})
	}
}

// TestLockFileIsNoPartOfWhatItPins lets the plugin lie beside the configuration.
func TestLockFileIsNoPartOfWhatItPins(t *testing.T) {
	dir := t.TempDir()
	s, subject := openStore(t, filepath.Join(dir, "copies")), tree(t, dir)
	before := take(t, s, subject)
	lock := write(t, filepath.Join(subject.Files[0], LockName), "plugin \"p\" {}\n", 0o600)
	after := take(t, s, subject)
	if after.Sums != before.Sums {
		t.Errorf("got %+v with a lock file and %+v without", after.Sums, before.Sums)
	}
	if _, err := os.Stat(after.Path(lock)); err == nil {
		t.Error("the plugin sees what was not hashed")
	}
}

// shell runs a script in dir.
func shell(t *testing.T, dir, script string, env ...string) {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
}

// tree makes a plugin with files.
func tree(t *testing.T, dir string) Subject {
	t.Helper()
	write(t, filepath.Join(dir, "files", "a", "b.js"), "text", 0o600)
	if err := os.Symlink("a", filepath.Join(dir, "files", "link")); err != nil {
		t.Fatal(err)
	}
	return Subject{Program: write(t, filepath.Join(dir, "plugin"), "program", 0o700), Files: []string{filepath.Join(dir, "files")}}
}

func TestSumsDoNotDependOnThePlace(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	s := openStore(t, filepath.Join(t.TempDir(), "copies"))
	if one, other := take(t, s, tree(t, a)), take(t, s, tree(t, b)); one.Sums != other.Sums {
		t.Errorf("got %+v and %+v for the same plugin in two places", one.Sums, other.Sums)
	}
}

func TestInterpreterOfTheSystemIsNotPinned(t *testing.T) {
	dir := t.TempDir()
	script := write(t, filepath.Join(dir, "plugin.sh"), "echo $0", 0o600)
	subject, err := NewSubject("/bin/sh", []string{script})
	if err != nil || !subject.Interpreter {
		t.Fatalf("NewSubject gave %+v, %v; want an interpreter", subject, err)
	}
	c := take(t, openStore(t, filepath.Join(dir, "copies")), subject)
	if c.Program != "" || c.Files == "" || c.Path("/bin/sh") != "/bin/sh" || c.Path(script) == script {
		t.Errorf("got %+v, %q and %q; want a copy of the script alone", c.Sums, c.Path("/bin/sh"), c.Path(script))
	}
	if alone, err := NewSubject("/bin/sh", nil); err != nil || alone.Interpreter {
		t.Errorf("a program of the system without files is %+v, %v; want one that is pinned", alone, err)
	}
}

func TestWhatCannotBePinnedIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no named pipes in folders")
	}
	dir := t.TempDir()
	subject := tree(t, dir)
	shell(t, dir, "mkfifo files/pipe")
	_, err := openStore(t, filepath.Join(dir, "copies")).Take(subject)
	if err == nil || !strings.Contains(err.Error(), `"pipe"`) {
		t.Errorf("got %v, want an error that names the pipe", err)
	}
}

// old makes the times of a plugin old enough to trust. It cannot set the time
// of change, so it waits for that.
func old(t *testing.T, subject Subject) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		_, changed, err := stamp(subject.paths()...)
		if err != nil {
			t.Fatal(err)
		}
		if time.Since(changed) > settled {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("the files do not get older")
		}
	}
}

func TestCopyIsUsedAgainUntilSomethingIsTouched(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("nothing tells whether a file was touched here")
	}
	t.Parallel()
	touches := map[string]string{
		"the program":         `printf program >plugin`,
		"a file":              `printf text >files/a/b.js`,
		"beside the copy":     `: >"$COPY/new"`,
		"a file's copy":       `chmod 700 "$COPIED_FILES/a/b.js"`,
		"its time set back":   `touch -r plugin ref; printf program >plugin; touch -r ref plugin`,
		"the copy's set back": `touch -r "$COPIED" ref; chmod 700 "$COPIED"; printf PROGRAM >"$COPIED"; chmod 500 "$COPIED"; touch -r ref "$COPIED"`,
	}
	for name, touch := range touches {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s, subject := openStore(t, filepath.Join(dir, "copies")), tree(t, dir)
			old(t, subject)
			first := take(t, s, subject)
			second := take(t, s, subject)
			if second.dir != first.dir {
				t.Fatalf("a second copy was made in %s", second.dir)
			}
			shell(t, dir, touch, "COPY="+first.dir, "COPIED="+first.Path(subject.Program), "COPIED_FILES="+first.Path(subject.Files[0]))
			third := take(t, s, subject)
			if third.dir == first.dir {
				t.Fatal("a copy that may be another one is used again")
			}
			if text, err := os.ReadFile(third.Path(subject.Program)); err != nil || string(text) != "program" {
				t.Errorf("the new copy has %q, %v", text, err)
			}
			// The old one goes with its last user.
			for _, c := range []*Copy{first, second} {
				if _, err := os.Stat(first.dir); err != nil {
					t.Fatalf("a copy in use is gone: %v", err)
				}
				if err := c.Release(); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := os.Stat(first.dir); err == nil {
				t.Error("the old copy stays")
			}
		})
	}
}

func TestStoreRemovesWhatKilledHostsLeft(t *testing.T) {
	dir := t.TempDir()
	copies := filepath.Join(dir, "copies")
	lives := openStore(t, copies)
	mine := take(t, lives, Subject{Program: write(t, filepath.Join(dir, "plugin"), "program", 0o700)})
	left := write(t, filepath.Join(copies, strings.Repeat("a", 16), "1", "plugin"), "program", 0o500)
	openStore(t, copies)
	if _, err := os.Stat(left); err == nil {
		t.Error("what a killed host left stays")
	}
	if _, err := os.Stat(mine.dir); err != nil {
		t.Errorf("the copy of a host that lives is gone: %v", err)
	}
	if err := lives.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(copies)
	if err != nil || len(entries) != 0 {
		t.Errorf("after Close there is %v, %v; want nothing", entries, err)
	}
}
