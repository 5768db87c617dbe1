// Actor is the plugin of the host's tests. Its environment and configuration
// say what it does, so that a test can tell one generation from another.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/mcphost/mcphost/sdk"
)

// version is set by the linker: two versions are two programs.
var version = "v0"

type settings struct {
	Say string `json:"say,omitempty"`
	Bad bool   `json:"bad,omitempty"` // complain
}

func (s settings) Validate() error {
	if s.Bad {
		return sdk.Invalid("/bad", "Bad setting", "This is never good.")
	}
	return nil
}

type input struct {
	N      int `json:"n"`
	Millis int `json:"millis,omitempty"`
}

func main() {
	if os.Getenv("FAIL") != "" {
		fmt.Fprintln(os.Stderr, "no luck today")
		os.Exit(3)
	}
	var options []sdk.Option
	if os.Getenv("EXCLUSIVE") != "" {
		options = append(options, sdk.WithExclusive())
	}
	p := sdk.New("actor", version, append(options, sdk.WithResourceUpdates())...)
	config := sdk.Configure(p, alone)
	for _, name := range []string{"echo", os.Getenv("TOOL")} {
		if name == "" {
			continue
		}
		sdk.AddTool(p, sdk.Tool{Name: name, Description: "Tells who answers, after a while."}, func(ctx context.Context, _ *sdk.Call, in input) (string, error) {
			select {
			case <-time.After(time.Duration(in.Millis) * time.Millisecond):
			case <-ctx.Done():
				return "", ctx.Err()
			}
			return fmt.Sprintf("%d %s %s %s", in.N, version, os.Getenv("WORD"), config.Get().Say), nil
		})
	}
	p.AddResource(sdk.Resource{URI: "test://clock", Name: "clock"}, func(_ context.Context, _ *sdk.Call, r sdk.Read) (*sdk.ReadResult, error) {
		return r.Text(version), nil
	})
	p.OnSubscriptions(func(_ context.Context, uris []string) {
		for _, uri := range uris {
			p.ResourceUpdated(uri) // so that a test sees that it was told
		}
	})
	p.Main()
}

// alone fails if another process that must be alone has the same data folder.
func alone(_ context.Context, s sdk.Setup, _ settings) error {
	if os.Getenv("ALONE") == "" {
		return nil
	}
	f, err := os.Create(filepath.Join(s.DataDir, "alone"))
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("two at once: %w", err)
	}
	held = f // until the process ends
	return nil
}

var held *os.File
