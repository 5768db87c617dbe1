/** How what a handler threw looks on the wire. */

import type { Call } from "./call.js";
import { none } from "./content.js";
import { internalError, invalidParams, messageOf, newIncident, notFound, RpcError, ToolError } from "./errors.js";
import type { Error as WireError, InputRequired as WireInput } from "./gen/mcphost/plugin/v1/plugin.js";
import { InputRequired } from "./input.js";
import { encode } from "./json.js";
import type { Logger } from "./logger.js";

/** Input, or an error; of a tool's own failure the text for the model, too. */
export type Failure = { input: WireInput } | { error: WireError; text?: string };

/** How a handler ended. */
export type Outcome<T> = { value: T } | Failure;

/**
 * Runs a handler. Questions that were asked come first: whatever the handler made of it, it cannot have gone on
 * without the answer.
 */
export async function run<T>(subject: string, call: Call, handler: () => Promise<T>): Promise<Outcome<T>> {
  let outcome: { value: T } | { thrown: unknown };
  try {
    outcome = { value: await handler() };
  } catch (thrown) {
    outcome = { thrown };
  }
  const input = call.rounds.asked();
  if (input !== undefined) {
    return { input };
  }
  if (call.rounds.clash !== undefined) {
    outcome = { thrown: call.rounds.clash };
  }
  return "value" in outcome ? outcome : failureOf(subject, call.logger, outcome.thrown);
}

/** A file that does not exist is a resource that does not exist. */
export function missingFile(uri: string, thrown: unknown): unknown {
  return thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT" ? notFound(uri) : thrown;
}

/** Logs what nobody expected, and returns what may be said about it. */
export function redact(subject: string, log: Logger, thrown: unknown): string {
  const incident = newIncident();
  const stack = thrown instanceof Error ? thrown.stack : undefined;
  log.error("handler failed", { incident, error: messageOf(thrown), stack });
  return `internal error in ${subject} (incident ${incident})`;
}

/** Returns the error for something that is not there. */
export function unknown(what: string, name: string): Failure {
  return { error: { code: invalidParams, message: `unknown ${what} ${JSON.stringify(name)}`, dataJson: none } };
}

function failureOf(subject: string, log: Logger, thrown: unknown): Failure {
  if (thrown instanceof InputRequired) {
    return { input: thrown.toProto() };
  }
  if (thrown instanceof RpcError) {
    return { error: { code: thrown.code, message: thrown.message, dataJson: thrown.data === undefined ? none : encode(thrown.data) } };
  }
  const text = thrown instanceof ToolError ? thrown.message : redact(subject, log, thrown);
  return { error: { code: internalError, message: text, dataJson: none }, text };
}
