//go:build race

package peers

// raced says that the tests look for data races, so that the host does as well.
const raced = true
