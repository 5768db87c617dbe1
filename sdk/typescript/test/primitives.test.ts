import assert from "node:assert/strict";
import { test } from "node:test";
import { Plugin, type Diagnostic } from "@mcphost/sdk";
import { connect } from "@mcphost/sdk/testing";
import { z } from "zod";
import type { CatalogPart, WatchResponse } from "#src/gen/mcphost/plugin/v1/plugin.js";
import { Service } from "#src/service.js";
import { newFixture } from "./fixture.js";

test("resources and templates are read", async () => {
  const host = await connect(newFixture().plugin);
  assert.deepEqual(await host.read("mem:readme"), [{ uri: "mem:readme", mimeType: "text/plain", text: "read me" }]);
  assert.deepEqual(await host.read("mem:bytes"), [{ uri: "mem:bytes", blob: "AQID" }]);
  assert.equal((await host.read("mem:list")).length, 2);
  assert.deepEqual(await host.read("note://anna?lang=en"), [{ uri: "note://anna?lang=en", mimeType: "text/plain", text: "anna in en" }]);
  assert.equal((await host.read("note://anna"))[0]?.text, "anna in any");
});

test("a resource that is not there is not found, whichever way", async () => {
  const host = await connect(newFixture().plugin);
  for (const uri of ["mem:nowhere", "mem:gone", "note://none"]) {
    await assert.rejects(host.read(uri), { code: -32602, message: "resource not found", data: { uri } });
  }
});

test("prompts are filled in", async () => {
  const host = await connect(newFixture().plugin);
  assert.deepEqual(await host.prompt("review", { file: "a.ts" }), [
    { role: "user", content: { type: "text", text: "Review a.ts." } },
    { role: "assistant", content: { type: "text", text: "Fine." } },
  ]);
  assert.deepEqual(await host.prompt("hello"), [{ role: "user", content: { type: "text", text: "Say hello." } }]);
  await assert.rejects(host.prompt("review"), { code: -32602, message: /^invalid arguments: "file": / });
  await assert.rejects(host.prompt("nope"), { code: -32602, message: 'unknown prompt "nope"' });
  assert.throws(() => new Plugin("p", "1").prompt("p", { arguments: z.object({ n: z.int() }) }, () => ""), /argument "n" is no string/);
});

test("arguments are completed, a hundred at most", async () => {
  const host = await connect(newFixture().plugin);
  assert.deepEqual(await host.complete({ kind: "template", name: "note://{name}{?lang}" }, "name", "a"), ["anna"]);
  const many = await host.complete({ kind: "prompt", name: "review" }, "file", "", { tone: "kind" });
  assert.deepEqual([many.length, many[0]], [100, "kind0"]);
  assert.deepEqual(await host.complete({ kind: "prompt", name: "review" }, "tone", ""), []);
  await assert.rejects(host.complete({ kind: "prompt", name: "nope" }, "x", ""), { code: -32602 });
});

test("hooks narrow, and a broken one says no", async () => {
  const host = await connect(newFixture().plugin);
  const refs = ["greet", "wait", "crash"].map((name) => ({ kind: "tool" as const, name }));
  assert.deepEqual(await host.shouldRegister(refs), [true, false, false]);
  const greet = { kind: "tool" as const, name: "greet" };
  assert.deepEqual(await host.authorize(greet, { name: "Ada" }), { allow: true, reason: "" });
  assert.deepEqual(await host.authorize(greet, { name: "Mallory" }), { allow: false, reason: "not her" });
  assert.equal((await host.authorize(greet, {}, { principal: { subject: "nobody" } })).allow, false);
});

test("a configuration is checked by its schema and by its function", async () => {
  const host = await connect(newFixture().plugin);
  assert.deepEqual(await host.validateConfig({ greeting: "Hi" }), []);
  assert.deepEqual(await host.validateConfig({ greeting: "bad" }), ["/greeting: Unfriendly greeting: Say something kind."]);
  const wrong = await host.validateConfig({ greeting: 7, limits: { size: 0 } });
  assert.equal(wrong.length, 2);
  assert.match(wrong[0] as string, /^\/greeting: Invalid configuration: The attribute "greeting" /);
  assert.match(wrong[1] as string, /^\/limits\/size: /);
  assert.deepEqual(await host.validateConfig({ limits: {} }), ['/limits: Invalid configuration: The attribute "limits.size" is missing.']);
  assert.equal((await host.validateConfig({ typo: 1 })).length, 1);
});

test("a configuration is taken into use once, and a plugin without it waits", async () => {
  const { plugin } = newFixture();
  await assert.rejects(connect(plugin, { config: { greeting: "late" } }), /\/greeting: Too late: It is over\./);
  const host = await connect(plugin, { config: { greeting: "Hi" } });
  assert.equal((await host.call("greet", { name: "Ada" })).structured && true, true);
  const { plugin: fresh } = newFixture();
  const service = new Service(fresh);
  const request = { context: undefined, name: "plain", argumentsJson: Buffer.from("{}"), inputResponsesJson: {}, state: undefined };
  await assert.rejects(service.callTool(request, new AbortController().signal), /the plugin is not configured/);
  const setup = { handle: "h", dataDir: "", secrets: {}, configJson: Buffer.from("{}") };
  await service.configure(setup);
  await assert.rejects(service.configure(setup), /configured already/);
});

test("a plugin without a configuration takes none", async () => {
  const plugin = new Plugin("p", "1");
  const host = await connect(plugin);
  assert.deepEqual(await host.validateConfig({ x: 1 }), ['/x: Invalid configuration: The attribute "x" is unknown: the plugin takes no configuration.']);
});

test("warnings do not keep a plugin from its work", async () => {
  const { Diagnostic } = await import("@mcphost/sdk");
  const plugin = new Plugin("p", "1");
  const said: Diagnostic[] = [new Diagnostic("Old setting", "", "", { severity: "warning" })];
  const config = plugin.config(z.object({}), { start: () => said });
  assert.throws(() => config.value, /not configured yet/);
  const { diagnostics } = await new Service(plugin).configure({ handle: "h", dataDir: "", secrets: {}, configJson: Buffer.from("{}") });
  assert.deepEqual(diagnostics.map(({ summary, severity }) => [summary, severity]), [["Old setting", 2]]);
  assert.deepEqual(config.value, {});
});

test("a watcher gets the catalog, each change, and updates after what they are about", async () => {
  const { plugin } = newFixture();
  const service = new Service(plugin);
  const events: WatchResponse["event"][] = [];
  const controller = new AbortController();
  let wake = (): void => {};
  const watching = service.watch(async ({ event }) => {
    events.push(event);
    wake();
  }, controller.signal);
  const next = async (): Promise<WatchResponse["event"]> => {
    while (events.length === 0) {
      await new Promise<void>((resolve) => (wake = resolve));
    }
    return events.shift();
  };
  const first = await next();
  assert.ok(first?.$case === "catalog" && first.value.last);
  assert.equal(first.value.instructions, "Try everything.");
  const names = first.value.tools.map(({ name }) => name);
  assert.deepEqual(names, [...names].sort());
  plugin.resource("mem:new", { name: "new" }, () => "");
  plugin.tool("new", {}, () => "");
  plugin.resourceUpdated("mem:new");
  plugin.resourceUpdated("mem:new");
  const second = await next();
  assert.ok(second?.$case === "catalog");
  assert.equal(second.value.revision, first.value.revision + 2);
  assert.deepEqual(await next(), { $case: "resourceUpdated", value: { uri: "mem:new" } });
  controller.abort();
  await watching;
  assert.equal(events.length, 0);
});

test("a large catalog comes in parts", async () => {
  const plugin = new Plugin("p", "1");
  for (let i = 0; i < 30; i++) {
    plugin.tool(`t${i}`, { description: "x".repeat(100_000) }, () => "");
  }
  const parts: CatalogPart[] = [];
  const controller = new AbortController();
  await new Service(plugin).watch(async ({ event }) => {
    assert.ok(event?.$case === "catalog");
    parts.push(event.value);
    if (event.value.last) {
      controller.abort();
    }
  }, controller.signal);
  assert.deepEqual(parts.map(({ last }) => last), [false, false, true]);
  assert.equal(parts.flatMap(({ tools }) => tools).length, 30);
});

test("subscriptions reach the plugin", async () => {
  const plugin = new Plugin("p", "1");
  const seen: string[][] = [];
  plugin.onSubscriptions((uris) => void seen.push(uris));
  const service = new Service(plugin);
  await service.setSubscriptions(["a"]);
  assert.deepEqual(seen, [["a"]]);
  assert.equal(service.describe().capabilities?.resourceUpdates, true);
});
