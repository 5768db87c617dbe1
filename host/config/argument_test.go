package config_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphost/mcphost/host/config"
)

func TestCommandsOfInterpretedPlugins(t *testing.T) {
	const shimsFirst, shimsOnly = "{dir}/shims:{dir}/bin", "{dir}/shims"
	tests := map[string]struct {
		path, block string
		program     string // empty: it is an error
		says        string // empty: nothing is said
	}{
		"a shim is passed over":      {shimsFirst, `command = ["tool"]`, "bin/tool", `So this runs "{dir}/bin/tool"`},
		"a shim alone":               {shimsOnly, `command = ["tool"]`, "", "Write the path of the program itself"},
		"the path of a shim":         {shimsOnly, `command = ["./shims/tool"]`, "", "Write the path of the program itself"},
		"a shim without sandbox":     {shimsFirst, "command = [\"tool\"]\nsandbox { mode = \"off\" }", "shims/tool", ""},
		"a script that is named":     {shimsFirst, "command = [\"./bin/tool\", \"./plugin.py\"]\nfiles = [\".\"]", "bin/tool", ""},
		"a script that is not named": {shimsFirst, `command = ["./bin/tool", "./plugin.py"]`, "bin/tool", `does not let the plugin read "{dir}/plugin.py"`},
		"a script without ./":        {shimsFirst, "command = [\"./bin/tool\", \"plugin.py\"]\nfiles = [\".\"]", "bin/tool", `write "./plugin.py"`},
		"no script":                  {shimsFirst, `command = ["./bin/tool", "serve", "other.py"]`, "bin/tool", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := write(t, map[string]string{
				"shims/tool": "#!/bin/sh\n", "plugin.py": "",
				"c.hcl": "local \"a\" {\n" + test.block + "\n}\n",
			})
			here := strings.NewReplacer("{dir}", dir)
			cfg, diags := config.Load([]string{filepath.Join(dir, "c.hcl")}, config.Options{Env: lookupIn(map[string]string{"PATH": here.Replace(test.path)})})
			if said := strings.Join(strings.Fields(diags.String()), " "); !strings.Contains(said, here.Replace(test.says)) || test.says == "" && said != "" {
				t.Errorf("said %q, want %q", said, here.Replace(test.says))
			}
			if (test.program == "") != diags.HasErrors() {
				t.Fatalf("errors: %v", diags)
			}
			if test.program == "" {
				return
			}
			if got, want := cfg.Plugins[0].Command[0], filepath.Join(dir, test.program); got != want {
				t.Errorf("the program is %q, want %q", got, want)
			}
		})
	}
}
