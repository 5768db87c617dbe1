import assert from "node:assert/strict";
import { test } from "node:test";
import { Plugin, withJsonSchema, type Logger } from "@mcphost/sdk";
import { assertManifest, call, connect, manifest } from "@mcphost/sdk/testing";
import { z } from "zod";
import { newFixture } from "./fixture.js";

test("a value is text and structured content of the same bytes", async () => {
  const { plugin, greet } = newFixture();
  const outcome = await call(plugin, greet, { name: "Ada", times: 2 });
  assert.deepEqual(outcome.value, { text: "Hello, Ada! Hello, Ada!", times: 2 });
  assert.equal(outcome.text, '{"text":"Hello, Ada! Hello, Ada!","times":2}');
  const value: { text: string; times: number } = outcome.value; // and typed
  assert.equal(value.times, 2);
});

test("what a tool returns decides what the caller gets", async () => {
  const host = await connect(newFixture().plugin);
  const cases: { [tool: string]: [text: string, structured: unknown] } = {
    plain: ["just text", undefined],
    nothing: ["", undefined],
    anything: ['{"a":[1,"<é>"]}', { a: [1, "<é>"] }],
    promised: ["7", 7],
  };
  for (const [tool, [text, structured]] of Object.entries(cases)) {
    const outcome = await host.call(tool, {});
    assert.equal(outcome.text, text, tool);
    assert.deepEqual(outcome.structured, structured, tool);
    assert.equal(outcome.isError, false, tool);
  }
});

test("every type of content arrives", async () => {
  const { content } = await call(newFixture().plugin, "contents", {});
  assert.deepEqual(content, [
    { type: "text", text: "one" },
    { type: "image", data: "cG5n", mimeType: "image/png" },
    { type: "audio", data: "d2F2", mimeType: "audio/wav" },
    { type: "resource", resource: { uri: "mem:1", mimeType: "application/octet-stream", blob: "Ynl0ZXM=" } },
    { type: "resource", resource: { uri: "mem:2", mimeType: "text/plain", text: "two" } },
    { type: "resource_link", uri: "mem:3", name: "three", size: 3 },
    { type: "new", n: 1 },
    { type: "text", text: "hinted", annotations: { audience: ["user"], priority: 0.5 }, _meta: { k: "v" } },
  ]);
});

test("a whole result arrives whole", async () => {
  const outcome = await call(newFixture().plugin, "whole", {});
  assert.deepEqual([outcome.text, outcome.structured, outcome.isError, outcome.meta], ["bad", { code: 1 }, true, { m: 1 }]);
});

test("integers beyond 2^53 and dates pass", async () => {
  const { plugin, numbers } = newFixture();
  const outcome = await call(plugin, numbers, { big: 9007199254740993n, when: "2026-12-01T00:00:00.000Z" });
  assert.equal(outcome.text, '{"big":9007199254740994,"when":"2026-12-01T00:00:00.000Z"}');
  assert.equal((await call(newFixture().plugin, "echo", { value: 18446744073709551615n })).text, '{"value":18446744073709551615}');
});

test("arguments that do not fit are an error that names them", async () => {
  const host = await connect(newFixture().plugin);
  const cases: [given: { [name: string]: unknown }, message: RegExp][] = [
    [{}, /^invalid arguments: "name": /],
    [{ name: 7 }, /"name": .*string/],
    [{ name: "" }, /"name": /],
    [{ name: "Ada", times: 10 }, /"times": /],
    [{ name: "Ada", tiems: 1 }, /tiems/],
  ];
  for (const [given, message] of cases) {
    const outcome = await host.call("greet", given);
    assert.equal(outcome.isError, true);
    assert.match(outcome.text, message);
    assert.throws(() => outcome.value, { name: "ToolError", message });
  }
  assert.equal((await host.call("plain", { x: 1 })).text, 'invalid arguments: "x": is unknown');
});

test("a ToolError is told, an RpcError is one, and what nobody expected is kept back and logged", async () => {
  const lines: [string, object | undefined][] = [];
  const say = (message: string, fields?: object) => void lines.push([message, fields]);
  const logger: Logger = { debug: say, info: say, warn: say, error: say };
  const plugin = new Plugin("p", "1", { logger });
  plugin.tool("crash", {}, () => {
    throw new TypeError("the password is hunter2");
  });
  const crashed = await call(plugin, "crash", {});
  assert.equal(crashed.isError, true);
  const incident = /^internal error in tool crash \(incident ([A-Z2-7]{12})\)$/.exec(crashed.text)?.[1];
  assert.ok(incident, crashed.text);
  const [message, fields] = lines[0] ?? [];
  assert.equal(message, "handler failed");
  assert.match(JSON.stringify(fields), new RegExp(incident));
  assert.match(JSON.stringify(fields), /hunter2/);

  const host = await connect(newFixture().plugin);
  assert.equal((await host.call("refuse", {})).text, "no such city");
  await assert.rejects(host.call("rpc", {}), { name: "RpcError", code: -32602, message: "wrong", data: { field: "x" } });
  await assert.rejects(host.call("nowhere", {}), { code: -32602, message: 'unknown tool "nowhere"' });
});

test("what breaks its own schema, or has no JSON, is kept back", async () => {
  const host = await connect(newFixture().plugin);
  for (const tool of ["broken", "cycle", "crash"]) {
    const outcome = await host.call(tool, {});
    assert.match(outcome.text, new RegExp(`^internal error in tool ${tool} `));
  }
});

test("a result that is too large is an error that says so", async () => {
  const host = await connect(newFixture().plugin);
  assert.equal((await host.call("huge", { size: 15 << 20 })).text.length, 15 << 20);
  const outcome = await host.call("huge", { size: 17 << 20 });
  assert.match(outcome.text, /^the result is too large: 178\d+ bytes, 16711680 are allowed$/);
  assert.equal(outcome.isError, true);
});

test("progress grows and logs are those that were asked for", async () => {
  const outcome = await call(newFixture().plugin, "slow", { steps: 3 }, { logLevel: "info" });
  assert.deepEqual(
    outcome.progress.map(({ progress, total, message }) => [progress, total, message]),
    [1, 2, 3].map((i) => [i, 3, `step ${i}`]),
  );
  assert.deepEqual(outcome.logs, [1, 2, 3].map((step) => ({ level: "info", logger: "slow", data: { step } })));
});

test("a call knows who asks and what the host brought", async () => {
  const { plugin } = newFixture();
  const host = await connect(plugin, { secrets: { token: "s3" }, dataDir: "/data", handle: "h" });
  const { structured } = await host.call("who", {}, {
    principal: { subject: "ada", scopes: ["admin"] },
    client: { info: { name: "tester" }, capabilities: { elicitation: {} } },
    traceparent: "00-1",
    meta: { k: 1 },
  });
  assert.deepEqual(structured, {
    subject: "ada",
    admin: true,
    client: "tester",
    elicitation: true,
    telepathy: false,
    trace: "00-1",
    meta: { k: 1 },
    secret: "s3",
    dataDir: "/data",
    handle: "h",
    round: 0,
    version: "2026-07-28",
  });
});

test("tools come and go", async () => {
  const { plugin, greet } = newFixture();
  const host = await connect(plugin);
  plugin.tool("late", {}, () => "here");
  assert.equal((await host.call("late", {})).text, "here");
  const replaced = plugin.tool("late", {}, () => "again");
  assert.equal((await host.call("late", {})).text, "again");
  replaced.remove();
  greet.remove();
  greet.remove();
  await assert.rejects(host.call("late", {}), /unknown tool/);
  await assert.rejects(host.call("greet", {}), /unknown tool/);
});

test("who was replaced takes away nothing", async () => {
  const plugin = new Plugin("p", "1");
  const first = plugin.tool("a", {}, () => "first");
  plugin.tool("a", {}, () => "second");
  first.remove();
  assert.equal((await call(plugin, "a", {})).text, "second");
});

test("a tool that cannot be described is refused at once", () => {
  const plugin = new Plugin("p", "1");
  const fn = () => "";
  assert.throws(() => plugin.tool("a b", {}, fn), /"a b" is no name/);
  assert.throws(() => plugin.tool("a", { input: z.string() }, fn), /the input of a tool is an object/);
  assert.throws(() => plugin.tool("a", { input: z.object({ m: z.map(z.string(), z.string()) }) }, fn), /zod's map has no JSON Schema/);
  assert.throws(() => plugin.tool("a", { input: z.object({ d: z.date() }) }, fn), /zod's date has no JSON Schema/);
  const bare = { "~standard": { version: 1, vendor: "bare", validate: (value: unknown) => ({ value }) } } as const;
  assert.throws(() => plugin.tool("a", { input: bare }, fn), /this schema of bare does not know its JSON Schema/);
  plugin.tool("a", { input: withJsonSchema(bare, { type: "object" }) }, fn);
  assert.deepEqual((manifest(plugin).tools as object[])[0], { name: "a", inputSchema: { type: "object" } });
});

test("the manifest is the one that was reviewed", () => {
  assertManifest(newFixture().plugin, new URL("../test/manifest.json", import.meta.url));
});

test("a manifest that changed fails", () => {
  const { plugin } = newFixture();
  plugin.tool("new", {}, () => "");
  assert.throws(() => assertManifest(plugin, new URL("../test/manifest.json", import.meta.url)), /the manifest changed/);
  assert.throws(() => assertManifest(plugin, "/nowhere.json"), /UPDATE_MANIFEST=1/);
});
