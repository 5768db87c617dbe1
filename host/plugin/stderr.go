package plugin

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	maxLogLine   = 8 << 10 // bytes of a line that are looked at
	maxLogPairs  = 16
	maxLogValue  = 512
	maxTailLines = 40
	maxTailLine  = 1 << 10
)

// A stderrPump reads what a plugin writes to stderr until it is closed,
// whatever it is and however much, and forwards it to the log.
type stderrPump struct {
	log   hclog.Logger
	limit *logLimit

	mu   sync.Mutex // guards tail
	tail []string   // the last lines, oldest first
}

// run returns when r ends. Lines are cut at maxLogLine; no line is too long to be read past.
func (s *stderrPump) run(r io.Reader) {
	eachLine(r, func(line []byte, _ bool) bool {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			s.line(line)
		}
		return true
	})
}

// eachLine calls f with each line of r, cut at maxLogLine and without its
// break, until f returns false or r ends. A line that was cut, or that r ended
// in, is not whole.
func eachLine(r io.Reader, f func(line []byte, whole bool) bool) {
	br := bufio.NewReaderSize(r, maxLogLine)
	inside := false // of a line whose head was shown already
	for {
		line, err := br.ReadSlice('\n')
		if !inside && (len(line) > 0 || err == nil) {
			if !f(bytes.TrimRight(line, "\r\n"), err == nil) {
				return
			}
		}
		if err != nil && err != bufio.ErrBufferFull { //nolint:errorlint // bufio returns it bare
			return
		}
		inside = err != nil
	}
}

func (s *stderrPump) line(line []byte) {
	e := parseLogLine(line)
	s.keep(e)
	ok, dropped := s.limit.allow(time.Now())
	if dropped > 0 {
		s.log.Warn("log lines of plugin dropped", "lines", dropped)
	}
	if ok {
		s.log.Log(e.level, e.message, e.pairs...)
	}
}

func (s *stderrPump) keep(e logEntry) {
	var text strings.Builder
	text.WriteString(e.message)
	for i := 0; i+1 < len(e.pairs); i += 2 {
		fmt.Fprintf(&text, " %v=%v", e.pairs[i], e.pairs[i+1])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.tail) == maxTailLines {
		s.tail = append(s.tail[:0], s.tail[1:]...)
	}
	s.tail = append(s.tail, clean(text.String(), maxTailLine, false))
}

// last returns the last n lines, oldest first.
func (s *stderrPump) last(n int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.tail[max(0, len(s.tail)-n):]...)
}

// A logEntry is one line of stderr, safe to log.
type logEntry struct {
	level   hclog.Level
	message string
	pairs   []any
}

// parseLogLine reads a line as hclog's JSON or as text. It never fails: what
// is not a log entry is a message.
func parseLogLine(line []byte) logEntry {
	if line[0] == '{' {
		if e, ok := parseJSONLine(line); ok {
			return e
		}
	}
	text := strings.ToValidUTF8(string(line), "\uFFFD")
	level, text := textLevel(text)
	return logEntry{level: level, message: clean(text, maxLogLine, false)}
}

func parseJSONLine(line []byte) (logEntry, bool) {
	var members map[string]any
	if json.Unmarshal(line, &members) != nil {
		return logEntry{}, false
	}
	message, ok := members["@message"].(string)
	if !ok {
		return logEntry{}, false
	}
	name, _ := members["@level"].(string)
	e := logEntry{level: hclog.LevelFromString(name), message: clean(message, maxLogLine, false)}
	if e.level == hclog.NoLevel || e.level == hclog.Off {
		e.level = hclog.Info
	}
	keys := make([]string, 0, len(members))
	for k := range members {
		if !strings.HasPrefix(k, "@") {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	for _, k := range keys[:min(len(keys), maxLogPairs)] {
		// The prefix keeps a plugin from passing its words off as ours.
		e.pairs = append(e.pairs, "plugin."+clean(k, 64, false), clean(fmt.Sprint(members[k]), maxLogValue, false))
	}
	return e, true
}

// textLevels are the beginnings of a line that say how grave it is.
var textLevels = []struct {
	prefix string
	level  hclog.Level
	strip  bool
}{
	{"[TRACE]", hclog.Trace, true},
	{"[DEBUG]", hclog.Debug, true},
	{"[INFO]", hclog.Info, true},
	{"[WARN]", hclog.Warn, true},
	{"[ERROR]", hclog.Error, true},
	{"panic: ", hclog.Error, false},
	{"fatal error: ", hclog.Error, false},
	{"Traceback (most recent call last)", hclog.Error, false},
}

func textLevel(text string) (hclog.Level, string) {
	for _, t := range textLevels {
		rest, ok := strings.CutPrefix(text, t.prefix)
		switch {
		case ok && t.strip:
			return t.level, strings.TrimSpace(rest)
		case ok:
			return t.level, text
		}
	}
	return hclog.Info, text
}
