package streamhttp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	headerTimeout = 10 * time.Second
	readTimeout   = time.Minute // of a whole request; a handler's wait is not part of it
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10 // Mcp-Param headers hold arguments
)

// A Server serves several handlers, each at its path, on one listener. Use
// [NewServer]. Handlers are mounted before it serves.
type Server struct {
	http     http.Server
	paths    map[string]http.Handler
	handlers []*Handler
}

// NewServer returns a server without handlers. What it has to say of
// connections goes to log.
func NewServer(log hclog.Logger) *Server {
	s := &Server{paths: make(map[string]http.Handler)}
	s.http = http.Server{
		Handler:           http.HandlerFunc(s.route),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      readTimeout, // handlers set their own for each write
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}
	return s
}

// Mount serves h at path, to be closed by Shutdown, and the HTTP+SSE pair of
// 2024-11-05 at path/sse and path/message if h has it.
func (s *Server) Mount(path string, h *Handler) {
	s.handlers = append(s.handlers, h)
	s.paths[path] = h
	if h.opts.LegacySSE {
		base := strings.TrimSuffix(path, "/")
		s.paths[base+"/sse"], s.paths[base+"/message"] = h.Pair(base + "/message")
	}
}

// MountPlain serves h, which is no endpoint, at path.
func (s *Server) MountPlain(path string, h http.Handler) { s.paths[path] = h }

// route finds a handler by the exact path: there are no patterns and no redirects.
func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	if h := s.paths[r.URL.Path]; h != nil {
		h.ServeHTTP(w, r)
		return
	}
	http.NotFound(w, r)
}

// Serve serves ln until Shutdown, and then returns nil.
func (s *Server) Serve(ln net.Listener) error {
	if err := s.http.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving HTTP: %w", err)
	}
	return nil
}

// Shutdown takes no more requests, ends subscriptions and streams, lets calls
// in work end until ctx is done, cuts what is left, and returns when nothing
// runs any more. The error says that something was cut.
func (s *Server) Shutdown(ctx context.Context) error {
	var wg sync.WaitGroup
	errs := make([]error, len(s.handlers)+2)
	for i, h := range s.handlers {
		wg.Go(func() { errs[i] = h.Close(ctx) })
	}
	if err := s.http.Shutdown(ctx); err != nil {
		errs[len(s.handlers)] = fmt.Errorf("closing connections: %w", err)
		// A client that does not read must not hold up its handler.
		errs[len(s.handlers)+1] = s.http.Close()
	}
	wg.Wait()
	return errors.Join(errs...)
}
