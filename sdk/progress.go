package sdk

import (
	"fmt"
	"slices"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// A Level is how grave a log message for the client is.
type Level string

// The levels, from the least grave.
const (
	LevelDebug     Level = "debug"
	LevelInfo      Level = "info"
	LevelNotice    Level = "notice"
	LevelWarning   Level = "warning"
	LevelError     Level = "error"
	LevelCritical  Level = "critical"
	LevelAlert     Level = "alert"
	LevelEmergency Level = "emergency"
)

var levels = []Level{LevelDebug, LevelInfo, LevelNotice, LevelWarning, LevelError, LevelCritical, LevelAlert, LevelEmergency}

// Progress tells the caller how far the call is, if it wants to know. A total of 0 is unknown. Progress that did
// not grow is left out, as the protocol demands.
func (c *Call) Progress(progress, total float64, message string) {
	if !c.context.GetWantProgress() {
		return
	}
	event := &pluginv1.Progress{Progress: progress, Message: valid(message)}
	if total != 0 {
		event.Total = &total
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// patterns/progress: the progress value MUST increase with each notification.
	if c.send == nil || (progress <= c.last && c.last != unset) {
		return
	}
	c.last = progress
	c.emitLocked(&pluginv1.CallToolStreamResponse{Event: &pluginv1.CallToolStreamResponse_Progress{Progress: event}})
}

// unset is the progress before the first.
const unset = -1 << 53

// Log sends a message to the client, if it asked for messages as grave as this one. Data is encoded as JSON.
func (c *Call) Log(level Level, data any) { c.LogAs(level, "", data) }

// LogAs is Log under the name of a logger.
func (c *Call) LogAs(level Level, logger string, data any) {
	if !c.wants(level) {
		return
	}
	raw, err := encodeJSON(data)
	if err != nil {
		c.plugin.log.Warn("log message is not JSON", "primitive", c.subject, "error", err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.send == nil {
		return
	}
	event := &pluginv1.Log{Level: string(level), Logger: valid(logger), DataJson: raw}
	c.emitLocked(&pluginv1.CallToolStreamResponse{Event: &pluginv1.CallToolStreamResponse_Log{Log: event}})
}

// wants reports whether the caller asked for messages of the level.
func (c *Call) wants(level Level) bool {
	threshold := slices.Index(levels, Level(c.context.GetLogLevel()))
	return threshold >= 0 && slices.Index(levels, level) >= threshold
}

// emitLocked sends one event. When that fails the stream is over, which the handler sees by its context.
func (c *Call) emitLocked(event *pluginv1.CallToolStreamResponse) {
	if err := c.send(event); err != nil {
		c.plugin.log.Debug("event was not sent", "primitive", c.subject, "error", err)
		c.send = nil
	}
}

// silence ends progress and logs: the outcome is the last event of a stream.
func (c *Call) silence() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.send = nil
}

// Logf is Log with a formatted text.
func (c *Call) Logf(level Level, format string, args ...any) {
	if c.wants(level) {
		c.Log(level, fmt.Sprintf(format, args...))
	}
}
