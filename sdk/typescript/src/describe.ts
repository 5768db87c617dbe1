import { none } from "./content.js";
import type { Capabilities, DescribeResponse } from "./gen/mcphost/plugin/v1/plugin.js";
import type { Plugin } from "./plugin.js";

/** What Describe says about this package. */
const sdkName = "typescript/0.1.0";

/** Returns the static facts. */
export function describe(plugin: Plugin): DescribeResponse {
  const { name, version, options, served } = plugin;
  const { grants, secrets = {} } = options;
  return {
    name,
    version,
    sdk: sdkName,
    protocolMinor: 0,
    capabilities: capabilities(plugin),
    configSchemaJson: served?.schemaJson ?? none,
    documentationMarkdown: options.documentation ?? "",
    grants: grants && { readPaths: [], writePaths: [], networkHosts: [], environment: [], spawnProcesses: false, ...grants },
    secrets: Object.entries(secrets).map(([name, { description = "", required = false }]) => ({ name, description, required })),
  };
}

/** Says what the plugin can do with the primitives that it has now. */
export function capabilities({ catalog, options, subscribed, registerHook, authorizeHook }: Plugin): Capabilities {
  return {
    tools: true,
    resources: catalog.resources.size + catalog.templates.size > 0,
    resourceUpdates: options.resourceUpdates === true || subscribed !== undefined,
    prompts: catalog.prompts.size > 0,
    completions: catalog.completions.size > 0,
    catalogChanges: true,
    streaming: true,
    shouldRegister: registerHook !== undefined,
    authorize: authorizeHook !== undefined,
    reconfigure: false,
    maxConcurrentCalls: options.maxConcurrentCalls ?? 0,
    resourcePages: false,
    exclusive: options.exclusive ?? false,
  };
}
