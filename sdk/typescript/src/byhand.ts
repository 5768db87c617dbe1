import { existsSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { sorted, type Catalog } from "./catalog.js";
import { isObject, parse } from "./json.js";
import type { Plugin } from "./plugin.js";

/** Answers a person who started the plugin, and returns the exit status: only who asked for help got what they wanted. */
export function byHand(plugin: Plugin, argv: string[]): number {
  const script = resolve(argv[1] ?? "plugin.js");
  if (argv.slice(2).some((arg) => ["--help", "-help", "-h", "help"].includes(arg))) {
    process.stdout.write(introduction(plugin, script));
    return 0;
  }
  if (argv.slice(2).includes("--version")) {
    process.stdout.write(`${plugin.name} ${plugin.version}\n`);
    return 0;
  }
  process.stderr.write(introduction(plugin, script));
  return 1;
}

/** Says what the plugin is and what to type instead. */
function introduction(plugin: Plugin, script: string): string {
  const { name, version, catalog } = plugin;
  const handle = name.replace(/[^A-Za-z0-9_.-]+/g, "-");
  const folder = packageOf(script);
  const files = folder === undefined ? "" : `    files   = [${JSON.stringify(folder)}]\n`;
  return `${name} ${version} is a plugin of mcphost: a host starts it, not a person.
${primitives(catalog)}
To use it, put this into config.hcl:

  local ${JSON.stringify(handle)} {
    command = ["node", ${JSON.stringify(script)}]
${files}${exampleConfig(plugin)}  }

and let your MCP client run:

  mcphost start ${handle}
`;
}

/** Returns the nearest folder with a package.json: what the sandbox must let the plugin read. */
function packageOf(script: string): string | undefined {
  for (let folder = dirname(existsSync(script) ? realpathSync(script) : script); ; folder = dirname(folder)) {
    if (existsSync(join(folder, "package.json"))) {
      return folder;
    }
    if (folder === dirname(folder)) {
      return undefined;
    }
  }
}

function primitives(catalog: Catalog): string {
  const { tools, resources, templates, prompts } = catalog;
  return [list("Tools", tools), list("Resources", resources), list("Resource templates", templates), list("Prompts", prompts)].join("");
}

/** Returns names with the first line of what they are. */
function list(title: string, served: Map<string, { definition: { description: string } }>): string {
  if (served.size === 0) {
    return "";
  }
  const names = sorted(served);
  const width = Math.max(...names.map((name) => name.length));
  const lines = names.map((name) => `  ${name.padEnd(width)}  ${served.get(name)?.definition.description.split("\n")[0] ?? ""}`.trimEnd());
  return `\n${title}:\n${lines.join("\n")}\n`;
}

/** Returns the author's example, or else a config block with the attributes that must be there. */
function exampleConfig({ options, served }: Plugin): string {
  if (options.example !== undefined) {
    return `    ${options.example.trim().replaceAll("\n", "\n    ")}\n`;
  }
  const schema = served === undefined ? undefined : parse(served.schemaJson);
  if (!isObject(schema) || !Array.isArray(schema.required) || schema.required.length === 0) {
    return "";
  }
  const values: { [type: string]: string } = { string: '"..."', integer: "0", number: "0", boolean: "false", array: "[]" };
  const lines = schema.required.map((name: string) => {
    const property = isObject(schema.properties) && isObject(schema.properties[name]) ? schema.properties[name] : {};
    const value = values[String(property.type)] ?? "{}";
    return `      ${name} = ${value}${property.description === undefined ? "" : ` # ${property.description}`}`;
  });
  return `    config {\n${lines.join("\n")}\n    }\n`;
}
