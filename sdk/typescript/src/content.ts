import type { Content as Wire, Resource as WireResource, ResourceContents } from "./gen/mcphost/plugin/v1/plugin.js";
import { encode, encodeOptional, type JsonObject } from "./json.js";

/** Hints for the client about a block of content or a resource. */
export interface Annotations {
  audience?: ("user" | "assistant")[];
  /** From 0 to 1. */
  priority?: number;
  lastModified?: Date;
}

/** A picture for a primitive. */
export interface Icon {
  src: string;
  mimeType?: string;
  sizes?: string[];
  theme?: "light" | "dark";
}

/** What a client is told about a resource. */
export interface ResourceOptions {
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  /** In bytes. */
  size?: number;
  annotations?: Annotations;
  icons?: Icon[];
  meta?: JsonObject;
}

/** A resource with its contents: text, or bytes. */
export type ResourceBody = { uri: string; mimeType?: string; meta?: JsonObject } & ({ text: string } | { blob: Uint8Array });

/** One block of what a tool or a prompt says. The functions beside it make them. */
export class Content {
  readonly #kind: Wire["kind"];
  readonly #annotations: Annotations | undefined;
  readonly #meta: JsonObject | undefined;

  /** @internal */
  constructor(kind: Wire["kind"], annotations?: Annotations, meta?: JsonObject) {
    this.#kind = kind;
    this.#annotations = annotations;
    this.#meta = meta;
  }

  /** Returns the same block with hints for the client. */
  annotate(annotations: Annotations, meta?: JsonObject): Content {
    return new Content(this.#kind, annotations, meta);
  }

  /** @internal */
  toProto(): Wire {
    return { kind: this.#kind, annotationsJson: encodeOptional(this.#annotations), metaJson: encodeOptional(this.#meta) };
  }
}

/** A block of text. */
export function text(value: string): Content {
  return new Content({ $case: "text", value });
}

/** A picture: the bytes themselves, not base64. */
export function image(data: Uint8Array, mimeType: string): Content {
  return new Content({ $case: "image", value: { data: bytes(data), mimeType } });
}

/** A sound: the bytes themselves, not base64. */
export function audio(data: Uint8Array, mimeType: string): Content {
  return new Content({ $case: "audio", value: { data: bytes(data), mimeType } });
}

/** Bytes, as a resource with its contents. */
export function blob(uri: string, data: Uint8Array, mimeType = "application/octet-stream"): Content {
  return embedded({ uri, blob: data, mimeType });
}

/** A resource with its contents. */
export function embedded(resource: ResourceBody): Content {
  return new Content({ $case: "resource", value: bodyToProto(resource) });
}

/** A link to a resource that the client may read. */
export function link(uri: string, options: ResourceOptions): Content {
  return new Content({ $case: "resourceLink", value: resourceToProto(uri, options) });
}

/** A block of a type that this package does not know, passed on as it is. */
export function rawContent(block: JsonObject): Content {
  return new Content({ $case: "contentJson", value: encode(block) });
}

export function bodyToProto(body: ResourceBody): ResourceContents {
  return {
    uri: body.uri,
    mimeType: body.mimeType ?? "",
    body: "blob" in body ? { $case: "blob", value: bytes(body.blob) } : { $case: "text", value: body.text },
    metaJson: encodeOptional(body.meta),
  };
}

export function resourceToProto(uri: string, options: ResourceOptions): WireResource {
  if (uri === "" || options.name === "") {
    throw new TypeError("a resource has a URI and a name");
  }
  return {
    uri,
    name: options.name,
    title: options.title ?? "",
    description: options.description ?? "",
    mimeType: options.mimeType ?? "",
    size: options.size,
    annotationsJson: encodeOptional(options.annotations),
    iconsJson: iconsToProto(options.icons),
    metaJson: encodeOptional(options.meta),
    definitionJson: none,
  };
}

export const none = Buffer.alloc(0);

export function iconsToProto(icons: Icon[] | undefined): Buffer {
  return icons === undefined || icons.length === 0 ? none : encode(icons);
}

function bytes(data: Uint8Array): Buffer {
  return Buffer.isBuffer(data) ? data : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}
