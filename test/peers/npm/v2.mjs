// Drives mcphost with @modelcontextprotocol/client: v2.mjs TRANSPORT TARGET REVISION.
// A modern revision is negotiated, a legacy one asked for.
import assert from 'node:assert/strict';
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Events, answers, capabilities, drive, notifications, targets } from './common.mjs';

const { transport, target, revision } = targets();
const modern = revision >= '2026';
const events = new Events();
const client = new Client({ name: 'v2', version: '1' }, {
  capabilities,
  versionNegotiation: { mode: modern ? 'auto' : 'legacy' },
  ...(modern ? {} : { supportedProtocolVersions: [revision] }),
});
for (const [method, answer] of Object.entries(answers)) client.setRequestHandler(method, answer);
for (const method of notifications) client.setNotificationHandler(method, () => events.arrived(method));

await client.connect({
  stdio: () => new StdioClientTransport({ ...target, env: { ...process.env, ...target.env } }),
  http: () => new StreamableHTTPClientTransport(new URL(target)),
  sse: () => new SSEClientTransport(new URL(target)),
}[transport]());
assert.equal(client.getNegotiatedProtocolVersion(), revision);
assert.equal(client.getProtocolEra(), modern ? 'modern' : 'legacy');
assert.equal(client.getServerVersion().name, 'everything');

let subscription;
if (modern) {
  subscription = await client.listen({ toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ['test://watched-resource'] });
}
await drive(client, revision, (name, args = {}, onprogress) => client.callTool({ name, arguments: args }, { onprogress }), events);
await subscription?.close();
await client.close();
console.log('done', revision);
