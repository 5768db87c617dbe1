import type { Call } from "./call.js";
import { iconsToProto, none, type Content, type Icon } from "./content.js";
import { duration } from "./duration.js";
import { ToolError } from "./errors.js";
import type { Tool as Definition, ToolResult } from "./gen/mcphost/plugin/v1/plugin.js";
import { encode, encodeOptional, isObject, parse, type JsonObject } from "./json.js";
import { explicit, toResult, type Result } from "./result.js";
import { jsonSchema, SchemaError, toJsonSchema, validate, type Input, type Output, type Schema, withJsonSchema } from "./schema.js";

/** A value, or a promise of it. */
export type Awaitable<T> = T | Promise<T>;

/** What a client is told about a tool. A description is what the model chooses by. */
export interface ToolOptions<I extends Schema | undefined = undefined, O extends Schema | undefined = undefined> {
  title?: string;
  description?: string;

  /** The arguments: the schema of an object. Without it there are none. */
  input?: I;
  /** The schema of what the function returns, which then is structured content. */
  output?: O;

  // Hints. A client assumes the worst of what it is not told.
  /** It changes nothing. */
  readOnly?: boolean;
  /** It may destroy something. */
  destructive?: boolean;
  /** Doing it twice is doing it once; the host may then try again after a crash. */
  idempotent?: boolean;
  /** It deals with the world outside. */
  openWorld?: boolean;

  /** 0 or absent: the host's default. */
  timeoutMs?: number;
  icons?: Icon[];
  meta?: JsonObject;
  /** The whole MCP object, served verbatim but for the name. */
  definition?: JsonObject;
}

/** What a tool's function gets. */
export type ToolInput<I> = I extends Schema ? Output<I> : JsonObject;

/** What a caller of a tool gives. */
export type ToolArguments<I> = I extends Schema ? Input<I> : JsonObject;

/** What a tool's function returns: by its schema, or anything; and content or a whole Result in any case. */
export type Returned<O> = (O extends Schema ? Input<O> : unknown) | Content | Content[] | Result;

/** What a caller of a tool gets. */
export type ToolValue<O> = O extends Schema ? Output<O> : unknown;

/**
 * Does the work of a tool. What it returns decides what the caller gets:
 *
 * - content, a list of it or a Result: just that;
 * - with an output schema: the value's JSON as text and as structured content;
 * - without one: of a string, one text; of undefined, nothing; of anything else, its JSON as text and structured content.
 *
 * A ToolError is an error result with its message, which the model reads; an RpcError is a JSON-RPC error; anything else
 * that is thrown is unexpected, told to nobody, and logged.
 */
export type ToolFunction<I, O> = (input: ToolInput<I>, call: Call) => Awaitable<Returned<O>>;

/** A tool of a plugin. */
export interface Tool<I extends Schema | undefined = Schema | undefined, O extends Schema | undefined = Schema | undefined> {
  readonly name: string;
  /** Takes the tool away. Calls of it that run go on. */
  remove(): void;
  /** Of no value, for the types alone. */
  readonly types?: { arguments: ToolArguments<I>; value: ToolValue<O> };
}

/** A tool as it is served. */
export interface ServedTool {
  definition: Definition;
  call(argumentsJson: Uint8Array, call: Call): Promise<ToolResult>;
}

export function newTool<I extends Schema | undefined, O extends Schema | undefined>(
  name: string,
  options: ToolOptions<I, O>,
  fn: ToolFunction<I, O>,
): ServedTool {
  checkName(name);
  const { output } = options;
  const input = options.input ?? (options.definition === undefined ? noArguments : jsonSchema({}));
  return {
    definition: toProto(name, input, options),
    async call(argumentsJson, call) {
      const value = await fn((await decode(input, argumentsJson)) as ToolInput<I>, call);
      return toResult(output === undefined || explicit(value) ? value : await validate(output, value), output !== undefined);
    },
  };
}

/** server/tools: names are 1 to 128 characters of A-Z a-z 0-9 _ . and -. */
export function checkName(name: string): void {
  if (!/^[A-Za-z0-9_.-]{1,128}$/.test(name)) {
    throw new TypeError(`${JSON.stringify(name)} is no name: it has 1 to 128 characters of A-Z a-z 0-9 _ . and -`);
  }
}

/** The schema of a tool that takes nothing. */
const noArguments: Schema = withJsonSchema(
  {
    "~standard": {
      version: 1,
      vendor: "mcphost",
      validate: (value) => {
        const names = Object.keys(value as JsonObject);
        return names.length === 0 ? { value } : { issues: names.map((name) => ({ message: "is unknown", path: [name] })) };
      },
    },
  },
  { type: "object", additionalProperties: false },
);

async function decode(input: Schema, json: Uint8Array): Promise<unknown> {
  const value = json.length === 0 ? {} : parse(json);
  if (!isObject(value)) {
    throw new ToolError("invalid arguments: must be an object");
  }
  try {
    return await validate(input, value);
  } catch (error) {
    if (error instanceof SchemaError) {
      throw new ToolError(`invalid arguments: ${error.message}`);
    }
    throw error;
  }
}

function toProto(name: string, input: Schema, options: ToolOptions<Schema | undefined, Schema | undefined>): Definition {
  const { output, readOnly, destructive, idempotent, openWorld, definition } = options;
  const hints = [readOnly, destructive, idempotent, openWorld];
  return {
    name,
    title: options.title ?? "",
    description: options.description ?? "",
    inputSchemaJson: definition === undefined ? encode(objectSchema(input)) : none,
    outputSchemaJson: output === undefined ? none : encode(toJsonSchema(output, "output")),
    annotations: hints.every((hint) => hint === undefined) ? undefined : { title: "", readOnly, destructive, idempotent, openWorld },
    iconsJson: iconsToProto(options.icons),
    metaJson: encodeOptional(options.meta),
    timeout: options.timeoutMs ? duration(options.timeoutMs) : undefined,
    definitionJson: definition === undefined ? none : encode(definition),
  };
}

function objectSchema(input: Schema): JsonObject {
  const json = toJsonSchema(input, "input");
  if (json.type !== "object") {
    throw new TypeError("the input of a tool is an object");
  }
  return json;
}
