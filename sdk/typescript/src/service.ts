/** The plugin as the contract sees it, without gRPC: the service answers messages with messages. */

import { status } from "@grpc/grpc-js";
import { Call, type CallParts, type Setup } from "./call.js";
import { completionKey } from "./catalog.js";
import { completionToProto } from "./completion.js";
import { checkEmpty, complaint, isFatal } from "./config.js";
import { capabilities, describe } from "./describe.js";
import { duration } from "./duration.js";
import { notFound, StatusError } from "./errors.js";
import type { Send } from "./events.js";
import { missingFile, redact, run, unknown, type Failure, type Outcome } from "./failure.js";
import {
  AuthorizeRequest_Purpose as Purpose,
  CallContext,
  PrimitiveRef_Kind as Kind,
  ToolResult,
  type AuthorizeRequest,
  type AuthorizeResponse,
  type CallToolRequest,
  type CallToolResponse,
  type CompleteRequest,
  type CompleteResponse,
  type ConfigureRequest,
  type ConfigureResponse,
  type DescribeResponse,
  type Diagnostic,
  type GetPromptRequest,
  type GetPromptResponse,
  type GetPromptResult,
  type PrimitiveRef,
  type ReadResourceRequest,
  type ReadResourceResponse,
  type ShouldRegisterRequest,
  type ShouldRegisterResponse,
  type Verdict,
  type WatchResponse,
} from "./gen/mcphost/plugin/v1/plugin.js";
import { refOf, verdictToProto } from "./hooks.js";
import { isObject, parse, type JsonObject } from "./json.js";
import { maxResult } from "./limits.js";
import type { Plugin } from "./plugin.js";
import { readToProto } from "./resource.js";
import { textResult } from "./result.js";

export class Service {
  readonly #describe: DescribeResponse;
  #configured = false;

  constructor(readonly plugin: Plugin) {
    this.#describe = describe(plugin); // once, so that the bytes never change
  }

  describe(): DescribeResponse {
    return this.#describe;
  }

  validateConfig(json: Uint8Array): Promise<Diagnostic[]> {
    return this.#complaints("the check of the configuration", async () => this.plugin.served?.check(json) ?? checkEmpty(json));
  }

  async configure({ handle, dataDir, secrets, configJson }: ConfigureRequest): Promise<ConfigureResponse> {
    if (this.#configured) {
      throw new StatusError(status.FAILED_PRECONDITION, "the plugin is configured already");
    }
    this.#configured = true;
    const setup: Setup = { handle, dataDir, secret: (name) => (Object.hasOwn(secrets, name) ? secrets[name] : undefined) };
    const diagnostics = await this.#complaints("the set-up", async () => this.plugin.served?.configure(configJson, setup) ?? checkEmpty(configJson));
    if (isFatal(diagnostics)) {
      this.#configured = false;
      return { diagnostics, capabilities: undefined };
    }
    this.plugin.setup = setup;
    return { diagnostics, capabilities: capabilities(this.plugin) };
  }

  /** Sends the catalog, and again whenever it changed, and resource updates. */
  async watch(send: (event: WatchResponse) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { catalog, options } = this.plugin;
    const watcher = catalog.watch();
    try {
      for (let sent = -1; !signal.aborted; ) {
        // Updates are taken before the catalog is looked at: a new resource is told of before its update.
        const updates = watcher.take();
        if (catalog.revision !== sent) {
          sent = catalog.revision;
          for (const value of catalog.parts(options.instructions ?? "")) {
            await send({ event: { $case: "catalog", value } });
          }
        }
        for (const uri of updates) {
          await send({ event: { $case: "resourceUpdated", value: { uri } } });
        }
        await watcher.next(signal);
      }
    } finally {
      catalog.unwatch(watcher);
    }
  }

  /** Calls a tool. Without send, progress and logs have no way to the caller. */
  async callTool(request: CallToolRequest, signal: AbortSignal, send?: Send): Promise<CallToolResponse> {
    this.#ready();
    const tool = this.plugin.catalog.tools.get(request.name);
    if (tool === undefined) {
      return toolResponse(unknown("tool", request.name));
    }
    const call = this.#call(request.context, request.name, signal, { answers: request.inputResponsesJson, state: request.state, send });
    const outcome = await run(`tool ${request.name}`, call, async () => fits(await tool.call(request.argumentsJson, call)));
    await call.events.end();
    if (call.events.dropped > 0) {
      call.logger.warn("log messages were dropped: the client is slow", { dropped: call.events.dropped });
    }
    return toolResponse(outcome);
  }

  async readResource(request: ReadResourceRequest, signal: AbortSignal): Promise<ReadResourceResponse> {
    this.#ready();
    const { uri } = request;
    const call = this.#call(request.context, uri, signal, { answers: request.inputResponsesJson, state: request.state });
    return response(
      await run(`resource ${uri}`, call, async () => {
        const found = this.plugin.catalog.find(uri);
        if (found === undefined) {
          throw notFound(uri);
        }
        try {
          return readToProto(found.read, await found.fn(found.read, call));
        } catch (error) {
          throw missingFile(uri, error);
        }
      }),
    );
  }

  async getPrompt(request: GetPromptRequest, signal: AbortSignal): Promise<GetPromptResponse> {
    this.#ready();
    const prompt = this.plugin.catalog.prompts.get(request.name);
    if (prompt === undefined) {
      return response<GetPromptResult>(unknown("prompt", request.name));
    }
    const call = this.#call(request.context, request.name, signal, { answers: request.inputResponsesJson, state: request.state });
    return response<GetPromptResult>(await run(`prompt ${request.name}`, call, () => prompt.get(request.arguments, call)));
  }

  /** Proposes values. An argument that nobody completes has none. */
  async complete(request: CompleteRequest, signal: AbortSignal): Promise<CompleteResponse> {
    this.#ready();
    const { kind = Kind.UNSPECIFIED, name = "" } = request.reference ?? {};
    const { prompts, templates, completions } = this.plugin.catalog;
    const known = kind === Kind.PROMPT ? prompts.has(name) : kind === Kind.RESOURCE_TEMPLATE && templates.has(name);
    if (!known) {
      return completeResponse(unknown("reference", name));
    }
    const fn = completions.get(completionKey(kind === Kind.PROMPT ? "prompt" : "template", name, request.argumentName));
    if (fn === undefined) {
      return completeResponse({ value: completionToProto([]) });
    }
    const call = this.#call(request.context, name, signal);
    const typing = { argument: request.argumentName, value: request.argumentValue, others: request.contextArguments };
    return completeResponse(await run(`completion of ${name}`, call, async () => completionToProto(await fn(typing, call))));
  }

  async setSubscriptions(uris: string[]): Promise<void> {
    await this.plugin.subscribed?.(uris);
  }

  /** Asks the plugin's hook; a primitive about which it failed is not there. */
  async shouldRegister(request: ShouldRegisterRequest, signal: AbortSignal): Promise<ShouldRegisterResponse> {
    const hook = this.plugin.registerHook;
    if (hook === undefined) {
      throw new StatusError(status.UNIMPLEMENTED, "the plugin has no shouldRegister hook");
    }
    const call = this.#call(request.context, "shouldRegister", signal);
    const { answers, failed } = await this.#decide(request.primitives, call, false, async (ref) => (await hook.decide(refOf(ref), call)) === true);
    return { register: answers, cacheFor: failed ? undefined : duration(hook.cacheMs) };
  }

  /** Asks the plugin's hook; a primitive about which it failed is denied. */
  async authorize(request: AuthorizeRequest, signal: AbortSignal): Promise<AuthorizeResponse> {
    const hook = this.plugin.authorizeHook;
    if (hook === undefined) {
      throw new StatusError(status.UNIMPLEMENTED, "the plugin has no authorize hook");
    }
    const call = this.#call(request.context, "authorize", signal);
    const given = request.purpose === Purpose.USE ? objectOf(request.argumentsJson) : undefined;
    const denied: Verdict = verdictToProto({ allow: false, reason: "the hook failed" });
    const { answers, failed } = await this.#decide(request.primitives, call, denied, async (ref) => verdictToProto(await hook.decide(refOf(ref), call, given)));
    return { verdicts: answers, cacheFor: failed ? undefined : duration(hook.cacheMs) };
  }

  async #decide<T>(refs: PrimitiveRef[], call: Call, otherwise: T, decide: (ref: PrimitiveRef) => Promise<T>): Promise<{ answers: T[]; failed: boolean }> {
    let failed = false;
    const answers = refs.map(async (ref) => {
      try {
        return await decide(ref);
      } catch (error) {
        failed = true;
        call.logger.warn("hook did not decide", { primitive: ref.name, error });
        return otherwise;
      }
    });
    return { answers: await Promise.all(answers), failed };
  }

  #call(context: CallContext | undefined, subject: string, signal: AbortSignal, rest: Partial<CallParts> = {}): Call {
    const { setup, logger: log } = this.plugin;
    return new Call({ context: context ?? CallContext.create(), subject, signal, setup, log, ...rest });
  }

  #ready(): void {
    if (this.plugin.served !== undefined && this.plugin.setup === undefined) {
      throw new StatusError(status.FAILED_PRECONDITION, "the plugin is not configured");
    }
  }

  async #complaints(subject: string, fn: () => Promise<Diagnostic[]>): Promise<Diagnostic[]> {
    try {
      return await fn();
    } catch (error) {
      return [complaint(redact(subject, this.plugin.logger, error))];
    }
  }
}

/** A result that is too large for a message is an error that the model can read. */
function fits(result: ToolResult): ToolResult {
  // A character has at most three bytes; only what may be too large is measured.
  const most = result.structuredJson.length + result.content.reduce((sum, { kind }) => sum + 1024 + (kind?.$case === "text" ? 3 * kind.value.length : maxResult), 0);
  if (most < maxResult) {
    return result;
  }
  const size = ToolResult.encode(result).finish().length;
  return size <= maxResult ? result : textResult(`the result is too large: ${size} bytes, ${maxResult} are allowed`, true);
}

function toolResponse(outcome: Outcome<ToolResult>): CallToolResponse {
  if ("error" in outcome && outcome.text !== undefined) {
    return { outcome: { $case: "result", value: textResult(outcome.text, true) } };
  }
  return response(outcome);
}

function response<T>(outcome: Outcome<T>) {
  if ("value" in outcome) {
    return { outcome: { $case: "result" as const, value: outcome.value } };
  }
  return "input" in outcome
    ? { outcome: { $case: "inputRequired" as const, value: outcome.input } }
    : { outcome: { $case: "error" as const, value: outcome.error } };
}

function completeResponse(outcome: { value: ReturnType<typeof completionToProto> } | Failure): CompleteResponse {
  if ("input" in outcome) {
    throw new StatusError(status.INTERNAL, "a completion cannot ask for input");
  }
  return "value" in outcome ? { outcome: { $case: "result", value: outcome.value } } : { outcome: { $case: "error", value: outcome.error } };
}

function objectOf(json: Uint8Array): JsonObject {
  const value = json.length === 0 ? {} : parse(json);
  return isObject(value) ? value : {};
}
