package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// refused are the groups of the official suite whose schemas Compile refuses, and why.
var refused = []string{
	"leaves the document",    // remote references, among them those to meta-schemas
	"beside an embedded $id", // dynamic references between resources
	"dialect not supported",  // custom meta-schemas
}

// TestOfficialSuite runs the JSON Schema Test Suite that jsonschema-go, which
// the sdk requires, carries in its module.
func TestOfficialSuite(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/jsonschema-go").Output()
	if err != nil {
		t.Fatalf("finding the suite: %v", err)
	}
	dir := filepath.Join(string(bytes.TrimSpace(out)), "jsonschema", "testdata")
	for name, dialect := range map[string]string{
		"draft2020-12": "https://json-schema.org/draft/2020-12/schema",
		"draft7":       "http://json-schema.org/draft-07/schema#",
	} {
		t.Run(name, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(dir, name, "*.json"))
			if err != nil || len(files) < 30 {
				t.Fatalf("found %d files: %v", len(files), err)
			}
			ran, left := 0, 0
			for _, file := range files {
				if filepath.Base(file) == "format.json" {
					continue // an annotation here
				}
				r, l := suiteFile(t, file, dialect)
				ran, left = ran+r, left+l
			}
			t.Logf("%d cases ran, %d of schemas that are refused on purpose", ran, left)
			if ran < 600 || left > ran/10 {
				t.Errorf("%d cases ran and %d did not", ran, left)
			}
		})
	}
}

func suiteFile(t *testing.T, file, dialect string) (ran, left int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var groups []struct {
		Description string
		Schema      json.RawMessage
		Tests       []struct {
			Description string
			Data        json.RawMessage
			Valid       bool
		}
	}
	if err := json.Unmarshal(text, &groups); err != nil {
		t.Fatal(err)
	}
	for _, g := range groups {
		s, err := Compile(declare(t, g.Schema, dialect))
		if err != nil {
			if !onPurpose(err) {
				t.Errorf("%s, %s: %v", filepath.Base(file), g.Description, err)
			}
			left += len(g.Tests)
			continue
		}
		if len(s.Unchecked()) > 0 {
			continue
		}
		for _, test := range g.Tests {
			ran++
			err := s.Validate(test.Data)
			var invalid *Invalid
			if (err == nil) != test.Valid || err != nil && !errors.As(err, &invalid) {
				t.Errorf("%s, %s, %s: got %v, want valid %v", filepath.Base(file), g.Description, test.Description, err, test.Valid)
			}
		}
	}
	return ran, left
}

func onPurpose(err error) bool {
	for _, text := range refused {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return false
}

// declare puts the dialect into a schema that is an object and names none.
func declare(t *testing.T, schema []byte, dialect string) []byte {
	t.Helper()
	var doc any
	if err := json.Unmarshal(schema, &doc); err != nil {
		t.Fatal(err)
	}
	if obj, ok := doc.(map[string]any); ok && obj["$schema"] == nil {
		rest := bytes.TrimSpace(schema)[1:]
		comma := ","
		if len(obj) == 0 {
			comma = ""
		}
		return append([]byte(`{"$schema":"`+dialect+`"`+comma), rest...)
	}
	return schema
}
