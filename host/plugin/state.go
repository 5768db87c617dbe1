package plugin

import "fmt"

// A State is where a plugin stands.
type State uint8

// The states.
const (
	Stopped   State = iota // no process, by intent: not started, idle or closed
	Starting               // a process is starting
	Ready                  // it serves
	Unhealthy              // it serves and missed a health check
	Backoff                // it ended, and starts again after a while or at the next use
	CrashLoop              // it ended too often: only Restart starts it again
	Failed                 // it cannot start: only Restart tries again
	Draining               // it serves what it has, and nothing new
)

// States lists all states, for tables and tests.
var States = [...]State{Stopped, Starting, Ready, Unhealthy, Backoff, CrashLoop, Failed, Draining}

var stateNames = [...]string{"stopped", "starting", "ready", "unhealthy", "backoff", "crash_loop", "failed", "draining"}

// String returns the word for s, as logs and lists have it.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("state(%d)", uint8(s))
}
