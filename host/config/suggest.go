package config

import (
	"fmt"
	"strings"

	"github.com/agext/levenshtein"
)

// didYouMean returns " Did you mean %q?" for the nearest of names, or nothing
// when none is near.
func didYouMean(given string, names []string) string {
	best, distance := "", 3 // at most two edits, and less than half of a short name
	for _, name := range names {
		if d := levenshtein.Distance(given, name, nil); d < distance && d <= (len(name)+1)/2 {
			best, distance = name, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" Did you mean %q?", best)
}

// listing returns the names for a sentence: `"a", "b" and "c"`.
func listing[T ~string](names []T) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%q", string(name))
	}
	if n := len(quoted); n > 1 {
		return strings.Join(quoted[:n-1], ", ") + " and " + quoted[n-1]
	}
	return strings.Join(quoted, "")
}
