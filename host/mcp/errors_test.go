package mcp_test

import (
	"testing"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/mcp"
	"github.com/mcphost/mcphost/host/primitive"
)

// TestEveryFailureHasAForm walks the whole table: each failure of each kind of
// primitive in each lineage has a text, and exactly one form.
func TestEveryFailureHasAForm(t *testing.T) {
	asResult := map[primitive.Failure]bool{
		primitive.InvalidArguments: true, primitive.InvalidResult: true, primitive.Denied: true, primitive.Unavailable: true,
		primitive.Crashed: true, primitive.TimedOut: true, primitive.Busy: true, primitive.TooLarge: true,
	}
	for _, f := range primitive.Failures {
		for _, k := range primitive.Kinds {
			for _, l := range []mcp.Lineage{mcp.Legacy, mcp.Modern} {
				text, e := mcp.Fault(&primitive.Error{Failure: f, Code: int(jsonrpc.InternalError)}, k, l)
				if (text == "") == (e == nil) {
					t.Errorf("%d/%v/%v: text %q and error %v", f, k, l, text, e)
				}
				wantResult := k == primitive.KindTool && (asResult[f] || f == primitive.NeedsInput && l == mcp.Legacy)
				if (e == nil) != wantResult {
					t.Errorf("%d/%v/%v: is a result: %v, want %v", f, k, l, e == nil, wantResult)
				}
				if e != nil && e.Message == "" {
					t.Errorf("%d/%v/%v: no message", f, k, l)
				}
			}
		}
	}
}

func TestCodesByLineage(t *testing.T) {
	notFound := primitive.Errorf(primitive.NotFound, "no")
	foreign := func(c int) error { return &primitive.Error{Failure: primitive.Foreign, Code: c, Detail: "x"} }
	capability := func(data string) error {
		return &primitive.Error{Failure: primitive.Foreign, Code: -32021, Detail: "x", Data: []byte(data)}
	}
	tests := map[string]struct {
		err            error
		kind           primitive.Kind
		legacy, modern jsonrpc.Code
	}{
		"unknown tool":                 {notFound, primitive.KindTool, -32602, -32602},
		"unknown resource":             {notFound, primitive.KindResource, -32002, -32602},
		"denied read":                  {primitive.Errorf(primitive.Denied, "no"), primitive.KindResource, mcp.DeniedCode, mcp.DeniedCode},
		"plugin's not found":           {foreign(-32002), primitive.KindTool, -32002, -32602},
		"plugin's capability":          {capability(`{"requiredCapabilities":{"sampling":{}}}`), primitive.KindTool, -32600, -32021},
		"plugin's unknown capability":  {foreign(-32021), primitive.KindTool, -32600, -32603},
		"plugin's odd capability":      {capability(`{"requiredCapabilities":"sampling"}`), primitive.KindTool, -32600, -32603},
		"plugin's header mismatch":     {foreign(-32020), primitive.KindTool, -32603, -32603},
		"plugin's unsupported version": {foreign(-32022), primitive.KindTool, -32603, -32603},
		"plugin's url elicitation":     {foreign(-32042), primitive.KindTool, -32603, -32603},
		"plugin's own code":            {foreign(-31000), primitive.KindTool, -31000, -31000},
		"plugin's positive code":       {foreign(7), primitive.KindPrompt, 7, 7},
		"plugin's parse error":         {foreign(-32700), primitive.KindTool, -32603, -32603},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for l, want := range map[mcp.Lineage]jsonrpc.Code{mcp.Legacy: test.legacy, mcp.Modern: test.modern} {
				if _, e := mcp.Fault(test.err, test.kind, l); e == nil || e.Code != want {
					t.Errorf("%v: %v, want code %d", l, e, want)
				}
			}
		})
	}
}

func TestStatusIsModernOnly(t *testing.T) {
	for _, c := range []jsonrpc.Code{-32601, -32600, -32602, -32020, -32022} {
		if got := mcp.Status(mcp.Legacy, c); got != 200 {
			t.Errorf("legacy %d: %d, want 200: a 404 would end the session", c, got)
		}
	}
	if got := mcp.Status(mcp.Modern, jsonrpc.MethodNotFound); got != 404 {
		t.Errorf("modern -32601: %d, want 404", got)
	}
}
