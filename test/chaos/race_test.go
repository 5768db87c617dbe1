//go:build race

package chaos

// raced says that the tests look for data races, so that the hosts do as well.
const raced = true
