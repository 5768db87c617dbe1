package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/mcphost/mcphost/sdk"
)

// maxListed bounds the entries of one result.
const maxListed = 2000

type listIn struct {
	Path   string `json:"path" default:"." jsonschema:"path of the folder"`
	Depth  int    `json:"depth" default:"1" minimum:"1" maximum:"64" jsonschema:"how deep to go; 1 is the folder alone"`
	Limit  int    `json:"limit" default:"500" minimum:"1" maximum:"2000" jsonschema:"the most entries to tell"`
	Hidden bool   `json:"hidden,omitempty" jsonschema:"also names that begin with a dot"`
}

type findIn struct {
	Pattern string `json:"pattern" jsonschema:"glob such as *.md or src/**/test_*.go; without a slash it is matched against the name alone"`
	Path    string `json:"path" default:"." jsonschema:"folder to look in"`
	Limit   int    `json:"limit" default:"200" minimum:"1" maximum:"2000" jsonschema:"the most entries to tell"`
	Hidden  bool   `json:"hidden,omitempty" jsonschema:"also names that begin with a dot"`
	Case    bool   `json:"case,omitempty" jsonschema:"whether upper and lower case differ"`
}

type listOut struct {
	Entries []listed `json:"entries"`
	More    string   `json:"more,omitempty" jsonschema:"why the list does not hold everything"`
}

type listed struct {
	Path     string `json:"path"`
	Kind     string `json:"kind" enum:"file,folder,link,other"`
	Size     *int64 `json:"size,omitempty" jsonschema:"bytes of a file"`
	Modified string `json:"modified,omitempty"`
}

func (t *tree) list(ctx context.Context, _ *sdk.Call, in listIn) (listOut, error) {
	return t.collect(ctx, in.Path, max(in.Depth, 1), in.Hidden, in.Limit, func(string) bool { return true })
}

func (t *tree) find(ctx context.Context, _ *sdk.Call, in findIn) (listOut, error) {
	matches, err := glob(in.Pattern, in.Case)
	if err != nil {
		return listOut{}, err
	}
	return t.collect(ctx, in.Path, maxDepth, in.Hidden, in.Limit, matches)
}

// collect lists what is below a path and whose shown path matches.
func (t *tree) collect(ctx context.Context, from string, depth int, hidden bool, limit int, matches func(string) bool) (listOut, error) {
	limit = min(max(limit, 1), maxListed)
	out := listOut{Entries: []listed{}}
	stopped, err := t.walk(ctx, from, depth, hidden, func(e entry) error {
		shown := e.place.shown(e.below)
		if !matches(shown) {
			return nil
		}
		if len(out.Entries) == limit {
			out.More = fmt.Sprintf("there are more than %d", limit)
			return errStop
		}
		one := listed{Path: shown, Kind: kindOf(e.kind)}
		if info, err := e.info(); err == nil {
			one.Modified = info.ModTime().UTC().Format(time.RFC3339)
			if size := info.Size(); e.kind.IsRegular() {
				one.Size = &size
			}
		}
		out.Entries = append(out.Entries, one)
		return nil
	})
	if out.More == "" {
		out.More = stopped
	}
	return out, err
}

// maxPattern bounds globs and regular expressions, in bytes.
const maxPattern = 1000

// glob returns the matcher of a pattern. RE2 underneath matches in linear time, whatever the pattern.
func glob(pattern string, caseMatters bool) (func(string) bool, error) {
	if pattern == "" || len(pattern) > maxPattern {
		return nil, fmt.Errorf("a pattern has 1 to %d characters", maxPattern)
	}
	var b strings.Builder
	b.WriteString("^")
	if !strings.Contains(pattern, "/") {
		b.WriteString("(?:.*/)?")
	}
	if err := globToRegexp(&b, strings.TrimPrefix(pattern, "./")); err != nil {
		return nil, err
	}
	flags := "(?is)"
	if caseMatters {
		flags = "(?s)"
	}
	re, err := regexp.Compile(flags + b.String() + "$")
	if err != nil {
		return nil, fmt.Errorf("%q is not a glob", pattern)
	}
	return re.MatchString, nil
}

func globToRegexp(b *strings.Builder, pattern string) error {
	braces := 0
	for i := 0; i < len(pattern); i++ {
		switch rest := pattern[i:]; {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString("(?:.*/)?")
			i += 2
		case strings.HasPrefix(rest, "**"):
			b.WriteString(".*")
			i++
		case rest[0] == '*':
			b.WriteString("[^/]*")
		case rest[0] == '?':
			b.WriteString("[^/]")
		case rest[0] == '{':
			braces++
			b.WriteString("(?:")
		case rest[0] == '}' && braces > 0:
			braces--
			b.WriteString(")")
		case rest[0] == ',' && braces > 0:
			b.WriteString("|")
		case rest[0] == '[':
			end := strings.IndexByte(rest[1:], ']') + 1
			if end < 2 {
				return fmt.Errorf("%q has an open [", pattern)
			}
			class := strings.ReplaceAll(rest[1:end], `\`, `\\`)
			if class[0] == '!' {
				class = "^/" + class[1:]
			}
			b.WriteString("[" + strings.ReplaceAll(class, "[", `\[`) + "]")
			i += end
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
		}
	}
	return nil
}
