package sandbox

import (
	_ "embed"
)

// AppArmorProfile is the profile that lets mcphost make user namespaces where
// AppArmor keeps them from unknown programs, as Ubuntu does since 23.10. Its
// first lines say how to install it.
//
//go:embed contrib/apparmor/mcphost
var AppArmorProfile string

// Machine is what this machine can enforce for this user.
type Machine struct {
	System     string   // "linux 6.12.0"
	Status     []Status // with nothing granted, one for each of Guarantees
	Namespaces bool     // private root, pid, ipc and net namespaces can be made
	Landlock   int      // ABI of the kernel's Landlock; 0 is none
	Advice     []string // what a person can do to hold more
	Readable   []string // the system's files that every plugin may read

	noSpaces string // why Namespaces is false
}

// unconfined is the report of a plugin that runs with mode Off.
func unconfined() Report {
	r := Report{Mode: Off, Notes: []string{"the plugin runs with all rights of mcphost"}}
	for _, g := range Guarantees() {
		r.Status = append(r.Status, Status{Guarantee: g, Why: `mode is "off"`})
	}
	return r
}
