// Package control lets commands of the same user speak to running hosts: each
// host has a unix socket in a private folder, and answers one request a
// connection, one JSON object each way.
//
// Who can open the socket may ask anything: the folder belongs to the user and
// nobody else can enter it.
package control

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	maxRequest  = 4 << 10
	maxReply    = 16 << 20
	requestWait = 5 * time.Second // for a request to come, and for a reply to be taken
	maxClients  = 16              // at once; more wait in the kernel
)

// A Request asks a host to do something.
type Request struct {
	Do string `json:"do"`
}

// A Reply is what came of a [Request].
type Reply struct {
	PID   int             `json:"pid"`
	Error string          `json:"error,omitempty"` // why there is no result
	Value json.RawMessage `json:"value,omitempty"`
}

// name returns the first part of the names of sockets of hosts that read these
// files or folders, which are absolute.
func name(paths []string) string {
	sum := sha256.Sum256([]byte(strings.Join(paths, "\x00")))
	return hex.EncodeToString(sum[:6]) + "-"
}

// absolute returns paths as every host and command spells them.
func absolute(paths []string) ([]string, error) {
	out := make([]string, len(paths))
	for i, p := range paths {
		abs, err := filepath.Abs(p)
		if err != nil {
			return nil, err
		}
		if real, err := filepath.EvalSymlinks(abs); err == nil { // else it is gone, and its name must do
			abs = real
		}
		out[i] = abs
	}
	return out, nil
}

// A Server answers requests at the socket of this process. Use [Listen].
type Server struct {
	ln     net.Listener
	handle func(context.Context, Request) (any, error)

	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// Listen makes the socket of this process in dir, as a host that reads the
// configuration paths, and serves it until Close. Handle is called by several
// goroutines; its error is for the client.
func Listen(ctx context.Context, dir string, paths []string, handle func(context.Context, Request) (any, error)) (*Server, error) {
	paths, err := absolute(paths)
	if err != nil {
		return nil, err
	}
	if err := private(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, name(paths)+strconv.Itoa(os.Getpid())+".sock")
	// One of our own pid is of a process that has ended.
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	s := &Server{ln: ln, handle: handle}
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.wg.Go(func() { s.serve(ctx) }) // ends by Close
	return s, nil
}

// private makes dir and makes sure that it is the user's alone, and that nobody
// else can put another one in its place.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if ok, err := closed(dir, 0o077); err != nil || !ok {
		return errors.Join(err, fmt.Errorf("%q must be a folder that is yours and that nobody else may enter", dir))
	}
	if ok, err := closed(filepath.Dir(dir), 0o022); err != nil || !ok {
		return errors.Join(err, fmt.Errorf("%q must be a folder that is yours and in which nobody else may write", filepath.Dir(dir)))
	}
	return nil
}

// closed reports whether dir is a folder of ours and gives none of these permissions.
func closed(dir string, perm fs.FileMode) (bool, error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return false, err
	}
	return info.IsDir() && info.Mode().Perm()&perm == 0 && ours(info), nil
}

func (s *Server) serve(ctx context.Context) {
	slots := make(chan struct{}, maxClients)
	for {
		conn, err := s.ln.Accept()
		if err != nil {
			return // closed: nothing else makes a listening unix socket fail for good
		}
		slots <- struct{}{}
		s.wg.Go(func() { // ends with the request, whose parts are bounded in time
			defer func() { <-slots }()
			s.answer(ctx, conn)
		})
	}
}

// answer serves one connection. A client that goes away misses its reply.
func (s *Server) answer(ctx context.Context, conn net.Conn) {
	defer conn.Close() //nolint:errcheck // the reply was written or cannot be
	if conn.SetDeadline(time.Now().Add(requestWait)) != nil {
		return
	}
	// Close need not wait for a client that says nothing.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) }) // fails if it was closed
	var r Request
	err := json.NewDecoder(io.LimitReader(conn, maxRequest)).Decode(&r)
	if !stop() || err != nil {
		return
	}
	reply := Reply{PID: os.Getpid()}
	v, err := s.handle(ctx, r)
	if err == nil {
		reply.Value, err = json.Marshal(v)
	}
	if err != nil {
		reply.Error = err.Error()
	}
	if conn.SetDeadline(time.Now().Add(requestWait)) == nil {
		_ = json.NewEncoder(conn).Encode(reply) // nobody is left to be told
	}
}

// Close removes the socket, cancels what runs, and returns when nothing does.
func (s *Server) Close() error {
	err := s.ln.Close()
	s.cancel()
	s.wg.Wait()
	return err
}

// Ask sends r to each running host that reads the configuration paths and
// returns the replies, by pid. Sockets of hosts that were killed are removed.
func Ask(ctx context.Context, dir string, paths []string, r Request) ([]Reply, error) {
	paths, err := absolute(paths)
	if err != nil {
		return nil, err
	}
	sockets, err := filepath.Glob(filepath.Join(dir, name(paths)+"*.sock"))
	if err != nil {
		return nil, err
	}
	if len(sockets) > 0 {
		if err := private(dir); err != nil {
			return nil, err
		}
	}
	var replies []Reply
	var errs []error
	for _, socket := range sockets {
		reply, err := ask(ctx, socket, r)
		switch {
		case errors.Is(err, syscall.ECONNREFUSED):
			err = os.Remove(socket)
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		case errors.Is(err, fs.ErrNotExist):
			err = nil // it ended just now
		case err == nil:
			replies = append(replies, reply)
		}
		errs = append(errs, err)
	}
	slices.SortFunc(replies, func(a, b Reply) int { return a.PID - b.PID })
	return replies, errors.Join(errs...)
}

func ask(ctx context.Context, socket string, r Request) (reply Reply, err error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return reply, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // fails if it was closed
	defer stop()
	if err := json.NewEncoder(conn).Encode(r); err != nil {
		return reply, fmt.Errorf("asking %s: %w", socket, err)
	}
	if err := json.NewDecoder(io.LimitReader(conn, maxReply)).Decode(&reply); err != nil {
		return reply, fmt.Errorf("waiting for the answer of %s: %w", socket, errors.Join(ctx.Err(), err))
	}
	return reply, nil
}
