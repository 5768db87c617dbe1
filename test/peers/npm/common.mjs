// What both TypeScript clients do with the fixture. A client is given as a set
// of functions, because the two differ in how they are asked.
import assert from 'node:assert/strict';

export const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };

export const answers = {
  'elicitation/create': () => ({ action: 'accept', content: { name: 'Ada', username: 'ada', ok: true, color: 'red' } }),
  'sampling/createMessage': () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: 'said the model' } }),
  'roots/list': () => ({ roots: [{ uri: 'file:///tmp', name: 'tmp' }] }),
};

export function targets() {
  const [transport, target, revision] = process.argv.slice(2);
  return { transport, target: JSON.parse(target), revision };
}

// Events remembers what arrived, so that waiting for it cannot come too late.
export class Events {
  seen = new Set();
  waiting = new Map();
  arrived(name) {
    this.seen.add(name);
    this.waiting.get(name)?.();
  }
  async arrives(name) {
    if (!this.seen.has(name)) await new Promise(resolve => this.waiting.set(name, resolve));
  }
}

const texts = result => result.content.filter(c => c.type === 'text').map(c => c.text).join('\n');

export async function drive(client, revision, call, events) {
  const { tools } = await client.listTools();
  assert.ok(tools.length >= 20, `${tools.length} tools`);
  const schema = tools.find(t => t.name === 'json_schema_2020_12_tool').inputSchema;
  assert.equal(schema.$defs.address.$anchor, 'addressDef');
  assert.equal((await client.listResources()).resources.length, 3);
  assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 1);
  assert.ok((await client.listPrompts()).prompts.length >= 5);

  assert.match(texts(await call('test_simple_text')), /simple text/);
  assert.match(texts(await call('test_x_mcp_header', { region: ' nørd=', level: 3 })), /region= nørd=/);
  assert.equal((await call('test_error_handling')).isError, true);
  assert.equal((await call('test_image_content')).content[0].type, 'image');
  // 2024-11-05 knows no audio; it gets a resource.
  assert.equal((await call('test_audio_content')).content[0].type, revision < '2025' ? 'resource' : 'audio');
  assert.equal((await call('test_embedded_resource')).content[0].type, 'resource');

  const read = await client.readResource({ uri: 'test://template/7/data' });
  assert.match(read.contents[0].text, /Data for ID: 7/);
  await assert.rejects(client.readResource({ uri: 'test://none' }));
  const prompt = await client.getPrompt({ name: 'test_prompt_with_arguments', arguments: { arg1: 'x', arg2: 'y' } });
  assert.match(prompt.messages[0].content.text, /arg1='x', arg2='y'/);
  const completion = await client.complete({ ref: { type: 'ref/resource', uri: 'test://template/{id}/data' }, argument: { name: 'id', value: '12' } });
  assert.deepEqual(completion.completion.values, ['123', '124']);

  const progress = [];
  await call('test_tool_with_progress', {}, p => progress.push(p.progress));
  assert.deepEqual(progress, [0, 50, 100]);

  assert.equal(texts(await call('test_sampling', { prompt: 'hi' })), 'LLM response: said the model');
  assert.match(texts(await call('test_input_required_result_list_roots')), /1 root\(s\)/);
  if (revision >= '2025-06-18') {
    assert.match(texts(await call('test_elicitation', { message: 'who?' })), /ada/);
    assert.match(texts(await call('test_input_required_result_multi_round')), /Ada likes red/);
    assert.match(texts(await call('test_input_required_result_multiple_inputs')), /said the model Ada, 1 root/);
  }

  if (revision < '2026') {
    await client.setLoggingLevel('info');
    await call('test_tool_with_logging');
    await events.arrives('notifications/message');
    await client.ping();
    await client.subscribeResource({ uri: 'test://watched-resource' });
  }
  await call('test_trigger_tool_change');
  await events.arrives('notifications/tools/list_changed');
  await call('test_trigger_prompt_change');
  await events.arrives('notifications/prompts/list_changed');
  await events.arrives('notifications/resources/updated');
}

export const notifications = [
  'notifications/message', 'notifications/tools/list_changed', 'notifications/prompts/list_changed', 'notifications/resources/updated',
];
