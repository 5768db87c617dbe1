package filewatch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/mcphost/mcphost/host/filewatch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wait bounds what must happen; the machine may be busy.
const wait = 20 * time.Second

func watch(t *testing.T, paths ...string) <-chan struct{} {
	t.Helper()
	changes := make(chan struct{}, 100)
	w, err := filewatch.New(t.Context(), hclog.NewNullLogger(), func(context.Context) { changes <- struct{}{} })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	w.Set(paths)
	return changes
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestEveryWayToChangeAFileIsNoticed(t *testing.T) {
	tests := map[string]func(dir, file string) error{
		"in place": func(_, file string) error { return os.WriteFile(file, []byte("longer"), 0o600) },
		"by rename": func(dir, file string) error {
			next := filepath.Join(dir, "new")
			return errors.Join(os.WriteFile(next, []byte("same"), 0o600), os.Rename(next, file))
		},
		"removed": func(_, file string) error { return os.Remove(file) },
		"mode":    func(_, file string) error { return os.Chmod(file, 0o700) },
		"link": func(dir, _ string) error { // as Kubernetes does it
			next := filepath.Join(dir, "next")
			return errors.Join(
				os.WriteFile(filepath.Join(dir, "v2", "real"), []byte("longer"), 0o600),
				os.Symlink("v2", next), os.Rename(next, filepath.Join(dir, "current")))
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, v := range []string{"v1", "v2"} {
				must(t, os.Mkdir(filepath.Join(dir, v), 0o700))
			}
			put(t, filepath.Join(dir, "v1", "real"), "real")
			must(t, os.Symlink("v1", filepath.Join(dir, "current")))
			file := filepath.Join(dir, "file")
			if name == "link" {
				must(t, os.Symlink(filepath.Join("current", "real"), file))
			} else {
				put(t, file, "same")
			}
			changes := watch(t, file)
			must(t, change(dir, file))
			select {
			case <-changes:
			case <-time.After(wait):
				t.Error("nothing was noticed")
			}
		})
	}
}

func TestAFolderMeansItsEntries(t *testing.T) {
	dir := t.TempDir()
	changes := watch(t, dir)
	put(t, filepath.Join(dir, "new.hcl"), "")
	select {
	case <-changes:
	case <-time.After(wait):
		t.Error("nothing was noticed")
	}
}

// What happens beside the files is no change: the change that follows is the
// first to be told.
func TestNeighboursAndSeveralStepsAreNotChanges(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	put(t, file, "0")
	changes := watch(t, file)
	put(t, filepath.Join(dir, "neighbour"), "x")
	for _, text := range []string{"1", "12", "123"} {
		put(t, file, text)
	}
	select {
	case <-changes:
	case <-time.After(wait):
		t.Fatal("nothing was noticed")
	}
	put(t, filepath.Join(dir, "neighbour"), "xy")
	select {
	case <-changes:
		t.Error("one more change was told")
	case <-time.After(4 * 200 * time.Millisecond): // for what must not happen there is nothing to wait for
	}
}
