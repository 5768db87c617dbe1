import type { Call } from "./call.js";
import { bodyToProto, iconsToProto, none, type ResourceBody, type ResourceOptions } from "./content.js";
import { duration } from "./duration.js";
import { notFound } from "./errors.js";
import { CacheHint_Scope, type ReadResourceResult, type Resource, type ResourceTemplate } from "./gen/mcphost/plugin/v1/plugin.js";
import { encodeOptional, type JsonObject } from "./json.js";
import type { Awaitable } from "./tool.js";
import { UriTemplate } from "./uritemplate.js";

/** What a client is told about a family of resources. */
export type TemplateOptions = Omit<ResourceOptions, "size">;

/** What a function that reads is asked for. */
export interface Read {
  uri: string;
  /** Of the resource or template. */
  mimeType: string;
  /** Of the template that matched. */
  variables: { [name: string]: string };
}

/** The parts of a ReadResult. */
export interface ReadParts {
  contents: ResourceBody[];
  /** How long it may be kept; 0 or absent: not at all. */
  ttlMs?: number;
  /** Whether it may be kept for everybody, not for this caller alone. */
  public?: boolean;
  meta?: JsonObject;
}

/** What a resource holds, for a function that needs to say more than its text or bytes. */
export class ReadResult {
  constructor(readonly parts: ReadParts) {}
}

/**
 * Reads a resource: its text, its bytes, or a ReadResult. undefined, null and an ENOENT of the file system mean that there is no such
 * resource.
 */
export type ReadFunction = (read: Read, call: Call) => Awaitable<string | Uint8Array | ReadResult | null | undefined>;

/** A resource or template of a plugin, that can be taken away. */
export interface Removable {
  remove(): void;
}

/** A resource as it is served. */
export interface ServedResource {
  definition: Resource;
  read: ReadFunction;
}

/** A template as it is served. */
export interface ServedTemplate {
  definition: ResourceTemplate;
  pattern: UriTemplate;
  read: ReadFunction;
}

export function newTemplate(uriTemplate: string, options: TemplateOptions, read: ReadFunction): ServedTemplate {
  if (options.name === "") {
    throw new TypeError("a resource template has a name");
  }
  return { definition: templateToProto(uriTemplate, options), pattern: new UriTemplate(uriTemplate), read };
}

function templateToProto(uriTemplate: string, options: TemplateOptions): ResourceTemplate {
  return {
    uriTemplate,
    name: options.name,
    title: options.title ?? "",
    description: options.description ?? "",
    mimeType: options.mimeType ?? "",
    annotationsJson: encodeOptional(options.annotations),
    iconsJson: iconsToProto(options.icons),
    metaJson: encodeOptional(options.meta),
    definitionJson: none,
  };
}

export function readToProto(read: Read, value: Awaited<ReturnType<ReadFunction>>): ReadResourceResult {
  const { uri, mimeType } = read;
  if (typeof value === "string") {
    value = new ReadResult({ contents: [{ uri, mimeType, text: value }] });
  } else if (value instanceof Uint8Array) {
    value = new ReadResult({ contents: [{ uri, mimeType, blob: value }] });
  }
  // server/resources: servers MUST NOT return empty contents for a resource that does not exist.
  if (value === undefined || value === null || value.parts.contents.length === 0) {
    throw notFound(uri);
  }
  const { contents, ttlMs, meta } = value.parts;
  return {
    contents: contents.map(bodyToProto),
    cache: { ttl: duration(ttlMs ?? 0), scope: value.parts.public ? CacheHint_Scope.PUBLIC : CacheHint_Scope.PRIVATE },
    metaJson: encodeOptional(meta),
    resultJson: none,
  };
}
