import { randomBytes } from "node:crypto";
import { writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Server, ServerCredentials } from "@grpc/grpc-js";
import { byHand } from "./byhand.js";
import { newServer, Work } from "./grpc.js";
import { newIdentity } from "./identity.js";
import type { Plugin } from "./plugin.js";
import { Service } from "./service.js";
import { captureStdout } from "./stdout.js";

/** Tells a host from a person; it is no secret. */
const cookie = "b5d5e3f0-mcphost-plugin-v1";

/** What handlers get to end after the host said goodbye. The host waits 2 s before it kills. */
const cleanupMs = 1000;

/** What the last answers get to reach the host. */
const flushMs = 200;

/** How often a plugin looks whether its host is still there. */
const parentMs = 1000;

export function main(plugin: Plugin): void {
  if (process.env.MCPHOST_PLUGIN !== cookie) {
    process.exitCode = byHand(plugin, process.argv);
    return;
  }
  captureStdout(plugin.logger);
  process.on("uncaughtException", (error) => {
    plugin.logger.error("plugin crashed", { error });
    process.exit(1);
  });
  // A promise that somebody forgot is no reason to end the calls of others.
  process.on("unhandledRejection", (error) => plugin.logger.error("promise was rejected and nobody looked", { error }));
  serve(plugin).then(
    () => process.exit(0),
    (error: unknown) => {
      plugin.logger.error("plugin ended", { error });
      process.exit(1);
    },
  );
}

/** Serves as go-plugin's handshake wants it, until the host says goodbye or is gone and handlers had a second to end. */
async function serve(plugin: Plugin): Promise<void> {
  const identity = newIdentity(process.env.PLUGIN_CLIENT_CERT);
  const service = new Service(plugin);
  const work = new Work(service);
  let goodbye = (): void => {};
  const ended = new Promise<void>((resolve) => {
    goodbye = resolve;
  });
  const server = newServer(service, work, goodbye);
  const address = await listen(server, identity.credentials);
  watchHost(goodbye);
  handshake(address, identity.certificate);
  await ended;
  if ((await within(cleanupMs, work.end())) === late) {
    plugin.logger.warn("handlers did not end in time", { delay: `${cleanupMs / 1000}s` });
  }
  await within(flushMs, new Promise((resolve) => server.tryShutdown(resolve)));
  server.forceShutdown(); // which removes the socket
}

/** Listens where go-plugin looks for it, and returns network and address. */
async function listen(server: Server, credentials: ServerCredentials): Promise<string> {
  const bind = (target: string): Promise<number> =>
    new Promise((resolve, reject) => server.bindAsync(target, credentials, (error, port) => (error ? reject(error) : resolve(port))));
  if (process.platform === "win32") {
    return `tcp|127.0.0.1:${await bind("127.0.0.1:0")}`;
  }
  const path = join(process.env.PLUGIN_UNIX_SOCKET_DIR || tmpdir(), `plugin${randomBytes(4).toString("hex")}`);
  await bind(`unix:${path}`);
  return `unix|${path}`;
}

/** Writes the one line that the host waits for. */
function handshake(address: string, certificate: string): void {
  const line = ["1", "1", address, "grpc", certificate];
  if (process.env.PLUGIN_MULTIPLEX_GRPC) {
    line.push("true");
  }
  writeSync(1, `${line.join("|")}\n`);
}

/** Calls gone when the process is asked to end, or gets another parent: its host has died without a word. */
function watchHost(gone: () => void): void {
  process.on("SIGTERM", gone);
  process.on("SIGINT", () => {}); // of the terminal: for the host, which ends its plugins in order
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) {
      gone();
    }
  }, parentMs).unref();
}

const late = Symbol("late");

async function within<T>(ms: number, work: Promise<T>): Promise<T | typeof late> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<typeof late>((resolve) => {
    timer = setTimeout(resolve, ms, late);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}
