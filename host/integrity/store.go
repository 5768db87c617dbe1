package integrity

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcphost/mcphost/host/datalock"
)

// A Store keeps the copies of one host. Its methods may be called concurrently.
type Store struct {
	dir   string // of all hosts
	locks *datalock.Locks

	mu      sync.Mutex // guards what follows
	name    string     // of this host's folder; empty until the first copy
	number  int        // of copies made
	shelves map[string]*shelf
	closed  bool
}

// A shelf has the copies of one subject, of which one at most is the newest.
type shelf struct {
	making sync.Mutex // held while a copy is looked for or made

	mu     sync.Mutex // guards what follows
	newest *kept
}

// A kept is a copy and what tells whether it, and what it was made of, are as
// they were.
type kept struct {
	copy   Copy
	source string // stamp; empty: cannot be told
	stamp  string
	uses   int
	gone   bool // it is not the newest any more
}

// OpenStore returns a store with a folder of its own below dir, which is made
// when something is copied. What hosts left in dir that were killed is removed.
func OpenStore(dir string) (*Store, error) {
	s := &Store{dir: dir, locks: datalock.New(dir), shelves: make(map[string]*shelf)}
	return s, s.sweep()
}

var storeName = regexp.MustCompile(`^[a-z0-9]{16}$`)

// sweep removes the folders of hosts that do not live any more.
func (s *Store) sweep() error {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sweeping copies: %w", err)
	}
	var errs []error
	for _, e := range entries {
		if !e.IsDir() || !storeName.MatchString(e.Name()) {
			continue
		}
		if err := s.locks.Hold(e.Name()); err != nil {
			continue // its host lives
		}
		errs = append(errs, s.remove(e.Name()))
	}
	return errors.Join(errs...)
}

// remove removes the folder of a host whose lock is held, and the lock. The
// name is never used again, so nobody else wants the lock.
func (s *Store) remove(name string) error {
	err := os.RemoveAll(filepath.Join(s.dir, name))
	return errors.Join(err, os.Remove(filepath.Join(s.dir, name+".lock")), s.locks.Release(name))
}

// Close removes all copies. Nothing of them may be in use. It may be called twice.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.name == "" {
		s.closed = true
		return nil
	}
	s.closed = true
	return s.remove(s.name)
}

// Take returns a copy of what subject is made of now. A copy is made once and
// used again as long as the system says that neither it nor its source was
// touched; the kernel keeps those times, and only it can set them.
func (s *Store) Take(subject Subject) (*Copy, error) {
	key, err := json.Marshal(subject)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	sh := s.shelves[string(key)]
	if sh == nil {
		sh = new(shelf)
		s.shelves[string(key)] = sh
	}
	s.mu.Unlock()
	sh.making.Lock()
	defer sh.making.Unlock()
	if c := sh.again(subject); c != nil {
		return c, nil
	}
	dir, err := s.newDir()
	if err != nil {
		return nil, fmt.Errorf("making a private copy: %w", err)
	}
	return sh.make(subject, dir)
}

// newDir returns a folder that does not exist yet, in that of this host.
func (s *Store) newDir() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", errors.New("the host is stopping")
	}
	if s.name == "" {
		name := strings.ToLower(rand.Text()[:16])
		if err := s.locks.Hold(name); err != nil {
			return "", err
		}
		s.name = name
	}
	s.number++
	dir, err := filepath.EvalSymlinks(s.dir)
	return filepath.Join(dir, s.name, strconv.Itoa(s.number)), err
}

// again returns the newest copy if it is still one of subject.
func (sh *shelf) again(subject Subject) *Copy {
	sh.mu.Lock()
	k := sh.newest
	sh.mu.Unlock()
	if k == nil || k.source == "" {
		return nil
	}
	source, _, err := stamp(subject.paths()...)
	if err != nil || source != k.source {
		return nil
	}
	if now, _, err := stamp(k.copy.dir); err != nil || now != k.stamp {
		return nil
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	k.uses++
	return sh.use(k)
}

func (s Subject) paths() []string {
	if s.Interpreter {
		return s.Files
	}
	return append([]string{s.Program}, s.Files...)
}

// settled is the age from which the times of a file tell all its changes: their
// grain is coarse.
const settled = 2 * time.Second

// make makes a new copy, the newest from now on.
func (sh *shelf) make(subject Subject, dir string) (*Copy, error) {
	begin := time.Now()
	source, changed, err := stamp(subject.paths()...)
	if err != nil {
		return nil, err
	}
	c, err := makeCopy(subject, dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	k := &kept{copy: *c, uses: 1}
	if begin.Sub(changed) > settled {
		if k.stamp, _, err = stamp(dir); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
		k.source = source
	}
	sh.mu.Lock()
	old := sh.newest
	sh.newest = k
	if old != nil {
		old.gone = true
	}
	unused := old != nil && old.uses == 0
	sh.mu.Unlock()
	if unused {
		err = os.RemoveAll(old.copy.dir)
	}
	return sh.use(k), err
}

// use returns k for one user more, which was counted.
func (sh *shelf) use(k *kept) *Copy {
	c := k.copy
	c.release = func() error {
		sh.mu.Lock()
		k.uses--
		unused := k.gone && k.uses == 0
		sh.mu.Unlock()
		if unused {
			return os.RemoveAll(k.copy.dir)
		}
		return nil
	}
	return &c
}
