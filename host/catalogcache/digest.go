package catalogcache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// maxTree bounds how many files belong to one plugin.
const maxTree = 200_000

// Digest returns a digest of the contents of the file or folder root, with all
// below: names, kinds, whether a file may be executed, bytes, and where links
// lead, which are not followed but for root itself.
//
// Bytes are read again only if the system says that something changed: who can
// forge the times that a kernel keeps can make the answer stale. It decides
// what is remembered of a program, never whether it may run.
func (c *Cache) Digest(root string) (string, error) {
	c.digesting.Lock()
	defer c.digesting.Unlock()
	seen := time.Now()
	id, newest, err := identity(root)
	if err != nil {
		return "", err
	}
	if d, ok := c.digests[root]; ok && d.Identity == id {
		return d.Content, nil
	}
	content, err := walk(root, hashContent)
	if err != nil {
		return "", err
	}
	// A file that was written just now may be written once more without a
	// trace in its times, whose grain is coarse.
	if seen.Sub(newest) > settled && len(c.digests) < maxDigests {
		c.digests[root] = digest{Identity: id, Content: content}
		c.changed = true
	}
	return content, nil
}

// settled is the age from which the times of a file tell all changes.
const settled = 2 * time.Second

// identity is a digest of what the system says of root and all below without
// reading, and when something of it changed last.
func identity(root string) (string, time.Time, error) {
	var newest time.Time
	id, err := walk(root, func(h hash.Hash, path string, info fs.FileInfo) error {
		changed := changeTime(info)
		if changed.After(newest) {
			newest = changed
		}
		fmt.Fprintf(h, "%d %d %d %s\n", info.Size(), info.ModTime().UnixNano(), changed.UnixNano(), inode(info))
		return nil
	})
	return id, newest, err
}

// hashContent adds the bytes of a regular file.
func hashContent(h hash.Hash, path string, info fs.FileInfo) (err error) {
	if !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	n, err := io.Copy(h, f)
	fmt.Fprintf(h, " %d\n", n)
	return err
}

// walk hashes the names and kinds of root and all below, and of each what more adds.
func walk(root string, more func(h hash.Hash, path string, info fs.FileInfo) error) (string, error) {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", err
	}
	h, count := sha256.New(), 0
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if count++; count > maxTree {
			return fmt.Errorf("%q has more than %d files", root, maxTree)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%q %s ", rel, info.Mode())
		if info.Mode()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(path)
			fmt.Fprintf(h, "%q\n", to)
			return err
		}
		return more(h, path, info)
	})
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
