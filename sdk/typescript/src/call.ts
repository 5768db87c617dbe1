import type { CallContext } from "./gen/mcphost/plugin/v1/plugin.js";
import { elicitForm, elicitPage, roots, sample, type Answer, type Root, type SampleRequest, type SampleResult } from "./elicit.js";
import { Events, levels, type Level, type Send } from "./events.js";
import { Rounds, type InputRequest } from "./input.js";
import { encode, isObject, parse, parseOptional, type JsonObject } from "./json.js";
import { withFields, type Logger } from "./logger.js";
import type { Output, Schema } from "./schema.js";

/** Who calls, as the host authenticated them. */
export interface Principal {
  readonly subject: string;
  readonly issuer: string;
  readonly scopes: readonly string[];
  readonly claims: JsonObject | undefined;
  hasScope(scope: string): boolean;
}

/** What the client says about itself. Nothing of it can be trusted. */
export interface Client {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  /** The whole. */
  readonly info: JsonObject | undefined;
  readonly capabilities: JsonObject;
}

/** The W3C trace context of a call; empty strings where there is none. */
export interface Trace {
  readonly traceparent: string;
  readonly tracestate: string;
}

/** What the host brings beside the configuration. */
export interface Setup {
  /** The name that the operator gave the plugin. */
  readonly handle: string;
  /** A folder that is the plugin's own and is kept across restarts. */
  readonly dataDir: string;
  /** Returns a secret that the operator handed over. */
  secret(name: string): string | undefined;
}

/** What a call is made of. */
export interface CallParts {
  context: CallContext;
  subject: string;
  signal: AbortSignal;
  setup: Setup | undefined;
  log: Logger;
  answers?: { [key: string]: Uint8Array };
  state?: Uint8Array | undefined;
  send?: Send | undefined;
}

/**
 * One use of a tool, a resource or a prompt: who asks, and what can be said to them meanwhile. It must not be kept after
 * the handler is done.
 */
export class Call {
  /** Aborts when the caller gives up or time is over. */
  readonly signal: AbortSignal;
  /** The operator's log, bound to the call. What the client shall see goes through log. */
  readonly logger: Logger;
  /** @internal */
  readonly rounds: Rounds;
  /** @internal */
  readonly events: Events;
  readonly #context: CallContext;
  readonly #setup: Setup | undefined;

  /** @internal */
  constructor(parts: CallParts) {
    this.signal = parts.signal;
    this.logger = withFields(parts.log, { primitive: parts.subject, request: parts.context.callId });
    this.events = new Events(parts.send);
    this.rounds = new Rounds(parts.answers ?? {}, parts.state, (key, error) => this.logger.debug("answer was not usable", { key, error }));
    this.#context = parts.context;
    this.#setup = parts.setup;
  }

  /** The same through all rounds and retries of the call. */
  get id(): string {
    return this.#context.callId;
  }

  /** Who calls. */
  get principal(): Principal {
    const { subject = "", issuer = "", scopes = [], claimsJson = Buffer.alloc(0) } = this.#context.principal ?? {};
    return { subject, issuer, scopes, claims: objectOf(claimsJson), hasScope: (scope) => scopes.includes(scope) };
  }

  /** What the client says about itself. */
  get client(): Client {
    const info = objectOf(this.#context.clientInfoJson);
    const word = (name: string) => (typeof info?.[name] === "string" ? (info[name] as string) : "");
    const capabilities = objectOf(this.#context.clientCapabilitiesJson) ?? {};
    return { name: word("name"), title: word("title"), version: word("version"), info, capabilities };
  }

  /** Reports whether the client declared a capability: "elicitation", "sampling" or "roots", say. */
  supports(capability: string): boolean {
    return Object.hasOwn(this.client.capabilities, capability);
  }

  /** The revision of MCP that the client speaks. */
  get protocolVersion(): string {
    return this.#context.protocolVersion;
  }

  /** The client's session, or "" where the protocol has none. */
  get session(): string {
    return this.#context.session;
  }

  /** How often the call was answered with questions before: 0 the first time. */
  get round(): number {
    return this.#context.round;
  }

  /** How often the call was tried before, after a crash: 0 the first time. */
  get attempt(): number {
    return this.#context.attempt;
  }

  /** The trace that the call belongs to. */
  get trace(): Trace {
    return { traceparent: this.#context.traceparent, tracestate: this.#context.tracestate };
  }

  /** The request's _meta less the protocol's own keys. */
  get meta(): JsonObject {
    return objectOf(this.#context.metaJson) ?? {};
  }

  /** The name of the local or web block that the caller sees. */
  get endpoint(): string {
    return this.#context.endpoint;
  }

  /** "stdio" or "http". */
  get transport(): string {
    return this.#context.transport;
  }

  /** The name that the operator gave the plugin, or "" before it is configured. */
  get handle(): string {
    return this.#setup?.handle ?? "";
  }

  /** A folder that is the plugin's own and is kept across restarts, or "" before it is configured. */
  get dataDir(): string {
    return this.#setup?.dataDir ?? "";
  }

  /** Returns a secret that the operator handed to the plugin. */
  secret(name: string): string | undefined {
    return this.#setup?.secret(name);
  }

  /**
   * Tells the caller how far the call is, if it wants to know. Progress that did not grow is left out, as the protocol
   * demands. Awaiting it keeps pace with the caller; without, a slow caller gets the latest.
   */
  progress(progress: number, total?: number, message = ""): Promise<void> {
    return this.#context.wantProgress ? this.events.progress(progress, total, message) : Promise.resolve();
  }

  /** Sends a message to the client, if it asked for messages as grave as this one. Data is encoded as JSON. */
  log(level: Level, data: unknown, logger = ""): Promise<void> {
    const threshold = levels.indexOf(this.#context.logLevel as Level);
    if (threshold < 0 || levels.indexOf(level) < threshold) {
      return Promise.resolve();
    }
    return this.events.log(level, logger, encode(data));
  }

  /**
   * Asks the user to fill in a form, and reads like a call that waits. Underneath, the first time it throws; the host then
   * asks the user and enters the handler again from its start, and this time the answer is there. So:
   *
   * - key names the question, once per handler, and is the same each time;
   * - what the handler did before the question is done again, unless it is wrapped in once;
   * - questions that are awaited together, with Promise.all, are asked together.
   *
   * The schema is an object of strings, numbers, booleans and enums. An answer that it refuses is asked for again.
   */
  elicit<S extends Schema>(key: string, message: string, schema: S): Promise<Answer<Output<S>>> {
    return elicitForm(this.rounds, key, message, schema);
  }

  /**
   * Asks the user to visit a page, for what must not pass through the client: secrets and payments. "accept" means that
   * the user agreed to, not that they are done.
   */
  elicitUrl(key: string, message: string, url: string): Promise<Answer<undefined>["action"]> {
    return elicitPage(this.rounds, key, message, url);
  }

  /** Asks the client's model. It behaves like elicit. Sampling is deprecated since 2026-07-28. */
  sample(key: string, request: SampleRequest): Promise<SampleResult> {
    return sample(this.rounds, key, request);
  }

  /** Asks the client for its folders. It behaves like elicit. Roots are deprecated since 2026-07-28. */
  roots(key: string): Promise<Root[]> {
    return roots(this.rounds, key);
  }

  /** Asks the client anything, and returns its answer as it is. The ground of elicit, which says how it behaves. */
  ask(request: InputRequest): Promise<unknown> {
    return this.rounds.ask(request, (answer) => answer);
  }

  /**
   * Runs fn and keeps its result through the rounds of the call: when the handler is entered again with an answer, what fn
   * did is not done twice. The result must survive JSON. An error is not kept, so fn runs again after it.
   */
  once<T>(key: string, fn: () => T | Promise<T>): Promise<T> {
    return this.rounds.once(key, fn);
  }

  /** The client's answers to the requests of the round before, by key. elicit and its like read them by themselves. */
  get inputResponses(): { [key: string]: unknown } {
    return Object.fromEntries(Object.entries(this.rounds.answers).map(([key, json]) => [key, parse(json)]));
  }

  /** The state of the InputRequired that the round before ended with, byte for byte. The host verified it. */
  get state(): Uint8Array | undefined {
    return this.rounds.state;
  }
}

function objectOf(json: Uint8Array): JsonObject | undefined {
  const value = parseOptional(json);
  return isObject(value) ? value : undefined;
}
