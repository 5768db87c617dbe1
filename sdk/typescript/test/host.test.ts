/** The plugin behind a real mcphost, in the strict sandbox. */

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { before, test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { JsonObject } from "#src/json.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const mcphost = process.env.MCPHOST ?? join(root, "../../bin/mcphost");

before(() => assert.ok(existsSync(mcphost), `${mcphost} is not there: run make build`));

/** Writes a configuration, and returns its path. */
function configured(t: TestContext, { mtls = false, config = "" } = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "mcphost-ts"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "config.hcl");
  writeFileSync(
    file,
    `plugin "fixture" {
  command = ["node", ${JSON.stringify(join(root, ".test/fixture-main.js"))}]
  files   = [${JSON.stringify(root)}]
  mtls    = ${mtls}
  secrets = { token = "s3" }
  config {
    ${config}
  }
  sandbox { mode = "strict" }
}
local "demo" { plugins = ["fixture"] }
`,
  );
  return file;
}

/** A client of the revision 2026-07-28 on standard input and output. */
class Client {
  #id = 0;
  readonly notifications: JsonObject[] = [];
  readonly #waiting = new Map<unknown, (answer: JsonObject) => void>();
  readonly #child;

  constructor(t: TestContext, file: string) {
    this.#child = spawn(mcphost, ["start", "demo", "-c", file], { stdio: ["pipe", "pipe", "inherit"] });
    t.after(async () => {
      this.#child.stdin.end();
      await once(this.#child, "exit");
    });
    createInterface(this.#child.stdout).on("line", (line) => {
      const message = JSON.parse(line) as JsonObject;
      const answer = this.#waiting.get(message.id);
      if (answer === undefined) {
        this.notifications.push(message);
      } else {
        answer(message);
      }
    });
  }

  async ask(method: string, params: JsonObject = {}, meta: JsonObject = {}): Promise<JsonObject> {
    const id = ++this.#id;
    const answer = new Promise<JsonObject>((resolve) => this.#waiting.set(id, resolve));
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
      ...meta,
    };
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta } })}\n`);
    const { result, error } = await answer;
    assert.equal(error, undefined, JSON.stringify(error));
    return result as JsonObject;
  }
}

for (const mtls of [false, true]) {
  test(`mcphost call reaches a tool ${mtls ? "with" : "without"} mutual TLS`, async (t) => {
    const file = configured(t, { mtls, config: 'greeting = "Servus"' });
    const { stdout } = await promisify(execFile)(mcphost, ["call", "demo", "greet", "name=Ada", "-c", file]);
    assert.equal(stdout, '{"text":"Servus, Ada!","times":1}\n');
  });
}

test("the catalog arrives as it was declared", async (t) => {
  const client = new Client(t, configured(t));
  const { tools } = (await client.ask("tools/list")) as { tools: JsonObject[] };
  const { inputSchema, outputSchema, annotations } = tools.find(({ name }) => name === "greet") as JsonObject;
  assert.deepEqual(inputSchema, {
    type: "object",
    properties: {
      name: { type: "string", minLength: 1, description: "whom to greet" },
      times: { type: "integer", maximum: 9, default: 1 },
    },
    required: ["name"],
    additionalProperties: false,
  });
  assert.deepEqual((outputSchema as JsonObject).required, ["text", "times"]);
  assert.deepEqual(annotations, { readOnlyHint: true, idempotentHint: true });
  const { prompts } = (await client.ask("prompts/list")) as { prompts: JsonObject[] };
  assert.deepEqual(prompts.map(({ name }) => name), ["hello", "review"]);
  const read = (await client.ask("resources/read", { uri: "note://anna?lang=en" })) as { contents: JsonObject[] };
  assert.equal(read.contents[0]?.text, "anna in en");
});

test("a tool that asks is answered in two rounds", async (t) => {
  const client = new Client(t, configured(t));
  const params = { name: "order", arguments: {} };
  const first = await client.ask("tools/call", params);
  assert.equal(first.resultType, "input_required");
  assert.deepEqual(Object.keys(first.inputRequests as object), ["dish", "size"]);
  const answers = { dish: { action: "accept", content: { dish: "pie" } }, size: { action: "cancel" } };
  const second = await client.ask("tools/call", { ...params, inputResponses: answers, requestState: first.requestState });
  assert.deepEqual(Object.keys(second.inputRequests as object), ["drink"]);
  const drink = { drink: { action: "accept", content: { drink: "tea" } } };
  const third = await client.ask("tools/call", { ...params, inputResponses: drink, requestState: second.requestState });
  assert.deepEqual(third.structuredContent, { draft: 1, dish: "pie", drink: "tea" });
});

test("progress and logs reach a client that wants them", async (t) => {
  const client = new Client(t, configured(t));
  const meta = { progressToken: "p", "io.modelcontextprotocol/logLevel": "info" };
  const { content } = await client.ask("tools/call", { name: "slow", arguments: { steps: 3 } }, meta);
  assert.deepEqual(content, [{ type: "text", text: "done" }]);
  const methods = client.notifications.map(({ method }) => method);
  assert.equal(methods.filter((method) => method === "notifications/message").length, 3);
  assert.ok(methods.includes("notifications/progress"));
});

test("an incident and a refusal reach the client as they should", async (t) => {
  const client = new Client(t, configured(t));
  const refused = await client.ask("tools/call", { name: "refuse", arguments: {} });
  assert.deepEqual([refused.isError, refused.content], [true, [{ type: "text", text: "no such city" }]]);
  const { content } = (await client.ask("tools/call", { name: "broken", arguments: {} })) as { content: JsonObject[] };
  assert.match(String(content[0]?.text), /^internal error in tool broken \(incident \w+\)$/);
});

test("a bad configuration is a complaint at its line", async (t) => {
  const file = configured(t, { config: 'greeting = "bad"' });
  const { stderr } = await promisify(execFile)(mcphost, ["validate", "-c", file]).then(
    () => assert.fail("it was accepted"),
    (error: { stderr: string; stdout: string }) => ({ stderr: error.stderr + error.stdout }),
  );
  assert.match(stderr, /Unfriendly greeting/);
  assert.match(stderr, /greeting = "bad"/);
});
