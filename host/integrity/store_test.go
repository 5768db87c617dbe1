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
	tests := map[string]func(t *testing.T, dir string){
		"bytes":    func(t *testing.T, dir string) { write(t, filepath.Join(dir, "files", "a", "b.js"), "other", 0o600) },
		"new file": func(t *testing.T, dir string) { write(t, filepath.Join(dir, "files", "c"), "", 0o600) },
		"executable": func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "files", "a", "b.js"), "text", 0o700)
		},
		"name": func(t *testing.T, dir string) {
			rename(t, filepath.Join(dir, "files", "a", "b.js"), filepath.Join(dir, "files", "a", "c.js"))
		},
		"link": func(t *testing.T, dir string) {
			link := filepath.Join(dir, "files", "link")
			if err := os.Remove(link); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("elsewhere", link); err != nil {
				t.Fatal(err)
			}
		},
		"empty folder": func(t *testing.T, dir string) {
			if err := os.Mkdir(filepath.Join(dir, "files", "empty"), 0o700); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, subject := openStore(t, filepath.Join(dir, "copies")), tree(t, dir)
			before := take(t, s, subject)
			change(t, dir)
			if after := take(t, s, subject); after.Files == before.Files || after.Program != before.Program {
				t.Errorf("got %+v after %+v, want other files and the same program", after.Sums, before.Sums)
			}
		})
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
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
	if out, err := exec.Command("mkfifo", filepath.Join(dir, "files", "pipe")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
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
	touches := map[string]func(t *testing.T, s Subject, c *Copy){
		"the program": func(t *testing.T, s Subject, _ *Copy) { write(t, s.Program, "program", 0o700) },
		"a file": func(t *testing.T, s Subject, _ *Copy) {
			write(t, filepath.Join(s.Files[0], "a", "b.js"), "text", 0o600)
		},
		"beside the copy":     func(t *testing.T, s Subject, c *Copy) { write(t, filepath.Join(c.dir, "new"), "", 0o600) },
		"a new file's copy":   func(t *testing.T, s Subject, c *Copy) { write(t, filepath.Join(c.Path(s.Files[0]), "new"), "", 0o600) },
		"its time set back":   func(t *testing.T, s Subject, _ *Copy) { backdate(t, s.Program, "program") },
		"the copy's set back": func(t *testing.T, s Subject, c *Copy) { backdate(t, c.Path(s.Program), "PROGRAM") },
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
			touch(t, subject, first)
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

// backdate changes the bytes of a file and puts its times back, as far as that goes.
func backdate(t *testing.T, path, text string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, path, text, info.Mode())
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
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
