import assert from "node:assert/strict";
import { test } from "node:test";
import { Plugin, InputRequired } from "@mcphost/sdk";
import { accept, call, cancel, connect, decline } from "@mcphost/sdk/testing";
import { CallToolRequest } from "#src/gen/mcphost/plugin/v1/plugin.js";
import { Service } from "#src/service.js";
import { newFixture } from "./fixture.js";

const answers = { dish: accept({ dish: "pie" }), size: accept({ size: 2 }), drink: accept({ drink: "tea" }) };

test("questions are asked in rounds, and what is done once is not done twice", async () => {
  const { plugin, order } = newFixture();
  const host = await connect(plugin);
  const outcome = await host.call(order, {}, { answers });
  assert.deepEqual(outcome.value, { draft: 1, dish: "pie", drink: "tea" });
  assert.deepEqual(outcome.asked, ["dish", "size", "drink"]);
  assert.equal((await host.call(order, {}, { answers })).value.draft, 2);
});

test("a user may decline or cancel", async () => {
  const { plugin, order } = newFixture();
  const host = await connect(plugin);
  assert.equal((await host.call(order, {}, { answers: { ...answers, dish: decline() } })).text, "no order: decline");
  assert.equal((await host.call(order, {}, { answers: { ...answers, drink: cancel() } })).value.drink, "water");
});

test("a question without an answer fails the test that calls", async () => {
  await assert.rejects(call(newFixture().plugin, "swallow", {}), /question "name" has no answer: Who are you\?/);
});

test("a question that a handler swallowed is asked all the same", async () => {
  const outcome = await call(newFixture().plugin, "swallow", {}, { answers: { name: accept({ name: "Ada" }) } });
  assert.equal(outcome.text, "Ada");
});

test("two different questions of one key are the plugin's own mistake", async () => {
  assert.match((await call(newFixture().plugin, "clash", {})).text, /^internal error in tool clash/);
});

test("an answer that does not fit is asked for again", async () => {
  const { plugin } = newFixture();
  const service = new Service(plugin);
  await service.configure({ handle: "h", dataDir: "", secrets: {}, configJson: Buffer.from("{}") });
  const round = async (inputResponses: object, state?: Buffer) => {
    const inputResponsesJson = Object.fromEntries(Object.entries(inputResponses).map(([key, answer]) => [key, Buffer.from(JSON.stringify(answer))]));
    const request = CallToolRequest.fromPartial({ name: "order", inputResponsesJson, state });
    return (await service.callTool(request, new AbortController().signal)).outcome;
  };
  const first = await round({});
  assert.ok(first?.$case === "inputRequired");
  assert.deepEqual(
    first.value.requests.map(({ key, method, paramsJson }) => [key, method, JSON.parse(paramsJson.toString())]),
    [
      [
        "dish",
        "elicitation/create",
        {
          mode: "form",
          message: "What would you like to eat?",
          requestedSchema: { type: "object", properties: { dish: { type: "string", enum: ["soup", "pie"] } }, required: ["dish"] },
        },
      ],
      ["size", "elicitation/create", { mode: "form", message: "How hungry are you?", requestedSchema: { type: "object", properties: { size: { type: "integer" } } } }],
    ],
  );
  const second = await round({ dish: accept({ dish: "stone" }), size: { action: "accept", content: { size: 3 } } }, first.value.state);
  assert.ok(second?.$case === "inputRequired");
  assert.deepEqual(second.value.requests.map(({ key }) => key), ["dish"]);
  const third = await round({ dish: { action: "shrug" } }, second.value.state);
  assert.ok(third?.$case === "inputRequired");
  const fourth = await round({ dish: accept({ dish: "soup" }), drink: accept({ drink: "too early" }) }, third.value.state);
  assert.ok(fourth?.$case === "result", "an answer that came early counts in its round");
  assert.equal(fourth.value.structuredJson.toString(), '{"draft":1,"dish":"soup","drink":"too early"}');
});

test("the client's model, its folders and pages are asked for alike", async () => {
  const outcome = await call(newFixture().plugin, "client", {}, {
    answers: {
      model: { role: "assistant", model: "m", stopReason: "endTurn", content: [{ type: "text", text: "Ho" }, { type: "text", text: "!" }] },
      folders: { roots: [{ uri: "file:///a", name: "a" }] },
      pay: { action: "accept" },
    },
  });
  assert.deepEqual(outcome.structured, { said: "Ho!", folders: [{ uri: "file:///a", name: "a" }], agreed: "accept" });
});

test("once keeps what has no JSON value, and no error", async () => {
  const plugin = new Plugin("p", "1");
  let runs = 0;
  let failures = 0;
  plugin.tool("t", {}, async (_, c) => {
    const nothing = await c.once("nothing", () => {
      runs++;
    });
    const [a, b] = await Promise.all([c.once("same", () => ++runs), c.once("same", () => ++runs)]);
    await c.once("fails", () => Promise.reject(new Error(`${++failures}`))).catch(() => {});
    await c.ask({ key: "q", method: "roots/list" });
    return { nothing: nothing === undefined, same: a === b };
  });
  const outcome = await call(plugin, "t", {}, { answers: { q: {} } });
  assert.deepEqual(outcome.structured, { nothing: true, same: true });
  assert.deepEqual([runs, failures], [2, 2]);
});

test("a handler may suspend itself by hand", async () => {
  const plugin = new Plugin("p", "1");
  plugin.tool("t", {}, (_, c) => {
    if (c.state === undefined) {
      throw new InputRequired({ requests: [{ key: "q", method: "roots/list" }], state: Buffer.from("not JSON"), singleUse: true });
    }
    return { state: Buffer.from(c.state).toString(), answer: c.inputResponses.q };
  });
  const outcome = await call(plugin, "t", {}, { answers: { q: { roots: [] } } });
  assert.deepEqual(outcome.structured, { state: "not JSON", answer: { roots: [] } });
});
