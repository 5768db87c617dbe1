package datalock_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/mcphost/mcphost/host/datalock"
)

// Locks belong to open files, so two hosts in one process exclude each other as well.
func TestASecondHostIsToldWhoHasTheFolder(t *testing.T) {
	dir := t.TempDir()
	a, b := datalock.New(dir), datalock.New(dir)
	for range 2 { // it may be held again
		if err := a.Hold("notes"); err != nil {
			t.Fatal(err)
		}
	}
	var held *datalock.HeldError
	if err := b.Hold("notes"); !errors.As(err, &held) || held.PID != os.Getpid() || !strings.Contains(err.Error(), "--state-dir") {
		t.Errorf("got %v, want our own pid and what to do", err)
	}
	if err := b.Hold("other"); err != nil {
		t.Errorf("another plugin: %v", err)
	}
	if err := a.Release("notes"); err != nil {
		t.Fatal(err)
	}
	if err := b.Hold("notes"); !errors.As(err, &held) {
		t.Errorf("after one of two uses ended: %v", err)
	}
	if err := a.Release("notes"); err != nil {
		t.Fatal(err)
	}
	if err := b.Hold("notes"); err != nil {
		t.Errorf("after it was given back: %v", err)
	}
	if err := errors.Join(b.Release("notes"), b.Release("notes"), b.Release("other")); err != nil {
		t.Error(err)
	}
}
