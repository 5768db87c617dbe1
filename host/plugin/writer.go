package plugin

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/mcphost/mcphost/host/jsonrpc"
)

// A writer writes one JSON object on one line from what a plugin sent. The
// first thing that is wrong with it is its error.
type writer struct {
	buf []byte
	err error
}

func (w *writer) open() {
	if len(w.buf) == 0 {
		w.buf = append(w.buf, '{')
	}
}

func (w *writer) key(name string) {
	w.open()
	if len(w.buf) > 1 {
		w.buf = append(w.buf, ',')
	}
	w.buf = append(jsonrpc.AppendString(w.buf, name), ':')
}

func (w *writer) str(name, value string) {
	w.key(name)
	w.buf = jsonrpc.AppendString(w.buf, value)
}

// optional writes value unless it is empty.
func (w *writer) optional(name, value string) {
	if value != "" {
		w.str(name, value)
	}
}

func (w *writer) boolean(name string, value *bool) {
	if value != nil {
		w.key(name)
		w.buf = strconv.AppendBool(w.buf, *value)
	}
}

// raw writes JSON of our own.
func (w *writer) raw(name string, value []byte) {
	w.key(name)
	w.buf = append(w.buf, value...)
}

// json writes JSON of the plugin's, which must begin with first, unless it is absent.
func (w *writer) json(name string, value []byte, first byte) {
	if len(value) == 0 || w.err != nil {
		return
	}
	if w.err = checkJSON(name, value, first); w.err == nil {
		w.key(name)
		w.buf = jsonrpc.AppendLine(w.buf, trimSpace(value))
	}
}

// base writes what all definitions begin with.
func (w *writer) base(name, title, description string) {
	w.str("name", name)
	w.optional("title", clean(title, maxTitle, false))
	w.optional("description", clean(description, maxDescription, true))
}

// verbatim writes the object raw, but for its member key, which becomes value
// if that is not empty, and for what is deceptive in title and description.
func (w *writer) verbatim(raw []byte, key, value string) {
	if w.err = checkJSON("definition", raw, '{'); w.err != nil {
		return
	}
	seen := make(map[string]struct{})
	jsonrpc.Members(raw, func(k, v []byte) bool {
		member := string(k)
		if _, twice := seen[member]; twice {
			w.err = fmt.Errorf("its definition names %q twice", clean(member, maxShort, false))
			return false
		}
		seen[member] = struct{}{}
		w.member(member, v, key, value)
		return true
	})
	if _, ok := seen[key]; !ok && value != "" {
		w.str(key, value)
	}
}

// member writes one member of a verbatim definition.
func (w *writer) member(name string, v []byte, key, value string) {
	if name == key && value != "" {
		w.str(name, value)
		return
	}
	if text, ok := jsonrpc.String(v); ok && (name == "title" || name == "description") {
		safe := clean(text, maxTitle, false)
		if name == "description" {
			safe = clean(text, maxDescription, true)
		}
		if safe != text {
			w.str(name, safe)
			return
		}
	}
	w.key(name)
	w.buf = jsonrpc.AppendLine(w.buf, v)
}

// end returns the object.
func (w *writer) end() ([]byte, error) {
	if w.err != nil {
		return nil, w.err
	}
	w.open()
	return append(w.buf, '}'), nil
}

// checkJSON reports whether value is JSON text that begins with first ('{',
// '[' or 0 for any).
func checkJSON(name string, value []byte, first byte) error {
	if err := jsonrpc.Check(value); err != nil {
		return fmt.Errorf("its %s is not JSON: %w", name, err)
	}
	switch {
	case first == '{' && !jsonrpc.IsObject(value):
		return errors.New("its " + name + " is no JSON object")
	case first == '[' && !jsonrpc.IsArray(value):
		return errors.New("its " + name + " is no JSON array")
	}
	return nil
}

// trimSpace returns v without the whitespace around it.
func trimSpace(v []byte) []byte {
	isSpace := func(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
	for len(v) > 0 && isSpace(v[0]) {
		v = v[1:]
	}
	for len(v) > 0 && isSpace(v[len(v)-1]) {
		v = v[:len(v)-1]
	}
	return v
}
