package host

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/mcphost/mcphost/host/config"
	"github.com/mcphost/mcphost/host/integrity"
)

// A makeup is what a plugin is made of, as two digests.
type makeup struct {
	// process differs where a process must be another one: program, files,
	// arguments, environment, secrets, sandbox, limits and configuration. It
	// is made of secrets and never leaves the memory.
	process string
	// catalog differs where the catalog may be another one; it names what the
	// cache keeps. Of the environment and the secrets it has the names alone.
	// Empty: it is not known, because a file cannot be read.
	catalog string

	// pin is what is accepted of it. After pinErr nothing is, and it must not run.
	pin    integrity.Pin
	pinErr error
}

// makeup returns what the plugin of cfg is made of now.
func (h *Host) makeup(cfg *config.Plugin) makeup {
	files, err := h.contents(cfg)
	block := cfg.ConfigDigest()
	secrets := make(map[string]string, len(cfg.Secrets))
	for name, s := range cfg.Secrets {
		secrets[name] = s.Reveal()
	}
	// Everything of the block but the shapes, which the registry applies, and the places.
	c := *cfg
	c.Place, c.Sandbox.Place, c.Secrets = config.Place{}, config.Place{}, nil
	c.Tools, c.Prompts, c.Resources = config.Shape{}, config.Shape{}, config.Shape{}
	if err != nil {
		files = append(files, err.Error())
	}
	pin, pinErr := h.pin(cfg)
	if pinErr != nil {
		files = append(files, pinErr.Error())
	}
	m := makeup{process: digest(c, secrets, block, files, pin.Entry), pin: pin, pinErr: pinErr}
	if err == nil {
		m.catalog = digest(c.Handle, c.Command, c.Builtin, names(c.Env), names(secrets), block, files)
	}
	return m
}

func names(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// digest returns a digest of values that can be written as JSON.
func digest(values ...any) string {
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(values); err != nil {
		panic(fmt.Sprintf("a configuration that cannot be written: %v", err)) // it was read from text
	}
	return hex.EncodeToString(h.Sum(nil))
}

// contents returns digests of the files that belong to the plugin.
func (h *Host) contents(cfg *config.Plugin) ([]string, error) {
	var digests []string
	var errs []error
	for _, path := range filesOf(cfg) {
		d, err := h.catalogs.Digest(path)
		errs = append(errs, err)
		digests = append(digests, path, d)
	}
	return digests, errors.Join(errs...)
}

// filesOf returns the files and folders that belong to the plugin: its program,
// the files among its arguments, and what it names as its own.
func filesOf(cfg *config.Plugin) []string {
	if len(cfg.Command) == 0 {
		return cfg.Files
	}
	list := []string{cfg.Command[0]}
	for _, arg := range cfg.Command[1:] {
		if !filepath.IsAbs(arg) {
			continue
		}
		if info, err := os.Stat(arg); err == nil && info.Mode().IsRegular() {
			list = append(list, arg)
		}
	}
	return append(list, cfg.Files...)
}
