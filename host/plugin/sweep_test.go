package plugin

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"
)

// TestSweepLeavesWhatIsBeingMade: hosts that start at once sweep while others
// make their folders.
func TestSweepLeavesWhatIsBeingMade(t *testing.T) {
	run := t.TempDir()
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := Sweep(run, hclog.NewNullLogger()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	defer wg.Wait()
	defer close(done)
	for range 100 {
		d, err := makeDirs(run, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(d.Private, lockName)); err != nil {
			t.Fatal("a folder in use was swept: ", err)
		}
		if err := d.remove(); err != nil {
			t.Fatal(err)
		}
	}
}
