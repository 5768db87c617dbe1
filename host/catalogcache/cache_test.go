package catalogcache

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

func open(t *testing.T, dir string) (*Cache, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	return Open(dir, hclog.New(&hclog.LoggerOptions{Output: &log})), &log
}

func TestACatalogComesBackInTheNextRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	c, log := open(t, dir)
	if got := c.Load("a"); got != nil || log.Len() > 0 {
		t.Errorf("before anything was kept: %q, log %s", got, log)
	}
	c.Store("a", []byte("one"))
	c.Store("a", []byte("two"))
	c, _ = open(t, dir)
	if got := string(c.Load("a")); got != "two" {
		t.Errorf("got %q, want the newest", got)
	}
	if got := c.Load("b"); got != nil {
		t.Errorf("another key gives %q", got)
	}
	info, err := os.Stat(filepath.Join(dir, "a.catalog"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

func TestWhatIsNotACatalogIsIgnoredWithALine(t *testing.T) {
	whole := wrap([]byte("catalog"))
	tests := map[string]func(path string) error{
		"empty":     func(p string) error { return os.WriteFile(p, nil, 0o600) },
		"foreign":   func(p string) error { return os.WriteFile(p, []byte("hello"), 0o600) },
		"truncated": func(p string) error { return os.WriteFile(p, whole[:len(whole)-1], 0o600) },
		"flipped": func(p string) error {
			b := bytes.Clone(whole)
			b[len(b)-1] ^= 1
			return os.WriteFile(p, b, 0o600)
		},
		"folder": func(p string) error { return os.Mkdir(p, 0o700) },
		"link": func(p string) error {
			to := p + ".else"
			if err := os.WriteFile(to, whole, 0o600); err != nil {
				return err
			}
			return os.Symlink(to, p)
		},
		"too large": func(p string) error {
			if err := os.WriteFile(p, whole, 0o600); err != nil {
				return err
			}
			return os.Truncate(p, maxCatalog+1)
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := test(filepath.Join(dir, "k.catalog")); err != nil {
				t.Fatal(err)
			}
			c, log := open(t, dir)
			if got := c.Load("k"); got != nil {
				t.Errorf("got %d bytes", len(got))
			}
			if strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), "ignored a cached catalog") {
				t.Errorf("log %q, want one line", log)
			}
			if name == "folder" {
				return
			}
			c.Store("k", []byte("better"))
			if got := string(c.Load("k")); got != "better" {
				t.Errorf("after it was replaced: %q", got)
			}
		})
	}
}

func TestOldCatalogsGo(t *testing.T) {
	c, _ := open(t, t.TempDir())
	for i := range maxCatalogs + 3 {
		name := filepath.Join(c.dir, "old"+string(rune('a'+i%26))+strings.Repeat("x", i/26)+suffix)
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, time.Time{}, time.Unix(int64(i), 0)); err != nil {
			t.Fatal(err)
		}
	}
	c.Store("new", []byte("x"))
	left, err := filepath.Glob(c.path("*" + suffix))
	if err != nil || len(left) != maxCatalogs || c.Load("new") == nil {
		t.Errorf("%d are left, %v; the newest among them: %v", len(left), err, c.Load("new") != nil)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDigestTellsContentsApart(t *testing.T) {
	root := filepath.Join(t.TempDir(), "tree")
	write(t, filepath.Join(root, "a", "x"), "1")
	c, _ := open(t, t.TempDir())
	seen := make(map[string]string)
	check := func(what string, isNew bool) {
		t.Helper()
		d, err := c.Digest(root)
		if err != nil {
			t.Fatal(err)
		}
		if before, ok := seen[d]; ok == isNew {
			t.Errorf("%s: digest %s, seen before as %q", what, d, before)
		}
		seen[d] = what
	}
	check("first", true)
	check("again", false)
	write(t, filepath.Join(root, "a", "x"), "2")
	check("other bytes of one size", true)
	write(t, filepath.Join(root, "a", "x"), "1")
	check("the first bytes", false)
	if err := os.Chmod(filepath.Join(root, "a", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	check("executable", true)
	write(t, filepath.Join(root, "b", "y"), "")
	check("one more file", true)
	if err := os.Symlink("/elsewhere", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	check("a link", true)
	if _, err := c.Digest(filepath.Join(root, "none")); !os.IsNotExist(err) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestDigestsAreRemembered(t *testing.T) {
	dir := t.TempDir()
	c, _ := open(t, dir)
	const old = "/bin/sh" // nobody writes it now
	want, err := c.Digest(old)
	if err != nil {
		t.Skip(err)
	}
	fresh := filepath.Join(t.TempDir(), "fresh")
	write(t, fresh, "x")
	if _, err := c.Digest(fresh); err != nil {
		t.Fatal(err)
	}
	c.Save()
	c, _ = open(t, dir)
	if d := c.digests[old]; d.Content != want {
		t.Errorf("remembered %q, want %q", d.Content, want)
	}
	if _, ok := c.digests[fresh]; ok {
		t.Error("a file that was just written is remembered; its next change may not show")
	}
	c.digests[old] = digest{Identity: "other", Content: "stale"}
	if got, err := c.Digest(old); got != want || err != nil {
		t.Errorf("a changed file: %q, %v, want it read again", got, err)
	}
	write(t, filepath.Join(dir, digestName), "{")
	if c, log := open(t, dir); len(c.digests) != 0 || !strings.Contains(log.String(), "ignored the remembered digests") {
		t.Errorf("damaged: %v, log %q", c.digests, log)
	}
}
