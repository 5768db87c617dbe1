// Drives mcphost with @modelcontextprotocol/sdk, which knows legacy revisions
// alone and asks for the newest: v1.mjs TRANSPORT TARGET REVISION.
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { Events, answers, capabilities, drive, targets } from './common.mjs';

const { transport, target, revision } = targets();
const events = new Events();
const client = new Client({ name: 'v1', version: '1' }, { capabilities });
client.setRequestHandler(types.ElicitRequestSchema, answers['elicitation/create']);
client.setRequestHandler(types.CreateMessageRequestSchema, answers['sampling/createMessage']);
client.setRequestHandler(types.ListRootsRequestSchema, answers['roots/list']);
for (const schema of [
  types.LoggingMessageNotificationSchema, types.ToolListChangedNotificationSchema,
  types.PromptListChangedNotificationSchema, types.ResourceUpdatedNotificationSchema,
]) client.setNotificationHandler(schema, n => events.arrived(n.method));

const channel = {
  stdio: () => new StdioClientTransport({ ...target, env: { ...process.env, ...target.env } }),
  http: () => new StreamableHTTPClientTransport(new URL(target)),
  sse: () => new SSEClientTransport(new URL(target)),
}[transport]();
await client.connect(channel);
if (transport === 'http') assert.equal(channel.protocolVersion, revision);
assert.equal(client.getServerVersion().name, 'everything');
await drive(client, revision, (name, args = {}, onprogress) => client.callTool({ name, arguments: args }, undefined, { onprogress }), events);
if (transport === 'http') await channel.terminateSession();
await client.close();
console.log('done', revision);
