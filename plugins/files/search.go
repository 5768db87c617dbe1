package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/mcphost/mcphost/sdk"
)

// Bounds of one search.
const (
	maxHits     = 1000
	maxLine     = 64 << 10 // a longer line is searched in pieces
	maxShown    = 400      // bytes of a line that are told
	maxHitBytes = 1 << 20  // of all lines together
)

type searchIn struct {
	Text   string `json:"text" jsonschema:"what to look for"`
	Regexp bool   `json:"regexp,omitempty" jsonschema:"text is a regular expression (RE2 syntax)"`
	Case   bool   `json:"case,omitempty" jsonschema:"whether upper and lower case differ"`
	Path   string `json:"path" default:"." jsonschema:"folder or file to look in"`
	Files  string `json:"files,omitempty" jsonschema:"glob of the files to look into, such as *.go"`
	Hidden bool   `json:"hidden,omitempty" jsonschema:"also names that begin with a dot"`
	Limit  int    `json:"limit" default:"100" minimum:"1" maximum:"1000" jsonschema:"the most lines to tell"`
}

type searchOut struct {
	Hits  []hit  `json:"hits"`
	Files int    `json:"files" jsonschema:"how many text files were looked into"`
	More  string `json:"more,omitempty" jsonschema:"why there may be more hits"`
}

type hit struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text" jsonschema:"the line, shortened if it is long"`
}

func (t *tree) search(ctx context.Context, c *sdk.Call, in searchIn) (searchOut, error) {
	s, err := newSearcher(in)
	if err != nil {
		return searchOut{}, err
	}
	matches := func(string) bool { return true }
	if in.Files != "" {
		if matches, err = glob(in.Files, in.Case); err != nil {
			return searchOut{}, err
		}
	}
	p, below, err := t.locate(in.Path)
	if err != nil {
		return searchOut{}, err
	}
	if p != nil {
		if info, err := p.root.Stat(below); err == nil && info.Mode().IsRegular() {
			if err := s.file(ctx, p, below); err != nil && !errors.Is(err, errStop) {
				return searchOut{}, err
			}
			return s.out, nil
		}
	}
	stopped, err := t.walk(ctx, in.Path, maxDepth, in.Hidden, func(e entry) error {
		if !e.kind.IsRegular() || !matches(e.place.shown(e.below)) {
			return nil
		}
		if s.out.Files%100 == 0 {
			c.Progress(float64(s.out.Files), 0, "searching")
		}
		// What cannot be opened or read, or vanished meanwhile, has no hits.
		if err := s.file(ctx, e.place, e.below); errors.Is(err, errStop) {
			return err
		}
		return nil
	})
	if s.out.More == "" {
		s.out.More = stopped
	}
	return s.out, err
}

// searcher looks for one thing in file after file.
type searcher struct {
	re    *regexp.Regexp
	limit int
	bytes int
	out   searchOut
}

func newSearcher(in searchIn) (*searcher, error) {
	if in.Text == "" || len(in.Text) > maxPattern {
		return nil, fmt.Errorf("the text has 1 to %d characters", maxPattern)
	}
	expression := in.Text
	if !in.Regexp {
		expression = regexp.QuoteMeta(expression)
	}
	if !in.Case {
		expression = "(?i)" + expression
	}
	re, err := regexp.Compile(expression)
	if err != nil {
		return nil, fmt.Errorf("%q is not a regular expression: %w", in.Text, err)
	}
	return &searcher{re: re, limit: min(max(in.Limit, 1), maxHits), out: searchOut{Hits: []hit{}}}, nil
}

// file searches one file, if it is text.
func (s *searcher) file(ctx context.Context, p *place, below string) (err error) {
	f, _, err := p.openFile(below)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r := bufio.NewReaderSize(f, maxLine)
	if head, err := r.Peek(sniffed); (err != nil && !errors.Is(err, io.EOF)) || !isText(head) {
		return err
	}
	s.out.Files++
	for line := 1; ; {
		piece, err := r.ReadSlice('\n')
		if ctx.Err() != nil {
			s.out.More = "out of time; name a folder"
			return errStop
		}
		whole := bytes.HasSuffix(piece, []byte("\n"))
		if text := bytes.TrimRight(piece, "\r\n"); s.re.Match(text) {
			if err := s.found(p.shown(below), line, text); err != nil {
				return err
			}
		}
		if whole {
			line++
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// found notes a hit, or says that there is no room for it.
func (s *searcher) found(path string, line int, text []byte) error {
	if len(s.out.Hits) == s.limit || s.bytes > maxHitBytes {
		s.out.More = fmt.Sprintf("there are more than %d hits", len(s.out.Hits))
		return errStop
	}
	shown := excerpt(text, s.re.FindIndex(text))
	s.bytes += len(shown) + len(path)
	s.out.Hits = append(s.out.Hits, hit{Path: path, Line: line, Text: shown})
	return nil
}

// excerpt returns the part of a long line that the match is in.
func excerpt(text []byte, match []int) string {
	if len(text) <= maxShown {
		return strings.ToValidUTF8(string(text), "\uFFFD")
	}
	start := min(max(0, match[0]-maxShown/4), len(text)-maxShown)
	for start > 0 && !utf8.RuneStart(text[start]) {
		start--
	}
	part := strings.ToValidUTF8(string(text[start:min(start+maxShown, len(text))]), "")
	if start > 0 {
		part = "…" + part
	}
	if start+maxShown < len(text) {
		part += "…"
	}
	return part
}
