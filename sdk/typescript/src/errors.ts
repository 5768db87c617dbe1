import { randomInt } from "node:crypto";

/** JSON-RPC's code for parameters that cannot be used. */
export const invalidParams = -32602;

/** JSON-RPC's code for a failure inside. */
export const internalError = -32603;

/**
 * A failure that the model may read: of a tool, an error result with this text. What is thrown of any other class is
 * unexpected: the caller learns an incident's number and nothing else, the log has the rest.
 */
export class ToolError extends Error {
  override readonly name: string = "ToolError";
}

/** A failure that MCP puts on the wire as a JSON-RPC error. The host passes only codes that a plugin may use. */
export class RpcError extends Error {
  override readonly name: string = "RpcError";

  /** Data is encoded as JSON; undefined is none. */
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Returns the error for a resource that does not exist. */
export function notFound(uri: string): RpcError {
  return new RpcError(invalidParams, "resource not found", { uri });
}

/** A failure of a call of the host, as gRPC says it. */
export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly details: string;

  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
    this.details = message;
  }
}

/** Returns a number by which a line of the log is found. */
export function newIncident(): string {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  return Array.from({ length: 12 }, () => letters[randomInt(letters.length)]).join("");
}

/** Returns the text of whatever was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
