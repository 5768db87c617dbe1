// Package catalogcache remembers the catalogs of plugins from run to run, by
// what they were made of, so that a host can list tools without starting any
// process.
//
// What it gives back is foreign: others may write in its folder. It bounds the
// size and checks that a file is whole; whoever takes a catalog checks the rest
// as if it came from the plugin. Nothing that is wrong here is more than a line
// in the log: the plugin can always be asked.
package catalogcache

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hashicorp/go-hclog"
)

const (
	maxCatalog  = 96 << 20 // more than what a plugin may offer, encoded
	maxMemory   = 4 << 20  // of the file of digests
	maxDigests  = 8192
	maxCatalogs = 1000 // files; the oldest go

	magic      = "mcphost catalog 1\n"
	suffix     = ".catalog"
	digestName = "digests.json"
)

// A Cache is a folder with catalogs. Its methods may be called concurrently,
// and several hosts may share the folder.
type Cache struct {
	dir string
	log hclog.Logger

	digesting sync.Mutex // guards what follows
	digests   map[string]digest
	changed   bool // since Save
}

// A digest is what is remembered of one file or folder.
type digest struct {
	Identity string `json:"identity"`
	Content  string `json:"content"`
}

// Open returns the cache in dir, which is made when something is kept.
func Open(dir string, log hclog.Logger) *Cache {
	c := &Cache{dir: dir, log: log}
	err := c.readDigests()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("ignored the remembered digests", "path", c.path(digestName), "error", err)
	}
	if c.digests == nil {
		c.digests = make(map[string]digest)
	}
	return c
}

func (c *Cache) path(name string) string { return filepath.Join(c.dir, name) }

func (c *Cache) readDigests() error {
	b, err := readBounded(c.path(digestName), maxMemory)
	if err != nil {
		return err
	}
	var m map[string]digest
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	if len(m) > maxDigests {
		return fmt.Errorf("it has more than %d entries", maxDigests)
	}
	c.digests = m
	return nil
}

// Save keeps the digests for the next run.
func (c *Cache) Save() {
	c.digesting.Lock()
	defer c.digesting.Unlock()
	if !c.changed {
		return
	}
	b, err := json.Marshal(c.digests)
	if err == nil {
		err = c.write(digestName, b)
	}
	if err != nil {
		c.log.Warn("digests were not remembered", "error", err)
		return
	}
	c.changed = false
}

// Load returns what was kept under key, nil if there is nothing that can be used.
func (c *Cache) Load(key string) []byte {
	path := c.path(key + suffix)
	b, err := readBounded(path, maxCatalog)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var payload []byte
	if err == nil {
		payload, err = unwrap(b)
	}
	if err != nil {
		c.log.Warn("ignored a cached catalog", "path", path, "error", err)
		return nil
	}
	return payload
}

// Store keeps a catalog under key.
func (c *Cache) Store(key string, catalog []byte) {
	if err := c.write(key+suffix, wrap(catalog)); err != nil {
		c.log.Warn("a catalog was not kept for the next start", "error", err)
		return
	}
	if err := c.prune(); err != nil {
		c.log.Warn("removing old catalogs", "error", err)
	}
}

// wrap puts before a catalog what shows that it is whole.
func wrap(catalog []byte) []byte {
	sum := sha256.Sum256(catalog)
	b := append([]byte(magic), hex.EncodeToString(sum[:])...)
	return append(append(b, '\n'), catalog...)
}

func unwrap(b []byte) ([]byte, error) {
	b, ok := bytes.CutPrefix(b, []byte(magic))
	if !ok {
		return nil, errors.New("it does not begin like a catalog")
	}
	sum, catalog, ok := bytes.Cut(b, []byte{'\n'})
	if want := sha256.Sum256(catalog); !ok || string(sum) != hex.EncodeToString(want[:]) {
		return nil, errors.New("it is damaged")
	}
	return catalog, nil
}

// readBounded reads a regular file of at most limit bytes.
func readBounded(path string, limit int64) (_ []byte, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // a pipe would block, a link lead anywhere
		return nil, errors.New("it is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("it has more than %d bytes", limit)
	}
	return b, err
}

// write replaces a file in one step: a reader sees the old one or the new.
func (c *Cache) write(name string, b []byte) (err error) {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(c.dir, name+".*.tmp") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), c.path(name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// prune removes the oldest catalogs beyond maxCatalogs.
func (c *Cache) prune() error {
	paths, err := filepath.Glob(c.path("*" + suffix))
	if err != nil || len(paths) <= maxCatalogs {
		return err
	}
	ages := make(map[string]int64, len(paths))
	for _, p := range paths {
		if info, err := os.Lstat(p); err == nil { // else another host removed it
			ages[p] = info.ModTime().UnixNano()
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return int(min(max(ages[a]-ages[b], -1), 1)) })
	var errs []error
	for _, p := range paths[:len(paths)-maxCatalogs] {
		if err := os.Remove(p); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
