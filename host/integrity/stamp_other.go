//go:build !linux

package integrity

import "time"

// stamp claims that everything was changed just now: here nothing tells that it
// was not, and each start makes a copy of its own.
func stamp(...string) (string, time.Time, error) { return "", time.Now(), nil }
