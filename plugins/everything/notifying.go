package main

import (
	"context"
	"fmt"
	"time"

	"github.com/mcphost/mcphost/sdk"
)

func addNotifyingTools(p *sdk.Plugin) {
	sdk.AddTool(p, sdk.Tool{Name: "test_tool_with_progress", Description: "Reports progress: 0, 50 and 100 of 100."}, withProgress)
	sdk.AddTool(p, sdk.Tool{Name: "test_tool_with_logging", Description: "Logs three messages."}, withLogging)
	sdk.AddTool(p, sdk.Tool{Name: "test_logging_tool", Description: "Logs one message, which only a client sees that asked for messages."},
		func(_ context.Context, c *sdk.Call, _ none) (string, error) {
			c.Log(sdk.LevelInfo, "test_logging_tool executed")
			return "A message was logged, for those who asked.", nil
		})
	sdk.AddTool(p, sdk.Tool{Name: "test_streaming_elicitation", Description: "Reports progress and answers; it asks for nothing on its stream."},
		func(_ context.Context, c *sdk.Call, _ none) (string, error) {
			c.Progress(1, 1, "streaming")
			return "The stream carried notifications and this result alone.", nil
		})
	sdk.AddTool(p, sdk.Tool{Name: "test_reconnection", Description: "Takes long enough for a host to close the stream and a client to come back for the result."},
		func(ctx context.Context, _ *sdk.Call, _ none) (string, error) {
			return "If you received this, you came back after the stream was closed.", pause(ctx, 1200*time.Millisecond)
		})
}

func withProgress(ctx context.Context, c *sdk.Call, _ none) (string, error) {
	for _, progress := range []float64{0, 50, 100} {
		c.Progress(progress, 100, fmt.Sprintf("Completed step %.0f of 100", progress))
		if err := pause(ctx, step); err != nil {
			return "", err
		}
	}
	return "Tool with progress executed successfully.", nil
}

func withLogging(ctx context.Context, c *sdk.Call, _ none) (string, error) {
	for i, message := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if i > 0 {
			if err := pause(ctx, step); err != nil {
				return "", err
			}
		}
		c.Log(sdk.LevelInfo, message)
	}
	return "Tool with logging executed successfully.", nil
}
