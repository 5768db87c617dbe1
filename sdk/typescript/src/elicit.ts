import { isObject, type JsonObject } from "./json.js";
import type { Rounds } from "./input.js";
import { toJsonSchema, validate, type Output, type Schema } from "./schema.js";

/** What a user said to a question. */
export type Answer<T> = { action: "accept"; value: T } | { action: "decline" | "cancel"; value?: undefined };

/** A request to the client's model. */
export interface SampleRequest {
  messages: SampleMessage[];
  systemPrompt?: string;
  maxTokens: number;
  temperature?: number;
}

/** A message of text to the client's model. */
export interface SampleMessage {
  role: "user" | "assistant";
  content: { type: "text"; text: string };
}

/** What the client's model said. */
export interface SampleResult {
  role: string;
  model: string;
  stopReason: string;
  /** A block, or a list of them, as MCP has them. */
  content: unknown;
  /** The text of it. */
  text: string;
}

/** A folder that the client works in. */
export interface Root {
  uri: string;
  name?: string;
}

export function elicitForm<S extends Schema>(rounds: Rounds, key: string, message: string, schema: S): Promise<Answer<Output<S>>> {
  const params = { mode: "form", message, requestedSchema: formOf(toJsonSchema(schema, "input")) };
  return rounds.ask({ key, method: "elicitation/create", params }, async (answer) => {
    const action = actionOf(answer);
    return action === "accept" ? { action, value: await validate(schema, contentOf(answer)) } : { action };
  });
}

export function elicitPage(rounds: Rounds, key: string, message: string, url: string): Promise<Answer<undefined>["action"]> {
  return rounds.ask({ key, method: "elicitation/create", params: { mode: "url", message, url } }, actionOf);
}

export function sample(rounds: Rounds, key: string, request: SampleRequest): Promise<SampleResult> {
  return rounds.ask({ key, method: "sampling/createMessage", params: { ...request } }, (answer) => {
    if (!isObject(answer) || (!isObject(answer.content) && !Array.isArray(answer.content))) {
      throw new TypeError("the answer has no content");
    }
    const word = (name: string) => (typeof answer[name] === "string" ? (answer[name] as string) : "");
    const blocks: unknown[] = Array.isArray(answer.content) ? answer.content : [answer.content];
    const text = blocks.map((block) => (isObject(block) && typeof block.text === "string" ? block.text : "")).join("");
    return { role: word("role"), model: word("model"), stopReason: word("stopReason"), content: answer.content, text };
  });
}

export function roots(rounds: Rounds, key: string): Promise<Root[]> {
  return rounds.ask({ key, method: "roots/list", params: {} }, (answer) => {
    if (!isObject(answer) || !Array.isArray(answer.roots) || !answer.roots.every((root) => isObject(root) && typeof root.uri === "string")) {
      throw new TypeError("the answer has no roots");
    }
    return answer.roots as Root[];
  });
}

function actionOf(answer: unknown): Answer<unknown>["action"] {
  const action = isObject(answer) ? answer.action : undefined;
  if (action !== "accept" && action !== "decline" && action !== "cancel") {
    throw new TypeError(`unknown action ${JSON.stringify(action)}`);
  }
  return action;
}

function contentOf(answer: unknown): unknown {
  return isObject(answer) && answer.content !== undefined ? answer.content : {};
}

/** Takes out what the schema of a form may not have: it is flat and every value is one primitive. */
function formOf({ additionalProperties: _, ...schema }: JsonObject): JsonObject {
  if (!isObject(schema.properties)) {
    return { ...schema, properties: {} };
  }
  const properties = Object.entries(schema.properties).map(([name, property]) => [name, isObject(property) ? withoutNull(property) : property]);
  return { ...schema, properties: Object.fromEntries(properties) };
}

function withoutNull(property: JsonObject): JsonObject {
  const { type, anyOf, ...rest } = property;
  if (Array.isArray(type)) {
    return { ...rest, type: type.find((one) => one !== "null") };
  }
  const other = Array.isArray(anyOf) ? anyOf.filter((one) => isObject(one) && one.type !== "null") : [];
  return other.length === 1 ? { ...rest, ...other[0] } : property;
}
