package sandbox

import (
	"os"
	"path/filepath"
	"slices"
)

// systemPaths are readable by every plugin: the system's programs, libraries
// and runtimes, and the settings without which they do not work. None of them
// holds secrets on a system in its usual order. docs/sandbox.md shows the list.
var systemPaths = []string{
	"/bin", "/sbin", "/usr", "/lib", "/lib32", "/lib64", "/libx32",
	"/nix/store", "/gnu/store", "/run/current-system/sw",
	"/etc/alternatives",
	"/etc/ca-certificates", "/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/openssl.cnf",
	"/etc/pki/ca-trust/extracted", "/etc/pki/tls/certs", "/etc/pki/tls/cert.pem", "/etc/pki/tls/openssl.cnf",
	"/etc/crypto-policies",
	"/etc/fonts",
	"/etc/java*",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld-musl-*.path",
	"/etc/localtime", "/etc/timezone",
	"/etc/mime.types", "/etc/protocols", "/etc/services",
	"/etc/python3*",
}

// networkPaths are readable besides when the network is granted.
var networkPaths = []string{
	"/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf",
}

// systemReadable returns what of the lists this machine has.
func systemReadable(network string) []string {
	patterns := systemPaths
	if network == netAll {
		patterns = slices.Concat(systemPaths, networkPaths)
	}
	var found []string
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			panic(err) // the patterns are ours
		}
		for _, path := range paths {
			if _, err := os.Stat(path); err == nil {
				found = append(found, path)
			}
		}
	}
	return found
}

// devices are there for every plugin.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}
