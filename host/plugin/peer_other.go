//go:build !linux && !darwin

package plugin

import (
	"context"
	"errors"
	"net"
)

var errNoPeer = permanentf("plugins need unix sockets with peer credentials, which this system lacks: %w", errors.ErrUnsupported)

func dialSocket(context.Context, string) (*net.UnixConn, error) { return nil, errNoPeer }
func peerOf(*net.UnixConn) (uid, pid int, err error)            { return 0, 0, errNoPeer }
