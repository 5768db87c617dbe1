/**
 * Schemas: any Standard Schema that knows its JSON Schema (zod 4.2 and later, arktype, ...), or one with a JSON Schema
 * beside it, by hand.
 */

import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { isObject, type JsonObject } from "./json.js";

/** A schema: https://standardschema.dev. */
export type Schema<Input = unknown, Output = Input> = StandardSchemaV1<Input, Output>;

/** What a handler gets by a schema. */
export type Output<S extends Schema> = StandardSchemaV1.InferOutput<S>;

/** What is given to a schema. */
export type Input<S extends Schema> = StandardSchemaV1.InferInput<S>;

/** An error of a value that a schema refuses. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";

  constructor(readonly issues: readonly StandardSchemaV1.Issue[]) {
    super(issues.map(describe).join("; "));
  }
}

/** Returns the value as the schema gives it back. Throws a SchemaError where it refuses it. */
export async function validate<S extends Schema>(schema: S, value: unknown): Promise<Output<S>> {
  let result = schema["~standard"].validate(value);
  if (result instanceof Promise) {
    result = await result;
  }
  if (result.issues) {
    throw new SchemaError(result.issues);
  }
  return result.value as Output<S>;
}

/** Returns a schema that is JSON Schema alone. The host checks arguments against it; nothing is checked here but that there is an object. */
export function jsonSchema<T = JsonObject>(json: JsonObject): Schema<T> {
  return withJsonSchema(
    {
      "~standard": {
        version: 1,
        vendor: "mcphost",
        validate: (value) =>
          json.type === "object" && !isObject(value) ? { issues: [{ message: "must be an object" }] } : { value: value as T },
      },
    },
    json,
  );
}

/** Returns a schema with a JSON Schema beside it, for libraries that know none of their own. It is served verbatim. */
export function withJsonSchema<S extends Schema>(schema: S, json: JsonObject): S {
  const standard = { ...schema["~standard"], jsonSchema: { input: () => json, output: () => json } };
  return { "~standard": standard } as unknown as S;
}

/** Returns the JSON Schema of what is given to a schema ("input"), or of what it gives back ("output"). Throws where there is none. */
export function toJsonSchema(schema: Schema, io: "input" | "output"): JsonObject {
  const standard = schema["~standard"] as Partial<StandardJSONSchemaV1.Props> & StandardSchemaV1.Props;
  const convert = standard.jsonSchema?.[io];
  if (convert === undefined) {
    throw new TypeError(`this schema of ${standard.vendor} does not know its JSON Schema: use withJsonSchema(schema, {…})`);
  }
  const json = convert({
    target: "draft-2020-12",
    libraryOptions: standard.vendor === "zod" ? { unrepresentable: "any", override: zodOverride(io) } : undefined,
  });
  if (json.$schema !== "https://json-schema.org/draft/2020-12/schema") {
    return json;
  }
  // basic/json-schema: a schema without $schema is of 2020-12.
  const { $schema: _, ...rest } = json;
  return rest;
}

interface ZodContext {
  zodSchema: { _zod: { def: { type: string; coerce?: boolean } } };
  jsonSchema: JsonObject;
}

/** What zod itself throws at. */
const unrepresentable = new Set(["symbol", "undefined", "void", "map", "set", "transform", "nan", "custom", "function"]);

/** Says what zod leaves unsaid, and less where it says too much. */
function zodOverride(io: "input" | "output") {
  return ({ zodSchema, jsonSchema: json }: ZodContext): void => {
    const { type, coerce } = zodSchema._zod.def;
    if (type === "bigint") {
      json.type = "integer";
    } else if (type === "date" && (io === "output" || coerce)) {
      Object.assign(json, { type: "string", format: "date-time" });
    } else if (type === "date" || (unrepresentable.has(type) && Object.keys(json).length === 0)) {
      throw new TypeError(`zod's ${type} has no JSON Schema: use withJsonSchema(schema, {…})`);
    }
    // The bounds of every z.int() tell a model nothing.
    if (json.minimum === Number.MIN_SAFE_INTEGER) {
      delete json.minimum;
    }
    if (json.maximum === Number.MAX_SAFE_INTEGER) {
      delete json.maximum;
    }
    const names = json.propertyNames;
    if (type === "record" && isObject(names) && names.type === "string" && Object.keys(names).length === 1) {
      delete json.propertyNames;
    }
  };
}

/** Returns the keys that lead to what an issue is about. */
export function pathOf(issue: StandardSchemaV1.Issue): string[] {
  return (issue.path ?? []).map((step) => String(typeof step === "object" ? step.key : step));
}

function describe(issue: StandardSchemaV1.Issue): string {
  const path = pathOf(issue);
  return path.length === 0 ? issue.message : `${JSON.stringify(path.join("."))}: ${issue.message}`;
}
