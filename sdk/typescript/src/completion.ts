import type { Call } from "./call.js";
import type { Completion } from "./gen/mcphost/plugin/v1/plugin.js";
import type { Awaitable } from "./tool.js";

/** An argument that somebody is typing. */
export interface Typing {
  argument: string;
  /** So far. */
  value: string;
  /** Arguments that are already there. */
  others: { [name: string]: string };
}

/** Proposes values, best first. More than 100 are cut. */
export type CompleteFunction = (typing: Typing, call: Call) => Awaitable<string[]>;

/** utilities/completion: a response has at most 100 values. */
const maxValues = 100;

export function completionToProto(values: string[]): Completion {
  return { values: values.slice(0, maxValues), total: values.length, hasMore: values.length > maxValues };
}
