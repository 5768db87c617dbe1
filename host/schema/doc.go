// Package schema checks JSON values against JSON Schemas: the arguments of a
// tool against its input schema, a structured result against its output schema.
//
// Both sides are untrusted. A schema comes from a plugin and is bounded when it
// is compiled; a value comes from a client or a plugin and is checked as the
// bytes that were received, exactly, within a budget of work. Nothing is ever
// fetched: a $ref stays within its document.
//
// Dialects are 2020-12, the default, 2019-09, draft-07, draft-06 and draft-04
// (MCP server/tools "JSON Schema Usage"). The library santhosh-tekuri/jsonschema
// checks a schema against its meta-schema and resolves its references; the
// evaluation is ours, for its bounds and its speed. "format" and "content*" are
// annotations in every dialect.
package schema
