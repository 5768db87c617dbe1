/** A plugin that has something of everything. */

import { setTimeout as sleep } from "node:timers/promises";
import {
  assistant,
  audio,
  blob,
  Diagnostic,
  embedded,
  image,
  jsonSchema,
  link,
  notFound,
  Plugin,
  rawContent,
  ReadResult,
  Result,
  RpcError,
  text,
  ToolError,
  user,
} from "@mcphost/sdk";
import { z } from "zod";

export function newFixture() {
  const plugin = new Plugin("fixture", "1.2.3", {
    instructions: "Try everything.",
    documentation: "# Fixture",
    grants: { networkHosts: ["api.example.com:443"] },
    secrets: { token: { description: "opens the door", required: false } },
    resourceUpdates: true,
  });

  const config = plugin.config(
    z.strictObject({
      greeting: z.string().default("Hello").describe("how to greet"),
      root: z.string().optional().meta({ "x-mcphost-path": true }),
      limits: z.object({ size: z.int().min(1) }).optional(),
    }),
    {
      validate: ({ greeting }) => (greeting === "bad" ? new Diagnostic("Unfriendly greeting", "Say something kind.", "/greeting") : undefined),
      start: ({ greeting }) => {
        if (greeting === "late") {
          throw new Diagnostic("Too late", "It is over.", "/greeting");
        }
      },
    },
  );

  const greet = plugin.tool(
    "greet",
    {
      title: "Greet",
      description: "Greets somebody.",
      input: z.strictObject({ name: z.string().min(1).describe("whom to greet"), times: z.int().max(9).default(1) }),
      output: z.object({ text: z.string(), times: z.int() }),
      readOnly: true,
      idempotent: true,
      timeoutMs: 1500,
    },
    ({ name, times }) => ({ text: Array(times).fill(`${config.value.greeting}, ${name}!`).join(" "), times, more: "stripped" }),
  );

  const numbers = plugin.tool(
    "numbers",
    { input: z.strictObject({ big: z.coerce.bigint(), when: z.coerce.date() }), output: z.object({ big: z.bigint(), when: z.date() }) },
    ({ big, when }) => ({ big: big + 1n, when }),
  );

  plugin.tool("echo", { input: jsonSchema({ type: "object", properties: { value: {} } }) }, ({ value }) => new Result({ structured: { value } }));
  plugin.tool("plain", {}, () => "just text");
  plugin.tool("nothing", {}, () => undefined);
  plugin.tool("anything", {}, () => ({ a: [1, "<é>"] }));
  plugin.tool("promised", {}, async () => 7);
  plugin.tool("contents", {}, () => [
    text("one"),
    image(Buffer.from("png"), "image/png"),
    audio(Buffer.from("wav"), "audio/wav"),
    blob("mem:1", Buffer.from("bytes")),
    embedded({ uri: "mem:2", mimeType: "text/plain", text: "two" }),
    link("mem:3", { name: "three", size: 3 }),
    rawContent({ type: "new", n: 1 }),
    text("hinted").annotate({ audience: ["user"], priority: 0.5 }, { k: "v" }),
  ]);
  plugin.tool("whole", {}, () => new Result({ content: [text("bad")], structured: { code: 1 }, isError: true, meta: { m: 1 } }));
  plugin.tool("refuse", {}, () => {
    throw new ToolError("no such city");
  });
  plugin.tool("rpc", {}, () => {
    throw new RpcError(-32602, "wrong", { field: "x" });
  });
  plugin.tool("crash", {}, async () => {
    throw new TypeError("the password is hunter2");
  });
  plugin.tool("broken", { output: z.object({ n: z.number() }) }, () => ({ n: "no number" }) as never);
  plugin.tool("cycle", {}, () => {
    const a: { self?: unknown } = {};
    a.self = a;
    return a;
  });
  plugin.tool("huge", { input: z.strictObject({ size: z.int() }) }, ({ size }) => "x".repeat(size));
  plugin.tool("print", {}, () => {
    console.log("printed %d", 1);
    process.stdout.write("written\n");
    return "quiet";
  });
  plugin.tool("forget", {}, () => {
    void Promise.reject(new Error("nobody looks"));
    return "forgotten";
  });
  plugin.tool("slow", { input: z.strictObject({ steps: z.int() }) }, async ({ steps }, call) => {
    for (let i = 1; i <= steps; i++) {
      await call.progress(i, steps, `step ${i}`);
      await call.log("info", { step: i }, "slow");
    }
    await call.progress(1);
    await call.log("debug", "not wanted");
    return "done";
  });
  plugin.tool("wait", {}, async (_, call) => {
    call.logger.info("waiting");
    await sleep(60_000, undefined, { signal: call.signal }).catch(() => {});
    call.logger.info("wait ended", { aborted: call.signal.aborted });
    return "over";
  });
  plugin.tool("who", {}, (_, call) => ({
    subject: call.principal.subject,
    admin: call.principal.hasScope("admin"),
    client: call.client.name,
    elicitation: call.supports("elicitation"),
    telepathy: call.supports("telepathy"),
    trace: call.trace.traceparent,
    meta: call.meta,
    secret: call.secret("token"),
    none: call.secret("toString"),
    dataDir: call.dataDir,
    handle: call.handle,
    round: call.round,
    version: call.protocolVersion,
  }));

  let drafts = 0;
  const order = plugin.tool("order", { output: z.object({ draft: z.int(), dish: z.string(), drink: z.string() }) }, async (_, call) => {
    const draft = await call.once("draft", () => ++drafts);
    const [dish, size] = await Promise.all([
      call.elicit("dish", "What would you like to eat?", z.object({ dish: z.enum(["soup", "pie"]) })),
      call.elicit("size", "How hungry are you?", z.object({ size: z.int().nullable().optional() })),
    ]);
    if (dish.action !== "accept") {
      throw new ToolError(`no order: ${dish.action}`);
    }
    const drink = await call.elicit("drink", `What goes with ${size.value?.size ?? 1} ${dish.value.dish}?`, z.object({ drink: z.string() }));
    return { draft, dish: dish.value.dish, drink: drink.value?.drink ?? "water" };
  });
  plugin.tool("swallow", {}, async (_, call) => {
    try {
      const { value } = await call.elicit("name", "Who are you?", z.object({ name: z.string() }));
      return value?.name;
    } catch {
      return "swallowed";
    }
  });
  plugin.tool("clash", {}, async (_, call) => {
    await Promise.all([call.elicit("q", "One?", z.object({})), call.elicit("q", "Two?", z.object({}))]);
  });
  plugin.tool("client", {}, async (_, call) => {
    const [said, folders, agreed] = await Promise.all([
      call.sample("model", { messages: [{ role: "user", content: { type: "text", text: "Hi" } }], maxTokens: 10 }),
      call.roots("folders"),
      call.elicitUrl("pay", "Pay here", "https://pay.example.com"),
    ]);
    return { said: said.text, folders, agreed };
  });

  plugin.resource("mem:readme", { name: "readme", mimeType: "text/plain" }, () => "read me");
  plugin.resource("mem:bytes", { name: "bytes" }, () => new Uint8Array([1, 2, 3]));
  plugin.resource("mem:gone", { name: "gone" }, () => {
    throw Object.assign(new Error("ENOENT: /secret/path"), { code: "ENOENT" });
  });
  plugin.resource("mem:list", { name: "list" }, ({ uri }) => new ReadResult({ contents: [{ uri, text: "1" }, { uri: `${uri}#2`, text: "2" }], ttlMs: 1500, public: true }));
  plugin.template("note://{name}{?lang}", { name: "note", mimeType: "text/plain" }, ({ variables }) =>
    variables.name === "none" ? undefined : `${variables.name} in ${variables.lang || "any"}`,
  );
  plugin.completeTemplate("note://{name}{?lang}", "name", ({ value }) => ["anna", "bert"].filter((name) => name.startsWith(value)));

  plugin.prompt(
    "review",
    { description: "Reviews.", arguments: z.object({ file: z.string().describe("what to review"), tone: z.enum(["kind", "strict"]).optional() }) },
    ({ file, tone }) => [user(`Review ${file}.`), assistant(tone ?? "Fine.")],
  );
  plugin.prompt("hello", {}, () => "Say hello.");
  plugin.completePrompt("review", "file", ({ others }) => Array.from({ length: 120 }, (_, i) => `${others.tone ?? "any"}${i}`));

  plugin.shouldRegister(({ name }) => {
    if (name === "crash") {
      throw new Error("hook is broken");
    }
    return name !== "wait";
  });
  plugin.authorize(({ kind, name }, call, given) => {
    if (kind === "tool" && name === "greet" && given?.name === "Mallory") {
      return { allow: false, reason: "not her" };
    }
    return call.principal.subject !== "nobody";
  });

  plugin.tool("missing", {}, () => {
    throw notFound("mem:nowhere");
  });
  return { plugin, greet, numbers, order };
}
