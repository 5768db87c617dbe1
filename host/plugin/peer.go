package plugin

import (
	"fmt"
	"net"
	"os"
)

// checkPeer reports whether the process that listens at the other end of conn
// belongs to the plugin whose first process is root.
func checkPeer(conn *net.UnixConn, root int) error {
	uid, pid, err := peerOf(conn)
	switch {
	case err != nil:
		return fmt.Errorf("asking who listens on the plugin's socket: %w", err)
	case uid != os.Geteuid():
		return fmt.Errorf("the plugin's socket belongs to user %d, not to us (%d)", uid, os.Geteuid())
	case !inTree(pid, root):
		return fmt.Errorf("the plugin's socket belongs to process %d, which is none of the plugin's (%d)", pid, root)
	}
	return nil
}
