package sandbox

import (
	"strings"
	"testing"
)

// TestFactsAreJudgedHonestly walks what a machine may lack.
func TestFactsAreJudgedHonestly(t *testing.T) {
	all := facts{privateRoot: true, pidSpace: true, ipcSpace: true, netSpace: true, landlock: 7, seccomp: true, network: netNone, memory: byWatchdog}
	with := func(change func(*facts)) facts {
		f := all
		change(&f)
		return f
	}
	noSpaces := func(f *facts) {
		f.privateRoot, f.pidSpace, f.ipcSpace, f.netSpace, f.noSpaces = false, false, false, false, "EPERM"
	}
	tests := map[string]struct {
		facts   facts
		missing string
	}{
		"everything": {all, ""},
		"no Landlock, no seccomp, all namespaces": {with(func(f *facts) { f.landlock, f.seccomp = 0, false }), ""},
		"no namespaces":               {with(noSpaces), "proc_tree memory"},
		"no namespaces, cgroup":       {with(func(f *facts) { noSpaces(f); f.memory, f.procTree = byCgroup+" memory.max", byCgroup+" cgroup.kill" }), ""},
		"Debian 12, no namespaces":    {with(func(f *facts) { noSpaces(f); f.landlock = 2 }), "ipc proc_tree memory"},
		"no namespaces, no Landlock":  {with(func(f *facts) { noSpaces(f); f.landlock = 0 }), "fs ipc proc_tree memory"},
		"no namespaces, no seccomp":   {with(func(f *facts) { noSpaces(f); f.seccomp = false }), "fs net unix ipc proc_tree memory egress"},
		"network":                     {with(func(f *facts) { f.network, f.netSpace = netAll, false }), ""},
		"network, old Landlock":       {with(func(f *facts) { f.network, f.netSpace, f.landlock = netAll, false, 4 }), "unix"},
		"network, no namespaces":      {with(func(f *facts) { noSpaces(f); f.network = netAll }), "unix proc_tree memory"},
		"network, newest Landlock":    {with(func(f *facts) { noSpaces(f); f.network, f.landlock = netAll, 9 }), "proc_tree memory"},
		"hosts":                       {with(func(f *facts) { f.network = netProxy }), ""},
		"hosts, best effort, no nets": {with(func(f *facts) { noSpaces(f); f.network = netProxy }), "net unix proc_tree memory egress"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			status := test.facts.status()
			var got []string
			for i, g := range Guarantees() {
				if status[i].Guarantee != g {
					t.Fatalf("status %d is of %s, want %s", i, status[i].Guarantee, g)
				}
				if !status[i].Holds() {
					got = append(got, string(g))
					if status[i].Why == "" {
						t.Errorf("%s is missing without a reason", g)
					}
				}
			}
			if strings.Join(got, " ") != test.missing {
				t.Errorf("missing %q, want %q", strings.Join(got, " "), test.missing)
			}
		})
	}
}
