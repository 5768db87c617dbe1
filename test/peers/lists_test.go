package peers

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// since is the first revision of each member that some revision lacks, by the
// list that it is in: the table of docs/design/protocol.md.
var since = map[string]map[string]string{
	"tools":             {"title": r2506, "_meta": r2506, "outputSchema": r2506, "annotations": r2503, "icons": r2511},
	"resources":         {"title": r2506, "_meta": r2506, "icons": r2511},
	"resourceTemplates": {"title": r2506, "_meta": r2506, "icons": r2511},
	"prompts":           {"title": r2506, "_meta": r2506, "icons": r2511},
}

var listMethods = map[string]string{
	"tools": "tools/list", "resources": "resources/list", "resourceTemplates": "resources/templates/list", "prompts": "prompts/list",
}

// TestListsAreWhatWasDeclared compares what is served in each revision with
// what the plugin declared, which is what the newest revision shows whole: each
// member is there with the same value, unless the revision cannot carry it.
func TestListsAreWhatWasDeclared(t *testing.T) {
	for _, config := range []struct{ handle, file string }{{"everything", "examples/everything.hcl"}, {"demo", "config.hcl"}} {
		t.Run(config.handle, func(t *testing.T) {
			t.Parallel()
			declared := lists(t, config.handle, config.file, r2026)
			members := map[string]bool{}
			for _, revision := range legacyRevisions {
				t.Run(revision, func(t *testing.T) {
					served := lists(t, config.handle, config.file, revision)
					for list, table := range since {
						if diff := cmp.Diff(project(declared[list], table, revision, members), served[list]); diff != "" {
							t.Errorf("%s (-declared +served):\n%s", list, diff)
						}
					}
				})
			}
			for _, name := range []string{"tools.inputSchema", "tools.description", "tools.name"} {
				if !members[name] {
					t.Errorf("no %s among %v: nothing was compared", name, slices.Sorted(maps.Keys(members)))
				}
			}
		})
	}
}

// project returns what a revision shows of a declared list.
func project(list []any, table map[string]string, revision string, members map[string]bool) (all []any) {
	for _, entry := range list {
		object, _ := entry.(map[string]any)
		shown := map[string]any{}
		for name, value := range object {
			members["tools."+name] = true
			if first := table[name]; first != "" && revision < first {
				continue
			}
			if arguments, ok := value.([]any); ok && name == "arguments" && revision < r2506 {
				value = withoutTitles(arguments)
			}
			shown[name] = value
		}
		all = append(all, shown)
	}
	return all
}

func withoutTitles(arguments []any) (all []any) {
	for _, a := range arguments {
		object, _ := a.(map[string]any)
		object = maps.Clone(object)
		delete(object, "title")
		all = append(all, object)
	}
	return all
}

// lists returns all lists as a client of the revision gets them, page by page.
func lists(t *testing.T, handle, file, revision string) map[string][]any {
	t.Helper()
	c := start(t, handle, file)
	request := func(id, method, params string) string { return legacy(id, method, params) }
	if revision == r2026 {
		request = func(id, method, params string) string { return modern(id, method, params, `{}`) }
	} else {
		want(t, c.initialize(revision, `{}`), `"protocolVersion":"`+revision+`"`)
	}
	all, n := map[string][]any{}, 0
	for list, method := range listMethods {
		params := ""
		for {
			n++
			answer := c.ask(fmt.Sprint(n), request(fmt.Sprint(n), method, params))
			entries, _ := result(t, answer, list).([]any)
			all[list] = append(all[list], entries...)
			cursor, more := result(t, answer, "nextCursor").(string)
			if !more {
				break
			}
			text, err := json.Marshal(cursor)
			if err != nil {
				t.Fatal(err)
			}
			params = `"cursor":` + string(text)
		}
	}
	c.finish()
	return all
}

// TestSchemaIsServedVerbatim: a schema reaches clients byte for byte, less its line ends.
func TestSchemaIsServedVerbatim(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../plugins/everything/schema_2020_12.json")
	if err != nil {
		t.Fatal(err)
	}
	line := strings.ReplaceAll(strings.TrimSpace(string(source)), "\n", "")
	c := start(t, "everything", "examples/everything.hcl")
	want(t, c.ask("1", modern("1", "tools/list", "", `{}`)), line, `"x-mcp-header":"Region"`)
	c.initialize(r2024, `{}`)
	want(t, c.ask("2", legacy("2", "tools/list", "")), line)
}
