package main

import (
	"testing"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
	"github.com/mcphost/mcphost/sdk/sdktest"
)

func TestTheBinaryAnswersACall(t *testing.T) {
	service := sdktest.Exec(t, sdktest.Build(t, "."))
	if _, err := service.Configure(t.Context(), &pluginv1.ConfigureRequest{Handle: "clock"}); err != nil {
		t.Fatal(err)
	}
	got, err := service.CallTool(t.Context(), &pluginv1.CallToolRequest{Name: "now", ArgumentsJson: []byte(`{"zone":"Asia/Tokyo"}`)})
	if err != nil || got.GetResult().GetIsError() || len(got.GetResult().GetStructuredJson()) == 0 {
		t.Errorf("call = %v, %v", got, err)
	}
}
