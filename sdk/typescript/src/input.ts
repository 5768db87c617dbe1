/** How a call asks the client something in its middle: it ends, and is entered again with the answers. */

import { isDeepStrictEqual } from "node:util";
import { duration } from "./duration.js";
import type { InputRequired as Wire } from "./gen/mcphost/plugin/v1/plugin.js";
import { encode, isObject, parse, stringify, type JsonObject } from "./json.js";
import { none } from "./content.js";

/** One question to the client or its user. */
export interface InputRequest {
  key: string;
  method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  /** Encoded as JSON; undefined is none. */
  params?: JsonObject;
}

/** The parts of an InputRequired. */
export interface InputRequiredParts {
  /** In the order to ask; keys are unique. */
  requests: InputRequest[];
  state?: Uint8Array;
  expiresAfterMs?: number;
  /** The host accepts the state once. */
  singleUse?: boolean;
  /** Only this very process can go on. */
  sticky?: boolean;
}

/**
 * What a handler throws to suspend itself by hand: the host asks the client, and calls again with the answers in
 * Call.inputResponses and the state in Call.state. Call.elicit and its like throw one by themselves; the two must not be
 * mixed in one handler.
 */
export class InputRequired extends Error {
  override readonly name = "InputRequired";

  constructor(readonly parts: InputRequiredParts = { requests: [] }) {
    super("input is required");
  }

  /** @internal */
  toProto(): Wire {
    const { requests, state, expiresAfterMs, singleUse, sticky } = this.parts;
    return {
      requests: requests.map(({ key, method, params }) => ({ key, method, paramsJson: params === undefined ? none : encode(params) })),
      state: state === undefined ? undefined : Buffer.from(state),
      expiresAfter: duration(expiresAfterMs),
      singleUse: singleUse ?? false,
      sticky: sticky ?? false,
    };
  }
}

/**
 * What is known through the rounds of a call. patterns/mrtr says that the client's answers are those of the latest round
 * alone, so the earlier ones travel in the state, which the host seals.
 */
interface Memory {
  answers: Map<string, unknown>;
  /** What once did: JSON, or undefined for a step that gave nothing back. */
  done: Map<string, string | undefined>;
}

/** The rounds of one call. */
export class Rounds {
  readonly #fresh: Map<string, unknown>;
  readonly #memory: Memory;
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #asked: InputRequest[] = [];
  /** That two questions had one key: whatever the handler made of it, its mistake. */
  clash: Error | undefined;

  constructor(
    readonly answers: { [key: string]: Uint8Array },
    readonly state: Uint8Array | undefined,
    private readonly refused: (key: string, error: unknown) => void,
  ) {
    this.#fresh = new Map(Object.entries(answers).map(([key, json]) => [key, parse(json)]));
    this.#memory = recall(state);
  }

  /**
   * Returns the answer to a request if accept takes it, or notes the request for the next round and throws. An answer that
   * accept refuses is asked for again. Questions that have no answer yet are noted before this returns, so that several
   * are asked together.
   */
  ask<T>(request: InputRequest, accept: (answer: unknown) => T | Promise<T>): Promise<T> {
    const answer = this.#ask(request, accept);
    answer.catch(() => {}); // who awaits it sees it; a question that nobody awaits yet must not end the process
    return answer;
  }

  async #ask<T>(request: InputRequest, accept: (answer: unknown) => T | Promise<T>): Promise<T> {
    const { key } = request;
    const { answers } = this.#memory;
    if (answers.has(key) || this.#fresh.has(key)) {
      const answer = answers.has(key) ? answers.get(key) : this.#fresh.get(key);
      try {
        const value = await accept(answer);
        answers.set(key, answer);
        return value;
      } catch (error) {
        this.refused(key, error);
        answers.delete(key);
      }
    }
    const other = this.#asked.find((one) => one.key === key);
    if (other === undefined) {
      this.#asked.push(request);
    } else if (!isDeepStrictEqual(other, request)) {
      this.clash = new Error(`two different questions have the key ${JSON.stringify(key)}`);
      throw this.clash;
    }
    throw new InputRequired();
  }

  /** Runs fn and keeps its result through the rounds. An error is not kept. */
  once<T>(key: string, fn: () => T | Promise<T>): Promise<T> {
    const running = this.#running.get(key) ?? this.#once(key, fn);
    this.#running.set(key, running);
    return running as Promise<T>;
  }

  async #once<T>(key: string, fn: () => T | Promise<T>): Promise<T> {
    const { done } = this.#memory;
    if (done.has(key)) {
      const json = done.get(key);
      return (json === undefined ? undefined : parse(json)) as T;
    }
    try {
      const value = await fn();
      done.set(key, value === undefined ? undefined : stringify(value));
      return value;
    } finally {
      this.#running.delete(key);
    }
  }

  /** Returns the questions of this round, with the state that the next one needs, if it needs any, or undefined. */
  asked(): Wire | undefined {
    if (this.#asked.length === 0 || this.clash !== undefined) {
      return undefined;
    }
    const { answers, done } = this.#memory;
    const state =
      answers.size + done.size === 0 ? undefined : encode({ answers: [...answers], done: [...done].map(([key, json]) => (json === undefined ? [key] : [key, json])) });
    return new InputRequired({ requests: this.#asked, state }).toProto();
  }
}

function recall(state: Uint8Array | undefined): Memory {
  const memory: Memory = { answers: new Map(), done: new Map() };
  if (state === undefined || state.length === 0) {
    return memory;
  }
  let kept: unknown;
  try {
    kept = parse(state);
  } catch {
    return memory; // of a handler that keeps its state by hand
  }
  if (isObject(kept) && Array.isArray(kept.answers) && Array.isArray(kept.done)) {
    for (const [key, answer] of kept.answers) {
      memory.answers.set(key, answer);
    }
    for (const [key, json] of kept.done) {
      memory.done.set(key, json);
    }
  }
  return memory;
}
