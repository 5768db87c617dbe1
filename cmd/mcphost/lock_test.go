package main

import (
	"bytes"
	"io/fs"
	"os"
	"regexp"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptCommands are the commands of scripts that no shell has.
var scriptCommands = map[string]func(*testscript.TestScript, bool, []string){
	// patch FILE OLD NEW replaces a text in a file, wherever it is, by one of the same length.
	"patch": func(ts *testscript.TestScript, _ bool, args []string) {
		old, replacement := []byte(args[1]), []byte(args[2])
		text := []byte(ts.ReadFile(args[0]))
		if len(old) != len(replacement) || !bytes.Contains(text, old) {
			ts.Fatalf("%s does not have %q, or %q is of another length", args[0], old, replacement)
		}
		writeScriptFile(ts, args[0], bytes.ReplaceAll(text, old, replacement), 0o755)
	},
	// mixed OLD NEW LOCK writes a lock file that has the programs of NEW and the rest of OLD.
	"mixed": func(ts *testscript.TestScript, _ bool, args []string) {
		program := regexp.MustCompile(`sha256 = \{[^}]*\}`)
		of := program.FindString(ts.ReadFile(args[1]))
		writeScriptFile(ts, args[2], program.ReplaceAll([]byte(ts.ReadFile(args[0])), []byte(of)), 0o644)
	},
}

func writeScriptFile(ts *testscript.TestScript, name string, text []byte, mode fs.FileMode) {
	if err := os.WriteFile(ts.MkAbs(name), text, mode); err != nil {
		ts.Fatalf("%v", err)
	}
}
