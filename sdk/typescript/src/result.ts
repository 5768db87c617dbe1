import { Content, none, text } from "./content.js";
import { type ToolResult } from "./gen/mcphost/plugin/v1/plugin.js";
import { encode, encodeOptional, stringify, type JsonObject } from "./json.js";

/** The parts of a Result. */
export interface ResultParts {
  content?: Content[];
  /** Encoded as JSON; undefined is none. Without content it is the text, too. */
  structured?: unknown;
  isError?: boolean;
  meta?: JsonObject;
}

/** The whole answer of a tool, for a function that needs to say more than one value does. */
export class Result {
  constructor(readonly parts: ResultParts) {}
}

/** Reports whether a tool returned what needs no schema: content, or a whole result. */
export function explicit(value: unknown): boolean {
  const blocks = Array.isArray(value) && value.length > 0 && value.every((block) => block instanceof Content);
  return blocks || value instanceof Content || value instanceof Result;
}

/**
 * Translates what a tool returned. Where it has a schema, `structured`, the value is structured content and, of the same
 * bytes, text. Else the value decides.
 */
export function toResult(value: unknown, structured: boolean): ToolResult {
  if (value instanceof Result) {
    return partsToProto(value.parts);
  }
  if (value instanceof Content) {
    return contentResult([value]);
  }
  if (Array.isArray(value) && value.length > 0 && value.every((block) => block instanceof Content)) {
    return contentResult(value);
  }
  if (!structured && value === undefined) {
    return contentResult([]);
  }
  if (!structured && typeof value === "string") {
    return textResult(value);
  }
  const json = stringify(value);
  return { ...textResult(json), structuredJson: Buffer.from(json) };
}

/** Returns a result of one text. */
export function textResult(value: string, isError = false): ToolResult {
  return { ...contentResult([text(value)]), isError };
}

function contentResult(content: Content[]): ToolResult {
  return { content: content.map((block) => block.toProto()), structuredJson: none, isError: false, metaJson: none, resultJson: none };
}

function partsToProto(parts: ResultParts): ToolResult {
  const result = contentResult(parts.content ?? []);
  if (parts.structured !== undefined) {
    result.structuredJson = encode(parts.structured);
    if (result.content.length === 0) {
      result.content = [text(result.structuredJson.toString()).toProto()];
    }
  }
  return { ...result, isError: parts.isError ?? false, metaJson: encodeOptional(parts.meta) };
}
