import type { CompleteFunction } from "./completion.js";
import { CatalogPart, Prompt, Resource, ResourceTemplate, Tool } from "./gen/mcphost/plugin/v1/plugin.js";
import type { ServedPrompt } from "./prompt.js";
import type { Read, ReadFunction, ServedResource, ServedTemplate } from "./resource.js";
import type { ServedTool } from "./tool.js";

/** Bounds a part of the catalog, in bytes: well below the message limit. */
const partSize = 1 << 20;

/** Bounds the resource updates that wait for a watcher. More than that are told by a new catalog revision alone. */
const maxUpdates = 4096;

/** What a plugin offers, and who wants to know of changes. */
export class Catalog {
  revision = 0;
  readonly tools = new Map<string, ServedTool>();
  readonly resources = new Map<string, ServedResource>();
  readonly templates = new Map<string, ServedTemplate>();
  readonly prompts = new Map<string, ServedPrompt>();
  readonly completions = new Map<string, CompleteFunction>();
  readonly #watchers = new Set<Watcher>();

  /** Makes a change, after which the contents have the next revision. */
  change(edit: () => void): void {
    edit();
    this.revision++;
    this.#watchers.forEach((watcher) => watcher.wake());
  }

  /** Tells every watcher that a resource changed. */
  updated(uri: string): void {
    this.#watchers.forEach((watcher) => watcher.updated(uri));
  }

  watch(): Watcher {
    const watcher = new Watcher();
    this.#watchers.add(watcher);
    return watcher;
  }

  unwatch(watcher: Watcher): void {
    this.#watchers.delete(watcher);
  }

  /** Returns who reads a URI, and what it is asked for. A resource comes before all templates, which are asked as they are spelled. */
  find(uri: string): { fn: ReadFunction; read: Read } | undefined {
    const resource = this.resources.get(uri);
    if (resource !== undefined) {
      return { fn: resource.read, read: { uri, mimeType: resource.definition.mimeType, variables: {} } };
    }
    for (const key of sorted(this.templates)) {
      const template = this.templates.get(key) as ServedTemplate;
      const variables = template.pattern.match(uri);
      if (variables !== undefined) {
        return { fn: template.read, read: { uri, mimeType: template.definition.mimeType, variables } };
      }
    }
    return undefined;
  }

  /** Returns the contents as the parts of one catalog, sorted by name. */
  parts(instructions: string): CatalogPart[] {
    const { revision } = this;
    const parts: CatalogPart[] = [];
    let room = 0;
    const partFor = (size: number): CatalogPart => {
      let part = parts.at(-1);
      if (part === undefined || size > room) {
        part = CatalogPart.create({ revision });
        parts.push(part);
        room = partSize;
      }
      room -= size;
      return part;
    };
    partFor(Buffer.byteLength(instructions)).instructions = instructions;
    for (const { definition } of inOrder(this.tools)) {
      partFor(Tool.encode(definition).finish().length).tools.push(definition);
    }
    for (const { definition } of inOrder(this.resources)) {
      partFor(Resource.encode(definition).finish().length).resources.push(definition);
    }
    for (const { definition } of inOrder(this.templates)) {
      partFor(ResourceTemplate.encode(definition).finish().length).resourceTemplates.push(definition);
    }
    for (const { definition } of inOrder(this.prompts)) {
      partFor(Prompt.encode(definition).finish().length).prompts.push(definition);
    }
    (parts.at(-1) as CatalogPart).last = true;
    return parts;
  }
}

/** One who watches a catalog. */
export class Watcher {
  #updates = new Set<string>();
  #changed = false;
  #waiting: (() => void) | undefined;

  wake(): void {
    this.#changed = true;
    this.#waiting?.();
  }

  updated(uri: string): void {
    if (this.#updates.size < maxUpdates) {
      this.#updates.add(uri);
    }
    this.wake();
  }

  /** Returns the updates that wait, sorted, and forgets them. */
  take(): string[] {
    const uris = [...this.#updates].sort();
    this.#updates.clear();
    return uris;
  }

  /** Resolves when something changed since the last time, or the signal aborts. */
  async next(signal: AbortSignal): Promise<void> {
    if (!this.#changed && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#waiting = () => {
          signal.removeEventListener("abort", done);
          this.#waiting = undefined;
          resolve();
        };
        const done = this.#waiting;
        signal.addEventListener("abort", done);
      });
    }
    this.#changed = false;
  }
}

/** Names the argument of a prompt or template. */
export function completionKey(kind: "prompt" | "template", name: string, argument: string): string {
  return JSON.stringify([kind, name, argument]);
}

export function sorted(map: Map<string, unknown>): string[] {
  return [...map.keys()].sort();
}

function inOrder<T>(map: Map<string, T>): T[] {
  return sorted(map).map((key) => map.get(key) as T);
}
