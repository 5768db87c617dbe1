/**
 * What the author of a plugin in TypeScript sees: a tool is one typed function.
 *
 *     const plugin = new Plugin("hello", "1.0.0");
 *     plugin.tool("greet", { description: "Greets somebody.", input: z.object({ name: z.string() }) },
 *       ({ name }) => `Hello, ${name}!`);
 *     plugin.main();
 *
 * The JSON Schemas come from the declarations. What a function returns becomes text and structured content of the same
 * bytes; a ToolError becomes an error result that the model can read; anything else that is thrown becomes an error result
 * that tells nothing, and a line in the log. A function that needs an answer from the user asks with call.elicit and is
 * entered again when the answer is there.
 */
export { Call, type Client, type Principal, type Setup, type Trace } from "./call.js";
export type { CompleteFunction, Typing } from "./completion.js";
export { Diagnostic, type Complaints, type Config, type ConfigOptions } from "./config.js";
export {
  audio,
  blob,
  Content,
  embedded,
  image,
  link,
  rawContent,
  text,
  type Annotations,
  type Icon,
  type ResourceBody,
  type ResourceOptions,
} from "./content.js";
export type { Answer, Root, SampleMessage, SampleRequest, SampleResult } from "./elicit.js";
export { internalError, invalidParams, notFound, RpcError, ToolError } from "./errors.js";
export type { Level } from "./events.js";
export type { AuthorizeFunction, HookOptions, Ref, RegisterFunction, Verdict } from "./hooks.js";
export { InputRequired, type InputRequest, type InputRequiredParts } from "./input.js";
export type { JsonObject } from "./json.js";
export type { Fields, Logger } from "./logger.js";
export { Plugin, type Grants, type PluginOptions, type SecretOptions } from "./plugin.js";
export { assistant, user, type Message, type PromptFunction, type PromptOptions, type PromptResult } from "./prompt.js";
export { ReadResult, type Read, type ReadFunction, type ReadParts, type Removable, type TemplateOptions } from "./resource.js";
export { Result, type ResultParts } from "./result.js";
export { jsonSchema, withJsonSchema, type Schema } from "./schema.js";
export type { Awaitable, Tool, ToolFunction, ToolOptions } from "./tool.js";
