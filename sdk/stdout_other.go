//go:build !unix

package sdk

import "os"

// captureStdout makes os.Stdout another name of standard error and returns the real standard output.
func captureStdout() (*os.File, error) {
	stdout := os.Stdout
	os.Stdout = os.Stderr
	return stdout, nil
}
