package peers

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestConversationsAreValid validates what the host says in the conversations
// of host/mcp/server, which are compared with what it really says there.
func TestConversationsAreValid(t *testing.T) {
	files, err := filepath.Glob("../../host/mcp/server/testdata/conversation/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w := newRecord(t).wire()
			said := map[string][]string{}
			for _, f := range ar.Files {
				said[f.Name] = strings.Split(strings.TrimSpace(string(f.Data)), "\n")
			}
			// A request stands before its answer: ids are used again, so the
			// client's lines are noted as far as the host has answered.
			for _, line := range said["server"] {
				for _, m := range split([]byte(line)) {
					if m.Method == "" && m.ID != nil {
						said["client"] = noteUntil(w, said["client"], string(m.ID))
					}
				}
				w.host([]byte(line))
			}
		})
	}
}

// split returns the messages of a line, which may be a batch.
func split(line []byte) (all []message) {
	var elements []json.RawMessage
	if json.Unmarshal(line, &elements) != nil {
		elements = []json.RawMessage{line}
	}
	for _, e := range elements {
		if m, err := parse(e); err == nil {
			all = append(all, m)
		}
	}
	return all
}

// noteUntil notes the lines up to the request with this id and returns the
// rest; without one, all of them stay.
func noteUntil(w *wire, lines []string, id string) []string {
	isRequest := func(m message) bool { return m.Method != "" && string(m.ID) == id }
	end := slices.IndexFunc(lines, func(line string) bool { return slices.ContainsFunc(split(expand(line)), isRequest) }) + 1
	for _, line := range lines[:end] {
		w.client(expand(line))
	}
	return lines[end:]
}

func expand(line string) []byte {
	return []byte(strings.ReplaceAll(line, `"$META"`, `"_meta":{"`+metaVersion+`":"`+r2026+`"}`))
}
