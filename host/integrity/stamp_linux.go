package integrity

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"
)

// stamp returns a digest of what the system says of the files at paths and all
// below, and when one of them was changed last. Whatever is done to a file
// changes it: the time of change of an inode cannot be set.
func stamp(paths ...string) (string, time.Time, error) {
	h := sha256.New()
	var newest time.Time
	for _, path := range paths {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return "", newest, err
		}
		err = filepath.WalkDir(real, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			st, ok := info.Sys().(*syscall.Stat_t)
			if !ok {
				return fmt.Errorf("the system says nothing of %q", name)
			}
			changed := time.Unix(st.Ctim.Unix())
			if changed.After(newest) {
				newest = changed
			}
			fmt.Fprintf(h, "%q %d %d %v %d %d\n", name, st.Dev, st.Ino, info.Mode(), info.Size(), changed.UnixNano())
			return nil
		})
		if err != nil {
			return "", newest, err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), newest, nil
}
