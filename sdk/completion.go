package sdk

import (
	"context"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// maxCompletions is the most values of one completion, by utilities/completion.
const maxCompletions = 100

// A Completing is an argument that somebody is typing.
type Completing struct {
	Argument string
	Value    string            // so far
	Others   map[string]string // arguments that are already there
}

// A CompleteFunc proposes values, best first. More than 100 are cut.
type CompleteFunc func(ctx context.Context, c *Call, typed Completing) ([]string, error)

// completionKey names an argument of a prompt or a template.
type completionKey struct {
	kind           pluginv1.PrimitiveRef_Kind
	name, argument string
}

// CompletePrompt has fn propose values for an argument of a prompt.
func (p *Plugin) CompletePrompt(prompt, argument string, fn CompleteFunc) {
	p.complete(completionKey{pluginv1.PrimitiveRef_KIND_PROMPT, prompt, argument}, fn)
}

// CompleteTemplate has fn propose values for a variable of a resource template.
func (p *Plugin) CompleteTemplate(uriTemplate, variable string, fn CompleteFunc) {
	p.complete(completionKey{pluginv1.PrimitiveRef_KIND_RESOURCE_TEMPLATE, uriTemplate, variable}, fn)
}

func (p *Plugin) complete(key completionKey, fn CompleteFunc) {
	p.catalog.change(func(c *contents) { c.completions[key] = fn })
}

// completion cuts values to what the protocol allows.
func completion(values []string) *pluginv1.Completion {
	total := int64(len(values))
	result := &pluginv1.Completion{Total: &total, HasMore: len(values) > maxCompletions}
	for _, value := range values[:min(len(values), maxCompletions)] {
		result.Values = append(result.Values, valid(value))
	}
	return result
}
