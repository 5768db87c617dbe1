package plugin

import (
	"errors"

	"github.com/mcphost/mcphost/host/primitive"
)

// A plugin's state goes out with a byte in front that says whether any process
// of the plugin can go on with it, or only the one whose tag follows.
const (
	stateFree   = 'f' // the plugin's bytes follow
	stateSticky = 's' // a tag and the plugin's bytes follow
	stateBare   = 'b' // a tag follows: sticky, and the plugin gave no bytes

	stateTagLen = 16
)

// sealState returns what goes out for in, the state that a process with tag
// gave; nil if there is nothing to remember.
func sealState(in []byte, sticky bool, tag string) []byte {
	switch {
	case sticky && in == nil:
		return append([]byte{stateBare}, tag...)
	case sticky:
		return append(append([]byte{stateSticky}, tag...), in...)
	case in == nil:
		return nil
	}
	return append([]byte{stateFree}, in...)
}

// A heldState is a state that came back.
type heldState struct {
	bytes  []byte // the plugin's; nil if it gave none
	sticky bool
	tag    string
}

// openState reads what sealState made. Those who carried it verified that it
// was not changed, so anything else is their fault.
func openState(b []byte) (heldState, error) {
	if b == nil {
		return heldState{}, nil
	}
	if len(b) > 0 && b[0] == stateFree {
		return heldState{bytes: b[1:]}, nil
	}
	if len(b) <= stateTagLen || b[0] != stateSticky && b[0] != stateBare {
		return heldState{}, primitive.Wrap(primitive.Internal, errors.New("a state came back that never went out"))
	}
	s := heldState{sticky: true, tag: string(b[1 : 1+stateTagLen])}
	if b[0] == stateSticky {
		s.bytes = b[1+stateTagLen:]
	}
	return s, nil
}

// check reports whether i can go on with s.
func (s heldState) check(i *instance) error {
	if s.sticky && s.tag != i.tag {
		return primitive.Errorf(primitive.Unavailable, "what this call was waiting for is gone; call the tool anew")
	}
	return nil
}
