import type { Call } from "./call.js";
import { Content, iconsToProto, none, text, type Icon } from "./content.js";
import { invalidParams, RpcError } from "./errors.js";
import type { GetPromptResult, Prompt as Definition, PromptArgument as WireArgument } from "./gen/mcphost/plugin/v1/plugin.js";
import { encodeOptional, isObject, type JsonObject } from "./json.js";
import { SchemaError, toJsonSchema, validate, type Output, type Schema } from "./schema.js";
import { checkName, type Awaitable } from "./tool.js";

/** What a client is told about a prompt. */
export interface PromptOptions<A extends Schema | undefined = undefined> {
  title?: string;
  description?: string;
  /** The schema of an object of strings. Without it there are no arguments. */
  arguments?: A;
  icons?: Icon[];
  meta?: JsonObject;
}

/** One message of a prompt. */
export interface Message {
  role: "user" | "assistant";
  content: Content;
}

/** Returns a message of the user. */
export function user(content: Content | string): Message {
  return { role: "user", content: typeof content === "string" ? text(content) : content };
}

/** Returns a message of the assistant. */
export function assistant(content: Content | string): Message {
  return { role: "assistant", content: typeof content === "string" ? text(content) : content };
}

/** A prompt filled in. */
export interface PromptResult {
  description?: string;
  messages: Message[];
  meta?: JsonObject;
}

/** What a prompt's function gets. */
export type PromptInput<A> = A extends Schema ? Output<A> : { [name: string]: string };

/** Fills in a prompt: one text of the user, messages, or all of it. */
export type PromptFunction<A> = (input: PromptInput<A>, call: Call) => Awaitable<string | Message[] | PromptResult>;

/** A prompt as it is served. */
export interface ServedPrompt {
  definition: Definition;
  get(given: { [name: string]: string }, call: Call): Promise<GetPromptResult>;
}

export function newPrompt<A extends Schema | undefined>(name: string, options: PromptOptions<A>, fn: PromptFunction<A>): ServedPrompt {
  checkName(name);
  const schema: Schema | undefined = options.arguments;
  return {
    definition: {
      name,
      title: options.title ?? "",
      description: options.description ?? "",
      arguments: schema === undefined ? [] : argumentsOf(schema),
      iconsJson: iconsToProto(options.icons),
      metaJson: encodeOptional(options.meta),
      definitionJson: none,
    },
    async get(given, call) {
      return toProto(await fn((schema === undefined ? given : await decode(schema, given)) as PromptInput<A>, call));
    },
  };
}

async function decode(schema: Schema, given: unknown): Promise<unknown> {
  try {
    return await validate(schema, given);
  } catch (error) {
    if (error instanceof SchemaError) {
      throw new RpcError(invalidParams, `invalid arguments: ${error.message}`);
    }
    throw error;
  }
}

/** Returns the arguments that the properties of a schema are. */
function argumentsOf(schema: Schema): WireArgument[] {
  const { type, properties = {}, required = [] } = toJsonSchema(schema, "input");
  if (type !== "object" || !isObject(properties)) {
    throw new TypeError("the arguments of a prompt are an object");
  }
  return Object.entries(properties).map(([name, property]) => {
    if (!isObject(property) || property.type !== "string") {
      throw new TypeError(`argument ${JSON.stringify(name)} is no string`);
    }
    const word = (key: string) => (typeof property[key] === "string" ? (property[key] as string) : "");
    return { name, title: word("title"), description: word("description"), required: (required as unknown[]).includes(name) };
  });
}

function toProto(value: string | Message[] | PromptResult): GetPromptResult {
  const result = typeof value === "string" ? { messages: [user(value)] } : Array.isArray(value) ? { messages: value } : value;
  const { description = "", messages, meta }: PromptResult = result;
  return {
    description,
    messages: messages.map(({ role, content }) => ({ role, content: content.toProto() })),
    metaJson: encodeOptional(meta),
    resultJson: none,
  };
}
