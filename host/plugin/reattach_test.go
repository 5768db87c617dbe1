package plugin_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphost/mcphost/host/plugin"
)

func TestReattachIsReadInTheShapeOfTerraform(t *testing.T) {
	const good = `{"clock":{"Protocol":"grpc","ProtocolVersion":1,"Pid":123,"Test":true,"Addr":{"Network":"unix","String":"/tmp/s"}}}`
	got, err := plugin.ParseReattach(good)
	if diff := cmp.Diff(map[string]*plugin.Reattach{"clock": {PID: 123, Socket: "/tmp/s"}}, got); diff != "" || err != nil {
		t.Errorf("(-want +got) %v\n%s", err, diff)
	}
	for name, change := range map[string][2]string{
		"net/rpc":         {`"grpc"`, `"netrpc"`},
		"another version": {`"ProtocolVersion":1`, `"ProtocolVersion":2`},
		"TCP":             {`"unix"`, `"tcp"`},
		"a relative path": {`/tmp/s`, `s`},
		"no process":      {`123`, `0`},
		"init":            {`123`, `1`},
		"no object":       {good, `[]`},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := plugin.ParseReattach(strings.Replace(good, change[0], change[1], 1)); err == nil {
				t.Errorf("got %+v", got)
			}
		})
	}
}
