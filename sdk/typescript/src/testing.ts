/** Calls a plugin in a test, in its own process and without a host: the service that a host would call answers in memory. */

import { deepStrictEqual } from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { encode, isObject, parse, parseOptional, stringify, type JsonObject } from "./json.js";
import {
  AuthorizeRequest_Purpose as Purpose,
  CallContext,
  CallToolRequest,
  CompleteRequest,
  ConfigureRequest,
  PrimitiveRef_Kind as Kind,
  Verdict_Decision as Decision,
  type CallToolResponse,
  type CallToolStreamResponse,
  type Content,
  type GetPromptResult,
  type InputRequired,
  type ReadResourceResult,
  type ResourceContents,
  type ToolResult,
} from "./gen/mcphost/plugin/v1/plugin.js";
import { capabilities } from "./describe.js";
import { RpcError, ToolError } from "./errors.js";
import type { Ref } from "./hooks.js";
import type { Plugin } from "./plugin.js";
import type { Schema } from "./schema.js";
import { Service } from "./service.js";
import type { Tool, ToolArguments, ToolValue } from "./tool.js";

/** What a host brings to a plugin. */
export interface ConnectOptions {
  config?: JsonObject;
  secrets?: { [name: string]: string };
  handle?: string;
  dataDir?: string;
}

/** Who calls, and how. */
export interface CallOptions {
  principal?: { subject?: string; issuer?: string; scopes?: string[]; claims?: JsonObject };
  client?: { info?: JsonObject; capabilities?: JsonObject };
  /** What the user says to the questions of elicit, by key; or what the client answers to others. */
  answers?: { [key: string]: unknown };
  /** The least grave log messages that the client wants. */
  logLevel?: string;
  meta?: JsonObject;
  traceparent?: string;
  signal?: AbortSignal;
}

/** What the user may say to a question. */
export const accept = (content: JsonObject = {}): JsonObject => ({ action: "accept", content });
export const decline = (): JsonObject => ({ action: "decline" });
export const cancel = (): JsonObject => ({ action: "cancel" });

/** The most rounds of questions of one call. */
const maxRounds = 32;

/** How a call of a tool ended. */
export class ToolOutcome<T> {
  /** The texts, one a line. */
  readonly text: string;
  readonly isError: boolean;
  /** The blocks, as MCP has them. */
  readonly content: JsonObject[];
  /** The structured content, or undefined. */
  readonly structured: unknown;
  readonly meta: unknown;

  /** @internal */
  constructor(
    result: ToolResult,
    /** What the tool told of its progress, in order. */
    readonly progress: { progress: number; total?: number; message: string }[],
    /** What the tool said to the client. */
    readonly logs: { level: string; logger: string; data: unknown }[],
    /** The keys of the questions that it asked, in order. */
    readonly asked: string[],
  ) {
    this.content = result.content.map(contentOf);
    this.text = this.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
    this.isError = result.isError;
    this.structured = parseOptional(result.structuredJson);
    this.meta = parseOptional(result.metaJson);
  }

  /** The structured content, by its type. Throws a ToolError with the text if the tool failed. */
  get value(): T {
    if (this.isError) {
      throw new ToolError(this.text);
    }
    return this.structured as T;
  }
}

/** A host of one plugin. */
export class Host {
  readonly #service: Service;

  /** @internal */
  constructor(readonly plugin: Plugin) {
    this.#service = new Service(plugin);
  }

  /** Returns the complaints about a configuration, each in one line. */
  async validateConfig(config: JsonObject): Promise<string[]> {
    return (await this.#service.validateConfig(encode(config))).map(lineOf);
  }

  /** @internal */
  async configure({ config = {}, secrets = {}, handle = "test", dataDir = "" }: ConnectOptions): Promise<void> {
    const request = ConfigureRequest.fromPartial({ handle, dataDir, secrets, configJson: encode(config) });
    const complaints = (await this.#service.configure(request)).diagnostics;
    if (complaints.length > 0) {
      throw new Error(`configuring the plugin: ${complaints.map(lineOf).join("\n")}`);
    }
  }

  /**
   * Calls a tool. Questions are answered from the options; one without an answer throws. A JSON-RPC error throws an
   * RpcError; a tool's own failure is an outcome.
   */
  async call<I extends Schema | undefined, O extends Schema | undefined>(
    tool: Tool<I, O> | string,
    given: ToolArguments<I>,
    options: CallOptions = {},
  ): Promise<ToolOutcome<ToolValue<O>>> {
    const name = typeof tool === "string" ? tool : tool.name;
    const progress: ToolOutcome<unknown>["progress"] = [];
    const logs: ToolOutcome<unknown>["logs"] = [];
    const send = async ({ event }: CallToolStreamResponse): Promise<void> => {
      if (event?.$case === "progress") {
        progress.push(event.value);
      } else if (event?.$case === "log") {
        const { level, logger, dataJson } = event.value;
        logs.push({ level, logger, data: parse(dataJson) });
      }
    };
    const { result, asked } = await rounds(options, (context, again) => {
      const request = CallToolRequest.fromPartial({ context, name, argumentsJson: encode(given), ...again });
      return this.#service.callTool(request, signalOf(options), send);
    });
    return new ToolOutcome<ToolValue<O>>(result, progress, logs, asked);
  }

  /** Reads a resource, and returns its contents, as MCP has them. */
  async read(uri: string, options: CallOptions = {}): Promise<JsonObject[]> {
    const { result } = await rounds<ReadResourceResult>(options, (context, again) =>
      this.#service.readResource({ context, uri, ...again }, signalOf(options)),
    );
    return result.contents.map(resourceOf);
  }

  /** Gets a prompt, and returns its messages, as MCP has them. */
  async prompt(name: string, given: { [name: string]: string } = {}, options: CallOptions = {}): Promise<JsonObject[]> {
    const { result } = await rounds<GetPromptResult>(options, (context, again) =>
      this.#service.getPrompt({ context, name, arguments: given, ...again }, signalOf(options)),
    );
    return result.messages.map(({ role, content }) => ({ role, content: content && contentOf(content) }));
  }

  /** Returns what is proposed for an argument of a prompt or a variable of a template. */
  async complete(ref: Ref, argument: string, value: string, others: { [name: string]: string } = {}): Promise<string[]> {
    const request = CompleteRequest.fromPartial({
      reference: refToProto(ref),
      argumentName: argument,
      argumentValue: value,
      contextArguments: others,
    });
    const { outcome } = await this.#service.complete(request, new AbortController().signal);
    return (outcome?.$case === "error" ? fail(outcome.value) : outcome?.value.values) ?? [];
  }

  /** Asks the shouldRegister hook. */
  async shouldRegister(refs: Ref[], options: CallOptions = {}): Promise<boolean[]> {
    const request = { context: contextOf(options, 0), primitives: refs.map(refToProto) };
    return (await this.#service.shouldRegister(request, signalOf(options))).register;
  }

  /** Asks the authorize hook about a use. */
  async authorize(ref: Ref, given: JsonObject, options: CallOptions = {}): Promise<{ allow: boolean; reason: string }> {
    const request = { context: contextOf(options, 0), purpose: Purpose.USE, primitives: [refToProto(ref)], argumentsJson: encode(given) };
    const [verdict] = (await this.#service.authorize(request, signalOf(options))).verdicts;
    return { allow: verdict?.decision === Decision.ALLOW, reason: verdict?.reason ?? "" };
  }
}

/** Returns a host of the plugin, which it configures. */
export async function connect(plugin: Plugin, options: ConnectOptions = {}): Promise<Host> {
  const host = new Host(plugin);
  await host.configure(options);
  return host;
}

/** Calls a tool of a plugin that is connected by nothing else. */
export async function call<I extends Schema | undefined, O extends Schema | undefined>(
  plugin: Plugin,
  tool: Tool<I, O> | string,
  given: ToolArguments<I>,
  options: CallOptions & ConnectOptions = {},
): Promise<ToolOutcome<ToolValue<O>>> {
  return (await connect(plugin, options)).call(tool, given, options);
}

/** Returns everything that a plugin says about itself, as MCP has it. */
export function manifest(plugin: Plugin): JsonObject {
  const { name, version, configSchemaJson, documentationMarkdown, grants, secrets } = new Service(plugin).describe();
  const parts = plugin.catalog.parts("");
  const list = <T>(of: (part: (typeof parts)[number]) => T[]) => parts.flatMap(of).map((one) => definitionOf(one as object));
  return withoutEmpty({
    name,
    version,
    instructions: plugin.options.instructions,
    documentation: documentationMarkdown,
    capabilities: withoutEmpty({ ...capabilities(plugin) }),
    configSchema: parseOptional(configSchemaJson),
    grants: grants && withoutEmpty({ ...grants }),
    secrets,
    tools: list((part) => part.tools),
    resources: list((part) => part.resources),
    resourceTemplates: list((part) => part.resourceTemplates),
    prompts: list((part) => part.prompts),
  });
}

/**
 * Fails when the manifest of a plugin is not the one in the file, so that a changed schema shows up in review. With
 * UPDATE_MANIFEST=1 in the environment it writes the file.
 */
export function assertManifest(plugin: Plugin, file: string | URL): void {
  const now = `${JSON.stringify(parse(stringify(manifest(plugin))), null, 2)}\n`;
  if (process.env.UPDATE_MANIFEST) {
    writeFileSync(file, now);
    return;
  }
  let before: string;
  try {
    before = readFileSync(file, "utf8");
  } catch (error) {
    throw new Error("there is no manifest yet: run the test with UPDATE_MANIFEST=1", { cause: error });
  }
  deepStrictEqual(JSON.parse(now), JSON.parse(before), "the manifest changed: if it should, run the test with UPDATE_MANIFEST=1");
}

interface Again {
  inputResponsesJson: { [key: string]: Buffer };
  state: Buffer | undefined;
}

type Answered<R> = { outcome?: { $case: "result"; value: R } | { $case: "inputRequired"; value: InputRequired } | { $case: "error"; value: WireError } };
type WireError = NonNullable<CallToolResponse["outcome"]> extends infer O ? (O extends { $case: "error"; value: infer V } ? V : never) : never;

/** Calls again with the answers for as long as there are questions, as a host does. */
async function rounds<R>(options: CallOptions, once: (context: CallContext, again: Again) => Promise<Answered<R>>): Promise<{ result: R; asked: string[] }> {
  const asked: string[] = [];
  let again: Again = { inputResponsesJson: {}, state: undefined };
  for (let round = 0; round < maxRounds; round++) {
    const { outcome } = await once(contextOf(options, round), again);
    if (outcome?.$case === "error") {
      fail(outcome.value);
    } else if (outcome?.$case === "result") {
      return { result: outcome.value, asked };
    }
    const { requests = [], state } = outcome?.value ?? {};
    again = { inputResponsesJson: {}, state };
    for (const { key, paramsJson } of requests) {
      const answer = options.answers?.[key];
      if (answer === undefined) {
        const params = parseOptional(paramsJson);
        throw new Error(`question ${JSON.stringify(key)} has no answer: ${isObject(params) ? String(params.message) : ""}`);
      }
      asked.push(key);
      again.inputResponsesJson[key] = encode(answer);
    }
  }
  throw new Error(`the call asked ${maxRounds} times and did not end`);
}

function contextOf({ principal = {}, client = {}, logLevel = "", meta, traceparent = "" }: CallOptions, round: number): CallContext {
  const { claims, ...who } = principal;
  return CallContext.fromPartial({
    callId: "test",
    principal: { subject: "tester", ...who, claimsJson: claims && encode(claims) },
    protocolVersion: "2026-07-28",
    clientInfoJson: encode(client.info ?? { name: "test", version: "0" }),
    clientCapabilitiesJson: encode(client.capabilities ?? { elicitation: {}, sampling: {}, roots: {} }),
    round,
    wantProgress: true,
    logLevel,
    metaJson: meta && encode(meta),
    traceparent,
    transport: "stdio",
  });
}

const signalOf = (options: CallOptions): AbortSignal => options.signal ?? new AbortController().signal;

function fail({ code, message, dataJson }: WireError): never {
  throw new RpcError(code, message, parseOptional(dataJson));
}

function lineOf({ summary, detail, pointer }: { summary: string; detail: string; pointer: string }): string {
  return [pointer, summary, detail].filter((part) => part !== "").join(": ");
}

function refToProto({ kind, name }: Ref): { kind: Kind; name: string } {
  const kinds = { tool: Kind.TOOL, resource: Kind.RESOURCE, template: Kind.RESOURCE_TEMPLATE, prompt: Kind.PROMPT };
  return { kind: kinds[kind], name };
}

function contentOf({ kind, annotationsJson, metaJson }: Content): JsonObject {
  const rest = withoutEmpty({ annotations: parseOptional(annotationsJson), _meta: parseOptional(metaJson) });
  switch (kind?.$case) {
    case "text":
      return { type: "text", text: kind.value, ...rest };
    case "image":
    case "audio":
      return { type: kind.$case, data: kind.value.data.toString("base64"), mimeType: kind.value.mimeType, ...rest };
    case "resource":
      return { type: "resource", resource: resourceOf(kind.value), ...rest };
    case "resourceLink":
      return { type: "resource_link", ...definitionOf(kind.value), ...rest };
    default:
      return parse(kind?.value ?? "{}") as JsonObject;
  }
}

function resourceOf({ uri, mimeType, body, metaJson }: ResourceContents): JsonObject {
  const holds = body?.$case === "blob" ? { blob: body.value.toString("base64") } : { text: body?.value ?? "" };
  return { uri, ...withoutEmpty({ mimeType, _meta: parseOptional(metaJson) }), ...holds };
}

/** Returns a definition as MCP has it: what is JSON in the contract is an object, what is empty is not there. */
function definitionOf(definition: object): JsonObject {
  const entries = Object.entries(definition).map(([name, value]): [string, unknown] => {
    if (!Buffer.isBuffer(value)) {
      return [name, isObject(value) ? withoutEmpty(value) : value];
    }
    const plain = name.replace(/Json$/, "");
    return [plain === "meta" ? "_meta" : plain, parseOptional(value)];
  });
  return withoutEmpty(Object.fromEntries(entries));
}

function withoutEmpty(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(([name, v]) => {
      const hint = ["readOnly", "destructive", "idempotent", "openWorld"].includes(name); // of which false says something
      return v !== undefined && v !== "" && v !== 0 && (v !== false || hint) && !(Array.isArray(v) && v.length === 0);
    }),
  );
}
