package sdk

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
)

// byHand answers a person who started the plugin, and returns the exit status: only who asked for help got what they
// wanted.
func (p *Plugin) byHand(args []string, stdout, stderr io.Writer) int {
	for _, arg := range args[min(1, len(args)):] {
		if arg == "--help" || arg == "-help" || arg == "-h" || arg == "help" {
			p.introduce(stdout, args[0])
			return 0
		}
		if arg == "--version" {
			fmt.Fprintf(stdout, "%s %s\n", p.name, p.version)
			return 0
		}
	}
	binary := "plugin"
	if len(args) > 0 {
		binary = args[0]
	}
	p.introduce(stderr, binary)
	return 1
}

// introduce says what the plugin is and what to type instead.
func (p *Plugin) introduce(w io.Writer, binary string) {
	fmt.Fprintf(w, "%s %s is a plugin of mcphost: a host starts it, not a person.\n", p.name, p.version)
	now := p.catalog.now.Load()
	p.introduceList(w, "Tools", slices.Sorted(maps.Keys(now.tools)), func(name string) string {
		return now.tools[name].definition.GetDescription()
	})
	p.introduceList(w, "Resources", slices.Sorted(maps.Keys(now.resources)), func(uri string) string {
		return now.resources[uri].definition.GetDescription()
	})
	p.introduceList(w, "Resource templates", now.templateOrder, func(key string) string {
		return now.templates[key].definition.GetDescription()
	})
	p.introduceList(w, "Prompts", slices.Sorted(maps.Keys(now.prompts)), func(name string) string {
		return now.prompts[name].definition.GetDescription()
	})
	if path, err := os.Executable(); err == nil {
		binary = path
	} else if path, err := filepath.Abs(binary); err == nil {
		binary = path
	}
	handle := regexp.MustCompile(`[^A-Za-z0-9_.-]+`).ReplaceAllString(p.name, "-")
	fmt.Fprintf(w, "\nTo use it, put this into config.hcl:\n\n  local %q {\n    command = [%q]\n%s  }\n", handle, binary, p.exampleConfig())
	fmt.Fprintf(w, "\nand let your MCP client run:\n\n  mcphost start %s\n", handle)
}

func (p *Plugin) introduceList(w io.Writer, title string, names []string, describe func(string) string) {
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s:\n", title)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, name := range names {
		line, _, _ := strings.Cut(describe(name), "\n")
		fmt.Fprintf(table, "  %s\t%s\n", name, line)
	}
	if err := table.Flush(); err != nil {
		p.log.Debug("list was not printed", "error", err)
	}
}

// exampleConfig returns a config block with the attributes that must be there, as lines of HCL.
func (p *Plugin) exampleConfig() string {
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
