package sdk

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// byHand answers a person who started the plugin, and returns the exit status: only who asked for help got what they
// wanted.
func (p *Plugin) byHand(args []string, stdout, stderr io.Writer) int {
	for _, arg := range args[min(1, len(args)):] {
		if arg == "--help" || arg == "-help" || arg == "-h" || arg == "help" {
			return answer(stdout, p.introduction(args[0]), 0)
		}
		if arg == "--version" {
			return answer(stdout, fmt.Sprintf("%s %s\n", p.name, p.version), 0)
		}
	}
	binary := "plugin"
	if len(args) > 0 {
		binary = args[0]
	}
	return answer(stderr, p.introduction(binary), 1)
}

// answer prints text and returns the exit status, which is another if even that fails.
func answer(w io.Writer, text string, code int) int {
	if _, err := io.WriteString(w, text); err != nil {
		return 2
	}
	return code
}

// introduction says what the plugin is and what to type instead.
func (p *Plugin) introduction(binary string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s is a plugin of mcphost: a host starts it, not a person.\n", p.name, p.version)
	now := p.catalog.load()
	list(&b, "Tools", slices.Sorted(maps.Keys(now.tools)), func(name string) string {
		return now.tools[name].definition.GetDescription()
	})
	list(&b, "Resources", slices.Sorted(maps.Keys(now.resources)), func(uri string) string {
		return now.resources[uri].definition.GetDescription()
	})
	list(&b, "Resource templates", now.templateOrder, func(key string) string {
		return now.templates[key].definition.GetDescription()
	})
	list(&b, "Prompts", slices.Sorted(maps.Keys(now.prompts)), func(name string) string {
		return now.prompts[name].definition.GetDescription()
	})
	if path, err := os.Executable(); err == nil {
		binary = path
	} else if path, err := filepath.Abs(binary); err == nil {
		binary = path
	}
	handle := p.handle()
	fmt.Fprintf(&b, "\nTo use it, put this into config.hcl:\n\n  local %q {\n    command = [%q]\n%s  }\n", handle, binary, p.exampleConfig())
	fmt.Fprintf(&b, "\nand let your MCP client run:\n\n  mcphost start %s\n", handle)
	b.WriteString("\nTo run it in a debugger, start it with --debug.\n")
	return b.String()
}

// list adds names with the first line of what they are.
func list(b *strings.Builder, title string, names []string, describe func(string) string) {
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", title)
	width := 0
	for _, name := range names {
		width = max(width, len(name))
	}
	for _, name := range names {
		line, _, _ := strings.Cut(describe(name), "\n")
		b.WriteString(strings.TrimRight(fmt.Sprintf("  %-*s  %s", width, name, line), " ") + "\n")
	}
}

// exampleConfig returns the author's example, or else a config block with the attributes that must be there.
func (p *Plugin) exampleConfig() string {
	if p.example != "" {
		return "    " + strings.ReplaceAll(strings.TrimSpace(p.example), "\n", "\n    ") + "\n"
	}
	if p.config == nil {
		return ""
	}
	var schema struct {
		Required   []string
		Properties map[string]struct {
			Type        any
			Description string
		}
	}
	if json.Unmarshal(p.config.schema(), &schema) != nil || len(schema.Required) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("    config {\n")
	for _, name := range schema.Required {
		kind, _ := schema.Properties[name].Type.(string)
		value, ok := map[string]string{"string": `"..."`, "integer": "0", "number": "0", "boolean": "false", "array": "[]"}[kind]
		if !ok {
			value = "{}"
		}
		fmt.Fprintf(&b, "      %s = %s", name, value)
		if text := schema.Properties[name].Description; text != "" {
			fmt.Fprintf(&b, " # %s", text)
		}
		b.WriteString("\n")
	}
	b.WriteString("    }\n")
	return b.String()
}
