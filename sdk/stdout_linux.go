package sdk

import "golang.org/x/sys/unix"

// duplicate is dup2, which some architectures of Linux do not have.
func duplicate(from, to int) error { return unix.Dup3(from, to, 0) }
