package peers

import (
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
	for _, config := range []string{"examples/everything.hcl", "config.hcl"} {
		t.Run(config, func(t *testing.T) {
			t.Parallel()
			w := serve(t, config)
			declared := lists(t, w.modernLister())
			if len(declared["tools"]) == 0 {
				t.Fatal("no tools")
			}
			members := map[string]bool{}
			for _, revision := range legacyRevisions {
				t.Run(revision, func(t *testing.T) {
					s := w.open(revision, `{}`)
					served := lists(t, func(method, params string) reply { return s.send(legacy("1", method, params)) })
					for list, table := range since {
						if diff := cmp.Diff(project(declared[list], table, revision, members), served[list]); diff != "" {
							t.Errorf("%s (-declared +served):\n%s", list, diff)
						}
					}
				})
			}
			for _, name := range []string{"inputSchema", "description", "name"} {
				if !members[name] {
					t.Errorf("no %s among %v: nothing was compared", name, slices.Sorted(maps.Keys(members)))
				}
			}
		})
	}
}

func (w *web) modernLister() func(method, params string) reply {
	return func(method, params string) reply { return w.modern(modern("1", method, params, `{}`)) }
}

// project returns what a revision shows of a declared list.
func project(list []any, table map[string]string, revision string, members map[string]bool) (all []any) {
	for _, entry := range list {
		object, _ := entry.(map[string]any)
		shown := map[string]any{}
		for name, value := range object {
			members[name] = true
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

// lists returns all lists, page by page.
func lists(t *testing.T, ask func(method, params string) reply) map[string][]any {
	t.Helper()
	all := map[string][]any{}
	for list, method := range listMethods {
		for params, more := "", true; more; {
			p := ask(method, params)
			if strings.Contains(string(p.body), `"code":-32601`) && params == "" {
				break // the plugins have none of these, and that is all the same on each revision
			}
			p.is(t, 200, 0)
			entries, _ := result(t, p.last(t), list).([]any)
			all[list] = append(all[list], entries...)
			var cursor string
			cursor, more = result(t, p.last(t), "nextCursor").(string)
			params = fmt.Sprintf(`"cursor":%q`, cursor)
		}
	}
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
