import type { Setup } from "./call.js";
import { messageOf } from "./errors.js";
import { Diagnostic_Severity as Severity, type Diagnostic as Wire } from "./gen/mcphost/plugin/v1/plugin.js";
import { encode, isObject, parse } from "./json.js";
import { pathOf, SchemaError, toJsonSchema, validate, type Output, type Schema } from "./schema.js";
import type { Awaitable } from "./tool.js";

/** A complaint about a configuration. The host shows it with the line of the file that it is about. */
export class Diagnostic extends Error {
  override readonly name = "Diagnostic";
  readonly severity: "error" | "warning";

  /**
   * The summary has two to four words; the detail says what was found, what is allowed, what to do. The pointer is a JSON
   * Pointer (RFC 6901) into the configuration: "/roots/0"; "" is the whole block.
   */
  constructor(
    readonly summary: string,
    readonly detail = "",
    readonly pointer = "",
    options: { severity?: "error" | "warning" } = {},
  ) {
    super([pointer, summary, detail].filter((part) => part !== "").join(": "));
    this.severity = options.severity ?? "error";
  }
}

/** What a function of a configuration says: nothing, or complaints. It may throw one, too. */
export type Complaints = Diagnostic | Diagnostic[] | undefined | void;

/** What a plugin does with its configuration. */
export interface ConfigOptions<T> {
  /** Checks what a schema cannot say, without side effects. */
  validate?(value: T): Awaitable<Complaints>;
  /** Is called once, before any call. It may add tools. */
  start?(value: T, setup: Setup): Awaitable<Complaints>;
}

/** The configuration of a plugin once the host has sent it. */
export interface Config<T> {
  /** Throws before the configuration is there, which no call sees. */
  readonly value: T;
}

/** A configuration as it is served. */
export class ServedConfig<S extends Schema> implements Config<Output<S>> {
  readonly schemaJson: Buffer;
  #value: { of: Output<S> } | undefined;

  constructor(
    private readonly schema: S,
    private readonly options: ConfigOptions<Output<S>>,
  ) {
    const json = toJsonSchema(schema, "input");
    if (json.type !== "object") {
      throw new TypeError("a configuration is an object");
    }
    this.schemaJson = encode(json);
  }

  get value(): Output<S> {
    if (this.#value === undefined) {
      throw new Error("the plugin is not configured yet");
    }
    return this.#value.of;
  }

  /** Checks a configuration without side effects. */
  async check(json: Uint8Array): Promise<Wire[]> {
    return (await this.#read(json)).complaints;
  }

  /** Takes a configuration into use. */
  async configure(json: Uint8Array, setup: Setup): Promise<Wire[]> {
    const { value, complaints } = await this.#read(json);
    if (value === undefined || isFatal(complaints)) {
      return complaints;
    }
    this.#value = value;
    return [...complaints, ...(await complaintsOf(() => this.options.start?.(value.of, setup)))];
  }

  async #read(json: Uint8Array): Promise<{ value?: { of: Output<S> }; complaints: Wire[] }> {
    const raw = json.length === 0 ? {} : parse(json);
    try {
      const value = { of: await validate(this.schema, raw) };
      return { value, complaints: await complaintsOf(() => this.options.validate?.(value.of)) };
    } catch (error) {
      if (error instanceof SchemaError) {
        return { complaints: error.issues.map((issue) => toProto(aboutIssue(raw, pathOf(issue), issue.message))) };
      }
      throw error;
    }
  }
}

/** A plugin without a configuration takes an empty block alone. */
export function checkEmpty(json: Uint8Array): Wire[] {
  const raw = json.length === 0 ? {} : parse(json);
  const names = isObject(raw) ? Object.keys(raw) : [];
  return names.map((name) => toProto(aboutIssue(raw, [name], "is unknown: the plugin takes no configuration")));
}

export function isFatal(complaints: Wire[]): boolean {
  return complaints.some(({ severity }) => severity === Severity.ERROR);
}

/** Returns a complaint about the whole block. */
export function complaint(detail: string): Wire {
  return toProto(new Diagnostic("Invalid configuration", detail));
}

async function complaintsOf(fn: () => Awaitable<Complaints>): Promise<Wire[]> {
  try {
    const said = await fn();
    return said === undefined ? [] : (Array.isArray(said) ? said : [said]).map(toProto);
  } catch (error) {
    // What is thrown here is for the operator, not for a client: nothing has to be kept from them.
    return [error instanceof Diagnostic ? toProto(error) : complaint(messageOf(error))];
  }
}

/** A complaint at the attribute that it is about; one that is missing has no place. */
function aboutIssue(raw: unknown, path: string[], message: string): Diagnostic {
  if (path.length === 0) {
    return new Diagnostic("Invalid configuration", `The configuration is not as it should be: ${message}.`);
  }
  const place = path.slice(0, -1).reduce((value, key) => (isObject(value) || Array.isArray(value) ? (value as never)[key] : undefined), raw as unknown);
  const missing = isObject(place) && !Object.hasOwn(place, path.at(-1) as string);
  const pointer = (missing ? path.slice(0, -1) : path).map((step) => `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  return new Diagnostic("Invalid configuration", `The attribute ${JSON.stringify(path.join("."))} ${missing ? "is missing" : message}.`, pointer);
}

function toProto({ severity, summary, detail, pointer }: Diagnostic): Wire {
  return { severity: severity === "warning" ? Severity.WARNING : Severity.ERROR, summary, detail, pointer };
}
