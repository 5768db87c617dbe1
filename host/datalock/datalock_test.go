package datalock_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/mcphost/mcphost/host/datalock"
)

func hold(t *testing.T, l *datalock.Locks, handle, want string) datalock.Folder {
	t.Helper()
	f, err := l.Folder(t.Context(), handle, 0)
	if err != nil || f.Name != want {
		t.Fatalf("Folder(%q) = %+v, %v, want %q", handle, f, err, want)
	}
	return f
}

// Locks belong to open files, so two hosts in one process exclude each other as well.
func TestTwoHostsNeverShareAFolder(t *testing.T) {
	dir := t.TempDir()
	a, b, c := datalock.New(dir), datalock.New(dir), datalock.New(dir)
	hold(t, a, "notes", "notes")
	hold(t, a, "notes", "notes") // it may be held again
	if f := hold(t, b, "notes", "notes~2"); f.Other != os.Getpid() {
		t.Errorf("the spare folder is %+v, want it to say who has the first", f)
	}
	hold(t, b, "notes", "notes~2")
	hold(t, b, "other", "other")
	hold(t, c, "notes", "notes~3")
	if err := a.Release("notes"); err != nil {
		t.Fatal(err)
	}
	hold(t, b, "notes", "notes~2") // a host keeps what it has
	if err := errors.Join(a.Release("notes"), c.Release("notes~3")); err != nil {
		t.Fatal(err)
	}
	hold(t, c, "notes", "notes")
	if err := errors.Join(b.Release("notes~2"), b.Release("notes~2"), b.Release("notes~2"), b.Release("other"), c.Release("notes")); err != nil {
		t.Error(err)
	}
	hold(t, a, "notes", "notes")
	if err := a.Release("notes"); err != nil {
		t.Error(err)
	}
}

func TestAHostThatEndsIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	a, b := datalock.New(dir), datalock.New(dir)
	hold(t, a, "notes", "notes")
	time.AfterFunc(50*time.Millisecond, func() {
		if err := a.Release("notes"); err != nil {
			t.Error(err)
		}
	})
	if f, err := b.Folder(t.Context(), "notes", time.Minute); err != nil || f.Name != "notes" {
		t.Fatalf("got %+v, %v, want the first folder", f, err)
	}
	hold(t, a, "other", "other")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := b.Folder(ctx, "other", time.Minute); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the end of the context", err)
	}
	if err := errors.Join(a.Release("other"), b.Release("notes")); err != nil {
		t.Error(err)
	}
}

func TestFoldersAreNotWithoutEnd(t *testing.T) {
	dir := t.TempDir()
	var locks []*datalock.Locks
	for range 40 {
		l := datalock.New(dir)
		f, err := l.Folder(t.Context(), "notes", 0)
		var held *datalock.HeldError
		if errors.As(err, &held) {
			if len(locks) != 32 || held.PID != os.Getpid() {
				t.Errorf("refused after %d: %v", len(locks), err)
			}
			break
		}
		locks = append(locks, l)
		t.Cleanup(func() {
			if err := l.Release(f.Name); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestOneLock(t *testing.T) {
	dir := t.TempDir()
	a, b := datalock.New(dir), datalock.New(dir)
	if err := a.Hold("x"); err != nil {
		t.Fatal(err)
	}
	var held *datalock.HeldError
	if err := b.Hold("x"); !errors.As(err, &held) || held.PID != os.Getpid() {
		t.Errorf("got %v, want our own pid", err)
	}
	if err := errors.Join(a.Release("x"), b.Hold("x"), b.Release("x")); err != nil {
		t.Error(err)
	}
}
