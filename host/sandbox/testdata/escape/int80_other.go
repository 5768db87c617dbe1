//go:build linux && !amd64

package main

import "syscall"

// int80 : there is one door only on this architecture.
func int80(string) error { return syscall.ENOSYS }
