import type { Setup } from "./call.js";
import { Catalog, completionKey } from "./catalog.js";
import type { CompleteFunction } from "./completion.js";
import { ServedConfig, type Config, type ConfigOptions } from "./config.js";
import { resourceToProto, type ResourceOptions } from "./content.js";
import type { AuthorizeFunction, HookOptions, RegisterFunction } from "./hooks.js";
import { hclog, type Logger } from "./logger.js";
import { newPrompt, type PromptFunction, type PromptOptions } from "./prompt.js";
import { newTemplate, type ReadFunction, type Removable, type TemplateOptions } from "./resource.js";
import type { Output, Schema } from "./schema.js";
import { main } from "./serve.js";
import { newTool, type Awaitable, type Tool, type ToolFunction, type ToolOptions } from "./tool.js";

/** What a plugin would like its sandbox to allow. It is shown to the operator and grants nothing. */
export interface Grants {
  readPaths?: string[];
  writePaths?: string[];
  /** "api.example.com:443" */
  networkHosts?: string[];
  /** Names of variables. */
  environment?: string[];
  spawnProcesses?: boolean;
}

/** A secret that the plugin reads with Call.secret, so that `mcphost validate` can miss it. */
export interface SecretOptions {
  description?: string;
  required?: boolean;
}

/** Optional properties of a plugin. */
export interface PluginOptions {
  /** What the model is told about the plugin's tools as a whole. */
  instructions?: string;
  /** The page, in Markdown, that the operator reads about the plugin. */
  documentation?: string;
  /** Lines of HCL that a block of the plugin typically holds, for who starts the plugin by hand. */
  example?: string;
  grants?: Grants;
  /** By name. */
  secrets?: { [name: string]: SecretOptions };
  /** The host sends at most so many calls at a time; 0 is no limit of the plugin's own. */
  maxConcurrentCalls?: number;
  /** There must never be two processes of this plugin at once under one handle: it holds a port or a file, say. */
  exclusive?: boolean;
  /** The plugin calls resourceUpdated. */
  resourceUpdates?: boolean;
  /** Replaces the operator's log, which is hclog's JSON on stderr, as a host expects it. */
  logger?: Logger;
}

/** A hook as it is served. */
export interface Hook<F> {
  decide: F;
  cacheMs: number;
}

/**
 * A set of tools, resources and prompts that a host can serve. Primitives may be added, replaced and removed at any time,
 * also while it is served; a host that watches sees it at once.
 */
export class Plugin {
  /** The operator's log. What a client shall see goes through Call.log. */
  readonly logger: Logger;
  /** @internal */
  readonly catalog = new Catalog();
  /** @internal */
  served: ServedConfig<Schema> | undefined;
  /** @internal */
  registerHook: Hook<RegisterFunction> | undefined;
  /** @internal */
  authorizeHook: Hook<AuthorizeFunction> | undefined;
  /** @internal */
  subscribed: ((uris: string[]) => Awaitable<void>) | undefined;
  /** @internal Undefined until the host configured the plugin. */
  setup: Setup | undefined;

  /** Makes a plugin that offers nothing yet. Its name and version are what the host shows. */
  constructor(
    readonly name: string,
    readonly version: string,
    /** @internal */
    readonly options: PluginOptions = {},
  ) {
    this.logger = options.logger ?? hclog(name);
  }

  /** Adds a tool, or replaces the one of that name. Throws if the name is not allowed or a schema has no JSON Schema. */
  tool<I extends Schema | undefined = undefined, O extends Schema | undefined = undefined>(
    name: string,
    options: ToolOptions<I, O>,
    fn: ToolFunction<I, O>,
  ): Tool<I, O> {
    const served = newTool(name, options, fn);
    return { name, ...this.#put(this.catalog.tools, name, served) };
  }

  /** Adds a resource, or replaces the one of that URI. */
  resource(uri: string, options: ResourceOptions, read: ReadFunction): Removable {
    return this.#put(this.catalog.resources, uri, { definition: resourceToProto(uri, options), read });
  }

  /**
   * Adds a family of resources, whose URIs fit an RFC 6570 template, or replaces the one that is spelled the same. Where
   * several fit a URI, the first by spelling is asked; a resource of that very URI comes before all.
   */
  template(uriTemplate: string, options: TemplateOptions, read: ReadFunction): Removable {
    return this.#put(this.catalog.templates, uriTemplate, newTemplate(uriTemplate, options, read));
  }

  /** Adds a prompt, or replaces the one of that name. Throws if the name is not allowed or an argument is no string. */
  prompt<A extends Schema | undefined = undefined>(name: string, options: PromptOptions<A>, fn: PromptFunction<A>): Removable {
    return this.#put(this.catalog.prompts, name, newPrompt(name, options, fn));
  }

  /** Has fn propose values for an argument of a prompt. */
  completePrompt(prompt: string, argument: string, fn: CompleteFunction): void {
    this.catalog.change(() => this.catalog.completions.set(completionKey("prompt", prompt, argument), fn));
  }

  /** Has fn propose values for a variable of a resource template. */
  completeTemplate(uriTemplate: string, variable: string, fn: CompleteFunction): void {
    this.catalog.change(() => this.catalog.completions.set(completionKey("template", uriTemplate, variable), fn));
  }

  /** Tells those who watch a resource that it changed. The plugin has the option resourceUpdates. */
  resourceUpdated(uri: string): void {
    this.catalog.updated(uri);
  }

  /** Has fn called with all the URIs that somebody watches, whenever they change. */
  onSubscriptions(fn: (uris: string[]) => Awaitable<void>): void {
    this.subscribed = fn;
  }

  /** Declares that the plugin has a configuration, and what it does with it. Throws if the schema is not one of an object. */
  config<S extends Schema>(schema: S, options: ConfigOptions<Output<S>> = {}): Config<Output<S>> {
    const config = new ServedConfig(schema, options);
    this.served = config as unknown as ServedConfig<Schema>;
    return config;
  }

  /**
   * Sets the hook that decides which primitives are there for a caller. A hook can only narrow what the operator allows,
   * has a short deadline, and must be set before the plugin is served.
   */
  shouldRegister(decide: RegisterFunction, { cacheMs = 0 }: HookOptions = {}): void {
    this.registerHook = { decide, cacheMs };
  }

  /** Sets the hook that decides what a caller may see and use. What shouldRegister says about hooks holds here too. */
  authorize(decide: AuthorizeFunction, { cacheMs = 0 }: HookOptions = {}): void {
    this.authorizeHook = { decide, cacheMs };
  }

  /**
   * Is the whole main program of a plugin: serves the host that started the process, and ends the process when the host
   * says so or goes away. Started by hand, it prints what the program is.
   *
   * While it serves, what is printed to standard output is a line of the log.
   */
  main(): void {
    main(this);
  }

  #put<T>(map: Map<string, T>, key: string, served: T): Removable {
    this.catalog.change(() => map.set(key, served));
    return {
      // Not what took its place meanwhile.
      remove: () => {
        if (map.get(key) === served) {
          this.catalog.change(() => map.delete(key));
        }
      },
    };
  }
}
