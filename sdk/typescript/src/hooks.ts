import type { Call } from "./call.js";
import { PrimitiveRef_Kind as Kind, Verdict_Decision as Decision, type PrimitiveRef, type Verdict as Wire } from "./gen/mcphost/plugin/v1/plugin.js";
import type { JsonObject } from "./json.js";
import type { Awaitable } from "./tool.js";

/** Names one primitive by the plugin's own name; a resource by its URI. */
export interface Ref {
  kind: "tool" | "resource" | "template" | "prompt";
  name: string;
}

/** Whether a caller may use a primitive. */
export interface Verdict {
  allow: boolean;
  /** For the audit log. */
  reason?: string;
  requiredScopes?: string[];
}

/** How long the host may keep what a hook said; 0 or absent: not at all. */
export interface HookOptions {
  cacheMs?: number;
}

/** Decides whether a primitive is there at all for a caller. An error is a no. */
export type RegisterFunction = (ref: Ref, call: Call) => Awaitable<boolean>;

/** Decides whether a caller may see or use a primitive. Arguments are those of the use, or undefined in a list. An error is a denial. */
export type AuthorizeFunction = (ref: Ref, call: Call, given: JsonObject | undefined) => Awaitable<boolean | Verdict>;

const kinds: { [kind: number]: Ref["kind"] } = {
  [Kind.TOOL]: "tool",
  [Kind.RESOURCE]: "resource",
  [Kind.RESOURCE_TEMPLATE]: "template",
  [Kind.PROMPT]: "prompt",
};

export function refOf({ kind, name }: PrimitiveRef): Ref {
  const known = kinds[kind];
  if (known === undefined) {
    throw new TypeError(`unknown kind of primitive ${kind}`);
  }
  return { kind: known, name };
}

export function verdictToProto(verdict: boolean | Verdict): Wire {
  const { allow, reason = "", requiredScopes = [] } = typeof verdict === "object" ? verdict : { allow: verdict };
  return { decision: allow === true ? Decision.ALLOW : Decision.DENY, reason, requiredScopes };
}
