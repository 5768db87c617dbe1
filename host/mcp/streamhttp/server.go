package streamhttp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
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
// [NewServer]. Handlers come and go also while it serves; its methods may be
// called concurrently.
type Server struct {
	http http.Server

	mu       sync.RWMutex // guards what follows
	paths    map[string]http.Handler
	handlers map[string]*Handler
	down     bool
}

// NewServer returns a server without handlers. What it has to say of
// connections goes to log.
func NewServer(log hclog.Logger) *Server {
	s := &Server{paths: make(map[string]http.Handler), handlers: make(map[string]*Handler)}
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

// Mount serves h at path, to be closed by Shutdown, and the HTTP+SSE
// pair of 2024-11-05 at path/sse and path/message if h has it. It reports false
// after Shutdown; then h is the caller's to close.
func (s *Server) Mount(path string, h *Handler) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return false
	}
	s.handlers[path] = h
	s.paths[path] = h
	if h.opts.LegacySSE {
		sse, message := pairPaths(path)
		s.paths[sse], s.paths[message] = h.Pair(message)
	}
	return true
}

func pairPaths(path string) (sse, message string) {
	base := strings.TrimSuffix(path, "/")
	return base + "/sse", base + "/message"
}

// MountPlain serves h, which is no endpoint, at path.
func (s *Server) MountPlain(path string, h http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paths[path] = h
}

// Unmount takes away the handler that Mount put at path and returns it, for the
// caller to close; nil if there is none. From then on the path is not found.
func (s *Server) Unmount(path string) *Handler {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.handlers[path]
	if h == nil {
		return nil
	}
	delete(s.handlers, path)
	delete(s.paths, path)
	if h.opts.LegacySSE {
		sse, message := pairPaths(path)
		delete(s.paths, sse)
		delete(s.paths, message)
	}
	return h
}

// route finds a handler by the exact path: there are no patterns and no redirects.
func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	s.mu.RLock()
	h := s.paths[r.URL.Path]
	s.mu.RUnlock()
	if h == nil {
		http.NotFound(w, r)
		return
	}
	h.ServeHTTP(w, r)
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
	s.mu.Lock()
	s.down = true
	handlers := slices.Collect(maps.Values(s.handlers))
	s.mu.Unlock()
	var wg sync.WaitGroup
	errs := make([]error, len(handlers)+2)
	for i, h := range handlers {
		wg.Go(func() { errs[i] = h.Close(ctx) })
	}
	if err := s.http.Shutdown(ctx); err != nil {
		errs[len(handlers)] = fmt.Errorf("closing connections: %w", err)
		// A client that does not read must not hold up its handler.
		errs[len(handlers)+1] = s.http.Close()
	}
	wg.Wait()
	return errors.Join(errs...)
}
