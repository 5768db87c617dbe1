/** The plugin as a process, called by gRPC as go-plugin calls it. */

import assert from "node:assert/strict";
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { credentials, Metadata, status, type ChannelCredentials } from "@grpc/grpc-js";
import { GRPCControllerClient } from "#src/gen/controller.js";
import { HealthClient } from "#src/gen/health.js";
import { PluginServiceClient, type CallToolRequest, type CallToolResponse, type CallToolStreamResponse, type WatchResponse } from "#src/gen/mcphost/plugin/v1/plugin.js";
import { selfSigned } from "#src/identity.js";

const main = fileURLToPath(new URL("fixture-main.js", import.meta.url));
const cookie = { MCPHOST_PLUGIN: "b5d5e3f0-mcphost-plugin-v1" };

class Process {
  readonly stdout: string[] = [];
  readonly log: { [key: string]: unknown }[] = [];
  readonly raw: string[] = [];
  readonly exit: Promise<number | null>;
  readonly first: Promise<string>;

  constructor(readonly child: ChildProcessByStdio<null, Readable, Readable>) {
    this.exit = once(child, "close").then(([code]) => code as number | null);
    const lines = createInterface(child.stdout);
    this.first = once(lines, "line").then(([line]) => line as string);
    lines.on("line", (line) => this.stdout.push(line));
    createInterface(child.stderr).on("line", (line) => (line.startsWith("{") ? this.log.push(JSON.parse(line)) : this.raw.push(line)));
  }

  /** Resolves with the first line of the log that has the message. */
  async logged(message: string): Promise<{ [key: string]: unknown }> {
    for (;;) {
      const line = this.log.find((one) => one["@message"] === message);
      if (line !== undefined) {
        return line;
      }
      await once(this.child.stderr, "data");
      await new Promise(setImmediate);
    }
  }
}

function start(t: TestContext, env: NodeJS.ProcessEnv, args: string[] = []): Process {
  const child = spawn(process.execPath, [main, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  t.after(() => child.kill("SIGKILL"));
  return new Process(child);
}

function socketFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "mcp"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

interface Connected {
  plugin: Process;
  folder: string;
  target: string;
  client: PluginServiceClient;
  callTool: (name: string, given?: object) => Promise<CallToolResponse>;
}

function request(name: string, given: object = {}): CallToolRequest {
  return { context: undefined, name, argumentsJson: Buffer.from(JSON.stringify(given)), inputResponsesJson: {}, state: undefined };
}

/** Starts the fixture, and configures it. */
async function connected(t: TestContext, configJson = "{}"): Promise<Connected> {
  const folder = socketFolder(t);
  const plugin = start(t, { ...cookie, PLUGIN_UNIX_SOCKET_DIR: folder });
  const [core, app, network, path, protocol, certificate] = (await plugin.first).split("|");
  assert.deepEqual([core, app, network, protocol, certificate], ["1", "1", "unix", "grpc", ""]);
  assert.deepEqual(readdirSync(folder), [(path as string).slice(folder.length + 1)]);
  const target = `unix:${path}`;
  const client = new PluginServiceClient(target, credentials.createInsecure(), { "grpc.max_receive_message_length": 16 << 20 });
  t.after(() => client.close());
  const configure = promisify(client.configure.bind(client)) as (request: object) => Promise<{ diagnostics: object[] }>;
  const { diagnostics } = await configure({ handle: "h", dataDir: "", secrets: {}, configJson: Buffer.from(configJson) });
  assert.deepEqual(diagnostics, []);
  const call = promisify(client.callTool.bind(client)) as (request: CallToolRequest) => Promise<CallToolResponse>;
  return { plugin, folder, target, client, callTool: (name, given) => call(request(name, given)) };
}

function textOf({ outcome }: CallToolResponse): string {
  assert.ok(outcome?.$case === "result", JSON.stringify(outcome));
  const [block] = outcome.value.content;
  return block?.kind?.$case === "text" ? block.kind.value : "";
}

async function shutdown(target: string, channel: ChannelCredentials = credentials.createInsecure()): Promise<void> {
  const controller = new GRPCControllerClient(target, channel);
  await (promisify(controller.shutdown.bind(controller)) as (request: object) => Promise<object>)({});
  controller.close();
}

test("a plugin answers, is healthy, and ends cleanly when the host says goodbye", async (t) => {
  const { plugin, folder, target, callTool } = await connected(t);
  assert.equal(textOf(await callTool("greet", { name: "Ada" })), '{"text":"Hello, Ada!","times":1}');
  const health = new HealthClient(target, credentials.createInsecure());
  const check = promisify(health.check.bind(health)) as (request: object) => Promise<{ status: number }>;
  assert.equal((await check({ service: "plugin" })).status, 1);
  await assert.rejects(check({ service: "other" }), { code: status.NOT_FOUND });
  health.close();
  const began = Date.now();
  await shutdown(target);
  assert.equal(await plugin.exit, 0);
  assert.ok(Date.now() - began < 1900, "the host kills after two seconds");
  assert.deepEqual(readdirSync(folder), [], "the socket is gone");
  assert.equal(plugin.stdout.length, 1);
});

test("with the host's certificate it speaks mutual TLS, and with nobody else", async (t) => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = new X509Certificate(selfSigned(privateKey, publicKey)).toString();
  const key = Buffer.from(privateKey.export({ type: "pkcs8", format: "pem" }));
  const plugin = start(t, { ...cookie, PLUGIN_UNIX_SOCKET_DIR: socketFolder(t), PLUGIN_CLIENT_CERT: pem });
  const [, , , path, , certificate] = (await plugin.first).split("|");
  assert.doesNotMatch(certificate as string, /=/);
  const theirs = Buffer.from(new X509Certificate(Buffer.from(certificate as string, "base64")).toString());
  const describe = async (channel: ChannelCredentials): Promise<string> => {
    const client = new PluginServiceClient(`unix:${path}`, channel, { "grpc.ssl_target_name_override": "localhost" });
    const ask = promisify((q: object, answer: (error: unknown, value: { name: string }) => void) =>
      client.describe(q as never, new Metadata(), { deadline: Date.now() + 3000 }, answer as never),
    );
    return ask({ hostVersion: "", protocolMinor: 0 }).then(({ name }) => name).finally(() => client.close());
  };
  assert.equal(await describe(credentials.createSsl(theirs, key, Buffer.from(pem))), "fixture");
  await assert.rejects(describe(credentials.createSsl(theirs)), "without a certificate");
  const other = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const forged = Buffer.from(new X509Certificate(selfSigned(other.privateKey, other.publicKey)).toString());
  await assert.rejects(describe(credentials.createSsl(theirs, Buffer.from(other.privateKey.export({ type: "pkcs8", format: "pem" })), forged)), "with another");
  await assert.rejects(describe(credentials.createInsecure()), "in the clear");
});

test("standard output holds the handshake and nothing else", async (t) => {
  const { plugin, target, callTool } = await connected(t);
  assert.equal(textOf(await callTool("print")), "quiet");
  assert.equal((await plugin.logged("printed 1"))["@level"], "debug");
  await shutdown(target);
  await plugin.exit;
  assert.equal(plugin.stdout.length, 1);
  assert.deepEqual(plugin.raw, ["written"]);
});

test("a forgotten promise is logged and ends nothing", async (t) => {
  const { plugin, callTool } = await connected(t);
  await callTool("forget");
  assert.match(String((await plugin.logged("promise was rejected and nobody looked")).error), /nobody looks/);
  assert.equal(textOf(await callTool("plain")), "just text");
});

test("what nobody expected is in the log as hclog's JSON", async (t) => {
  const { plugin, callTool } = await connected(t);
  const incident = /incident (\w+)/.exec(textOf(await callTool("crash")))?.[1];
  const line = await plugin.logged("handler failed");
  assert.deepEqual([line.incident, line["@level"], line["@module"], line.error], [incident, "error", "fixture", "the password is hunter2"]);
  assert.ok(!Number.isNaN(Date.parse(String(line["@timestamp"]))));
});

test("a cancelled call aborts its signal", async (t) => {
  const { plugin, client } = await connected(t);
  const failed = new Promise((resolve) => {
    const call = client.callTool(request("wait"), resolve);
    void plugin.logged("waiting").then(() => call.cancel());
  });
  assert.equal(((await failed) as { code: number }).code, status.CANCELLED);
  assert.equal((await plugin.logged("wait ended")).aborted, true);
});

test("a deadline that passes aborts the signal", async (t) => {
  const { plugin, client } = await connected(t);
  const failed = new Promise((resolve) => void client.callTool(request("wait"), new Metadata(), { deadline: Date.now() + 300 }, resolve));
  assert.equal(((await failed) as { code: number }).code, status.DEADLINE_EXCEEDED);
  assert.equal((await plugin.logged("wait ended")).aborted, true);
});

test("a goodbye ends calls that run, and streams that are open", async (t) => {
  const { plugin, target, client } = await connected(t);
  const watch = client.watch({});
  watch.on("error", () => {});
  await once(watch, "data");
  const failed = new Promise((resolve) => void client.callTool(request("wait"), resolve));
  await plugin.logged("waiting");
  await shutdown(target);
  assert.equal(await plugin.exit, 0);
  await failed;
  assert.equal((await plugin.logged("wait ended")).aborted, true);
});

test("a stream has progress and logs, and the outcome last", async (t) => {
  const { client } = await connected(t);
  const call = { ...request("slow", { steps: 5000 }), context: undefined };
  const context = { wantProgress: true, logLevel: "info", callId: "c", scopes: [] };
  const stream = client.callToolStream({ call: { ...call, context: { ...emptyContext, ...context } } });
  const events: CallToolStreamResponse["event"][] = [];
  for await (const message of stream) {
    events.push((message as CallToolStreamResponse).event);
  }
  assert.equal(events.filter((event) => event?.$case === "progress").length, 5000);
  assert.equal(events.filter((event) => event?.$case === "log").length, 5000);
  const last = events.at(-1);
  assert.ok(last?.$case === "outcome");
  assert.equal(textOf(last.value), "done");
});

const emptyContext = {
  callId: "",
  principal: undefined,
  protocolVersion: "",
  clientInfoJson: Buffer.alloc(0),
  session: "",
  round: 0,
  attempt: 0,
  wantProgress: false,
  logLevel: "",
  clientCapabilitiesJson: Buffer.alloc(0),
  traceparent: "",
  tracestate: "",
  metaJson: Buffer.alloc(0),
  endpoint: "",
  transport: "",
};

test("fifty calls at once are answered", async (t) => {
  const { callTool } = await connected(t);
  const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => callTool("greet", { name: `n${i}` })));
  answers.forEach((answer, i) => assert.match(textOf(answer), new RegExp(`Hello, n${i}!`)));
});

test("arguments and results of megabytes pass", async (t) => {
  const { callTool } = await connected(t);
  const value = "x".repeat(5 << 20);
  assert.equal(textOf(await callTool("echo", { value })), JSON.stringify({ value }));
});

test("a watcher sees the catalog", async (t) => {
  const { client } = await connected(t);
  const watch = client.watch({});
  watch.on("error", () => {});
  const [first] = (await once(watch, "data")) as [WatchResponse];
  assert.ok(first.event?.$case === "catalog");
  assert.ok(first.event.value.tools.some(({ name }) => name === "greet"));
  watch.cancel();
});

test("what the contract has and a plugin has not is unimplemented", async (t) => {
  const { client } = await connected(t);
  const list = promisify(client.listResources.bind(client)) as (request: object) => Promise<object>;
  await assert.rejects(list({ context: undefined, cursor: "", pageSize: 0 }), { code: status.UNIMPLEMENTED });
});

test("it ends when its host is gone, and on SIGTERM, and not on SIGINT", async (t) => {
  const folder = socketFolder(t);
  const host = spawn(
    process.execPath,
    ["-e", "const c = require('child_process').spawn(process.execPath, [process.argv[1]], { stdio: ['ignore', 'pipe', 'ignore'] }); c.stdout.once('data', () => console.log(c.pid)); setInterval(() => {}, 1e6)", main],
    { env: { ...cookie, PLUGIN_UNIX_SOCKET_DIR: folder }, stdio: ["ignore", "pipe", "inherit"] },
  );
  t.after(() => host.kill("SIGKILL"));
  const pid = Number(((await once(createInterface(host.stdout), "line")) as [string])[0]);
  t.after(() => alive(pid) && process.kill(pid, "SIGKILL"));
  host.kill("SIGKILL");
  while (readdirSync(folder).length > 0) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }

  const { plugin, callTool } = await connected(t);
  plugin.child.kill("SIGINT");
  assert.equal(textOf(await callTool("plain")), "just text");
  plugin.child.kill("SIGTERM");
  assert.equal(await plugin.exit, 0);
});

function alive(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}

test("a certificate that is none ends it with a word", async (t) => {
  const plugin = start(t, { ...cookie, PLUGIN_UNIX_SOCKET_DIR: socketFolder(t), PLUGIN_CLIENT_CERT: "nonsense" });
  assert.equal(await plugin.exit, 1);
  assert.match(String((await plugin.logged("plugin ended")).error), /PLUGIN_CLIENT_CERT holds no certificate/);
});

test("by hand it says what it is", async (t) => {
  for (const [args, code] of [[["--help"], 0], [[], 1]] as const) {
    const plugin = start(t, {}, [...args]);
    assert.equal(await plugin.exit, code);
    const said = (code === 0 ? plugin.stdout : plugin.raw).join("\n");
    assert.match(said, /^fixture 1\.2\.3 is a plugin of mcphost/);
    assert.match(said, /greet +Greets somebody\./);
    assert.match(said, /command = \["node", ".*fixture-main\.js"\]/);
    assert.match(said, /mcphost start fixture$/);
  }
  const plugin = start(t, {}, ["--version"]);
  assert.equal(await plugin.exit, 0);
  assert.deepEqual(plugin.stdout, ["fixture 1.2.3"]);
});
