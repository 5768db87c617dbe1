package config

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// The functions here read the arguments that have a form of their own.

func nonEmpty(a value) (string, bool) {
	s, ok := text(a)
	if ok && s == "" {
		a.wrong(a.at(), "a string that is not empty")
		return "", false
	}
	return s, ok
}

func webURL(a value) (string, bool) {
	s, ok := text(a)
	if !ok {
		return "", false
	}
	if u, err := url.Parse(s); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		a.wrong(a.at(), fmt.Sprintf("an http or https URL, not %q", s))
		return "", false
	}
	return s, true
}

// each reads a list whose items have a form: parse returns the item and what it must be.
func each(a value, summary string, parse func(s string) (string, string)) ([]string, bool) {
	list, good := texts(a)
	if !good {
		return nil, false
	}
	for i, s := range list {
		item, problem := parse(s)
		if problem != "" {
			a.d.errorf(a.at(strconv.Itoa(i)), summary, "%s", problem)
			good = false
		}
		list[i] = item
	}
	return list, good
}

func listenAddress(a value) (string, bool) {
	s, ok := text(a)
	if !ok {
		return "", false
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil || !validPort(port, true) || strings.ContainsAny(host, " /") {
		a.d.errorf(a.at(), "Invalid address", `The argument %q is host:port, such as "127.0.0.1:8808", "[::1]:0" or ":8808", not %q.`, a.name, s)
		return "", false
	}
	return s, true
}

func validPort(s string, zero bool) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && (zero || n > 0)
}

func origins(a value) ([]string, bool) {
	return each(a, "Invalid origin", func(s string) (string, string) {
		u, err := url.Parse(s)
		if err != nil || u.Scheme == "" || u.Host == "" || strings.ToLower(u.Scheme+"://"+u.Host) != s || strings.Contains(s, "*") {
			return "", fmt.Sprintf(`An origin is compared exactly with what a browser sends: scheme://host or scheme://host:port in lower case, without a path or a wildcard. %q is not.`, s)
		}
		return s, ""
	})
}

var hostPattern = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$`)

func validHost(s string) bool {
	if _, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return true
	}
	return len(s) <= 253 && hostPattern.MatchString(s)
}

func hostNames(a value) ([]string, bool) {
	return each(a, "Invalid host", func(s string) (string, string) {
		lower := strings.ToLower(s)
		host := lower
		if h, port, err := net.SplitHostPort(lower); err == nil && validPort(port, false) {
			host = h
		}
		if !validHost(host) {
			return "", fmt.Sprintf(`An allowed host is a name or an address, perhaps with a port, such as "mcp.example.com"; %q is not.`, s)
		}
		return lower, ""
	})
}

func hostPorts(a value) ([]string, bool) {
	return each(a, "Invalid host", func(s string) (string, string) {
		lower := strings.ToLower(s)
		host, port, err := net.SplitHostPort(lower)
		if err != nil || !validHost(host) || !validPort(port, false) {
			return "", fmt.Sprintf(`A host that a plugin may reach is one name or address with its port, such as "api.example.com:443"; %q is not.`, s)
		}
		return lower, ""
	})
}

func globs(a value) ([]string, bool) {
	return each(a, "Invalid pattern", func(s string) (string, string) {
		if s == "" || strings.ContainsAny(s, "?[]{}\\") && !strings.Contains(s, "://") {
			return "", fmt.Sprintf("A pattern is a name in which * stands for any text, such as \"read_*\"; %q is not.", s)
		}
		return s, ""
	})
}

// Names are those that MCP recommends.
var namePattern = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

func namePrefix(a value) (string, bool) {
	s, ok := text(a)
	if ok && s != "" && (!namePattern.MatchString(s) || len(s) > 64) {
		a.wrong(a.at(), fmt.Sprintf("at most 64 letters, digits, dots, dashes and underscores, not %q", s))
		return "", false
	}
	return s, ok
}

func renames(a value) (map[string]string, bool) {
	m, good := textMap(a)
	if !good {
		return nil, false
	}
	from := map[string]string{}
	for _, own := range keys(m) {
		served := m[own]
		if !namePattern.MatchString(served) {
			a.d.errorf(a.at(own), "Invalid name", "A served name is 1 to 128 letters, digits, dots, dashes and underscores; %q is not.", served)
			good = false
		}
		if other, taken := from[served]; taken {
			a.d.errorf(a.at(own), "Duplicate name", "Both %q and %q are renamed to %q.", other, own, served)
			good = false
		}
		from[served] = own
	}
	return m, good
}

func environment(a value) (map[string]string, bool) {
	m, good := textMap(a)
	for _, name := range keys(m) {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(m[name], "\x00") {
			a.d.errorf(a.at(name), "Invalid value", "The environment variable %q cannot be set: a name is not empty and has no equals sign, and nothing has a zero byte.", name)
			good = false
		}
	}
	return m, good
}

var sha256Pattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

func sha256Hex(a value) (string, bool) {
	s, ok := text(a)
	s = strings.ToLower(strings.TrimPrefix(s, "sha256:"))
	if ok && !sha256Pattern.MatchString(s) {
		a.wrong(a.at(), "the 64 hexadecimal digits that `sha256sum` prints")
		return "", false
	}
	return s, ok
}

const sealKeySize = 32

func sealKeys(a value) ([][]byte, bool) {
	list, good := texts(a)
	if good && len(list) == 0 {
		a.wrong(a.at(), "a list of at least one key, or be left out")
		return nil, false
	}
	out := make([][]byte, 0, len(list))
	for i, s := range list {
		key := parseKey(strings.TrimSpace(s))
		if good && key == nil {
			a.d.errorf(a.at(strconv.Itoa(i)), "Invalid seal key", "A seal key is %d bytes in base64 or hexadecimal. Make one with `openssl rand -base64 %d`.", sealKeySize, sealKeySize)
			good = false
		}
		for _, other := range out {
			if key != nil && bytes.Equal(other, key) {
				a.d.errorf(a.at(strconv.Itoa(i)), "Invalid seal key", "This key is in the list twice.")
				good = false
			}
		}
		out = append(out, key)
	}
	return out, good
}

// parseKey returns nil for what is no key. The forms cannot be confused: their lengths differ.
func parseKey(s string) []byte {
	if key, err := hex.DecodeString(s); err == nil && len(key) == sealKeySize {
		return key
	}
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		if key, err := enc.DecodeString(s); err == nil && len(key) == sealKeySize {
			return key
		}
	}
	return nil
}
