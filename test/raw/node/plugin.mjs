// A plugin of mcphost without an SDK: @grpc/grpc-js, and nothing between it and plugin.proto.
import fs from 'node:fs'
import path from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { Console } from 'node:console'
import grpc from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { ownCertificate } from './certificate.mjs'

// Standard output carries the handshake line alone. Whatever prints from here on prints to stderr.
globalThis.console = new Console(process.stderr)
process.stdout.write = process.stderr.write.bind(process.stderr)

const MAX_MESSAGE = 64 << 20
const proto = path.join(import.meta.dirname, 'plugin.proto')
const { PluginService } = grpc.loadPackageDefinition(
  loadSync(proto, { keepCase: true, enums: String, longs: Number, defaults: true, oneofs: true }),
).mcphost.plugin.v1

const json = (value) => Buffer.from(JSON.stringify(value))
const parse = (bytes) => (bytes?.length ? JSON.parse(bytes.toString()) : {})
const schema = (properties = {}, required = []) => json({ type: 'object', properties, required })

const tools = [
  {
    name: 'echo',
    description: 'Give the text back, after the greeting of the configuration.',
    input_schema_json: schema({ text: { type: 'string' } }, ['text']),
    annotations: { read_only: true },
  },
  {
    name: 'count',
    description: 'Count, with progress; forever if to is 0.',
    input_schema_json: schema({ to: { type: 'integer', minimum: 0 } }, ['to']),
  },
  { name: 'ask', description: 'Ask the user for a name.', input_schema_json: schema() },
  { name: 'print', description: 'Print on standard output, which does no harm.', input_schema_json: schema() },
  { name: 'crash', description: 'End the process in the middle of the call.', input_schema_json: schema() },
]

const answer = (text, is_error = false) => ({ result: { content: [{ text }], is_error } })
let greeting = 'hello'

function complaints(config) {
  if ((config.greeting ?? greeting).trim()) return []
  return [
    {
      severity: 'SEVERITY_ERROR',
      summary: 'Empty greeting',
      detail: 'A greeting has at least one letter.',
      pointer: '/greeting', // the host shows this line of the HCL file
    },
  ]
}

async function count(to, progress, signal) {
  for (let reached = 1; to === 0 || reached <= to; reached++) {
    progress(reached, to)
    try {
      await sleep(10, undefined, { signal })
    } catch (cancelled) {
      console.error('count was cancelled')
      throw cancelled
    }
  }
  return answer(`counted to ${to}`)
}

// Input comes by rounds: the first one ends with questions, the next one has the answers.
function ask(request) {
  if (!request.input_responses_json.name) {
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
    const params_json = json({ mode: 'form', message: 'Who are you?', requestedSchema })
    return { input_required: { requests: [{ key: 'name', method: 'elicitation/create', params_json }] } }
  }
  const reply = parse(request.input_responses_json.name)
  return reply.action === 'accept' ? answer(`you are ${reply.content.name}`) : answer('nobody', true)
}

// One handler for calls with and without progress.
async function call(request, progress, signal) {
  const args = parse(request.arguments_json)
  switch (request.name) {
    case 'echo':
      return answer(`${greeting} ${args.text}`)
    case 'count':
      return count(args.to, progress, signal)
    case 'ask':
      return ask(request)
    case 'print':
      process.stdout.write('1|1|unix|/printed|grpc\n')
      return answer('printed')
    case 'crash':
      process.exit(7)
  }
  return { error: { code: -32602, message: `there is no tool ${JSON.stringify(request.name)}` } }
}

function cancellation(rpc) {
  const cancel = new AbortController()
  rpc.on('cancelled', () => cancel.abort())
  return cancel.signal
}

const failed = (err) => ({ code: grpc.status.INTERNAL, details: String(err) })

// Methods that are not here answer UNIMPLEMENTED, and their capabilities are not announced.
const plugin = {
  Describe: (rpc, done) =>
    done(null, {
      name: 'raw-node',
      version: '1.0.0',
      capabilities: { tools: true, streaming: true },
      config_schema_json: schema({ greeting: { type: 'string', description: 'before each echo' } }),
    }),
  ValidateConfig: (rpc, done) => done(null, { diagnostics: complaints(parse(rpc.request.config_json)) }),
  Configure: (rpc, done) => {
    const config = parse(rpc.request.config_json)
    const diagnostics = complaints(config)
    if (!diagnostics.length) greeting = config.greeting ?? greeting
    done(null, { diagnostics })
  },
  // The stream stays open until the host cancels it: the catalog never changes.
  Watch: (rpc) => rpc.write({ catalog: { revision: 1, last: true, tools } }),
  CallTool: (rpc, done) =>
    call(rpc.request, () => {}, cancellation(rpc)).then((outcome) => done(null, outcome), (err) => done(failed(err))),
  CallToolStream: async (rpc) => {
    const progress = (value, total) => rpc.write({ progress: total ? { progress: value, total } : { progress: value } })
    try {
      rpc.write({ outcome: await call(rpc.request.call, progress, cancellation(rpc)) })
      rpc.end()
    } catch (err) {
      rpc.emit('error', failed(err))
    }
  },
}

// Health and the host's goodbye have messages too small to load types for:
// HealthCheckResponse{status: SERVING} is two bytes.
const unary = (name) => ({
  path: name,
  requestStream: false,
  responseStream: false,
  requestDeserialize: (bytes) => bytes,
  responseSerialize: (bytes) => bytes,
})
const health = { Check: unary('/grpc.health.v1.Health/Check') }
const controller = { Shutdown: unary('/plugin.GRPCController/Shutdown') }

// listen opens the socket and writes the handshake line: CORE|PROTOCOL|NETWORK|ADDRESS|grpc|CERTIFICATE.
function listen(server) {
  const socket = path.join(process.env.PLUGIN_UNIX_SOCKET_DIR, 'plugin.sock')
  const host = process.env.PLUGIN_CLIENT_CERT
  let credentials = grpc.ServerCredentials.createInsecure()
  let certificate = ''
  if (host) {
    const own = ownCertificate('localhost')
    const pair = { private_key: Buffer.from(own.key), cert_chain: Buffer.from(own.pem) }
    credentials = grpc.ServerCredentials.createSsl(Buffer.from(host), [pair], true)
    certificate = own.der.toString('base64').replace(/=+$/, '')
  }
  server.bindAsync(`unix:${socket}`, credentials, (err) => {
    if (err) throw err
    fs.writeSync(1, `1|1|unix|${socket}|grpc|${certificate}\n`)
  })
}

function serve() {
  const server = new grpc.Server({ 'grpc.max_receive_message_length': MAX_MESSAGE })
  server.addService(PluginService.service, plugin)
  server.addService(health, { Check: (rpc, done) => done(null, Buffer.from([8, 1])) })
  server.addService(controller, {
    Shutdown: (rpc, done) => {
      done(null, Buffer.alloc(0))
      setImmediate(() => {
        console.error('goodbye')
        setTimeout(() => process.exit(0), 500).unref()
        server.tryShutdown(() => process.exit(0))
      })
    },
  })
  listen(server)
}

if (process.env.MCPHOST_PLUGIN !== 'b5d5e3f0-mcphost-plugin-v1') {
  console.error('This is a plugin of mcphost: a host starts it, not a person.')
  process.exit(1)
}
serve()
