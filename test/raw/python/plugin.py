"""A plugin of mcphost without an SDK: grpcio, and nothing between it and plugin.proto."""

import asyncio
import base64
import datetime
import json
import os
import sys

# Standard output carries the handshake line alone. Whatever prints from here on, C code included, prints to stderr.
stdout = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

import grpc
from mcphost.plugin.v1 import plugin_pb2 as pb
from mcphost.plugin.v1 import plugin_pb2_grpc

MAX_MESSAGE = 64 << 20


def schema(required=(), **properties):
    return json.dumps({"type": "object", "properties": properties, "required": list(required)}).encode()


TOOLS = [
    pb.Tool(
        name="echo",
        description="Give the text back, after the greeting of the configuration.",
        input_schema_json=schema(["text"], text={"type": "string"}),
        annotations=pb.ToolAnnotations(read_only=True),
    ),
    pb.Tool(
        name="count",
        description="Count, with progress; forever if to is 0.",
        input_schema_json=schema(["to"], to={"type": "integer", "minimum": 0}),
    ),
    pb.Tool(name="ask", description="Ask the user for a name.", input_schema_json=schema()),
    pb.Tool(name="print", description="Print on standard output, which does no harm.", input_schema_json=schema()),
    pb.Tool(name="crash", description="End the process in the middle of the call.", input_schema_json=schema()),
]


def answer(text, is_error=False):
    return pb.CallToolResponse(result=pb.ToolResult(content=[pb.Content(text=text)], is_error=is_error))


class Plugin(plugin_pb2_grpc.PluginServiceServicer):
    """Methods that are not here answer UNIMPLEMENTED, and their capabilities are not announced."""

    greeting = "hello"

    def __init__(self, stop):
        self.stop = stop  # set when the host says goodbye

    async def Describe(self, request, context):
        return pb.DescribeResponse(
            name="raw-python",
            version="1.0.0",
            capabilities=pb.Capabilities(tools=True, streaming=True),
            config_schema_json=schema(greeting={"type": "string", "description": "before each echo"}),
        )

    async def ValidateConfig(self, request, context):
        return pb.ValidateConfigResponse(diagnostics=self.complaints(json.loads(request.config_json or "{}")))

    async def Configure(self, request, context):
        config = json.loads(request.config_json or "{}")
        if complaints := self.complaints(config):
            return pb.ConfigureResponse(diagnostics=complaints)
        self.greeting = config.get("greeting", self.greeting)
        return pb.ConfigureResponse()

    def complaints(self, config):
        if config.get("greeting", "hello").strip():
            return []
        return [
            pb.Diagnostic(
                severity=pb.Diagnostic.SEVERITY_ERROR,
                summary="Empty greeting",
                detail="A greeting has at least one letter.",
                pointer="/greeting",  # the host shows this line of the HCL file
            )
        ]

    async def Watch(self, request, context):
        yield pb.WatchResponse(catalog=pb.CatalogPart(revision=1, last=True, tools=TOOLS))
        await self.stop.wait()  # the catalog never changes, and the stream stays open

    async def CallTool(self, request, context):
        return await self.call(request, lambda *_: asyncio.sleep(0))

    async def CallToolStream(self, request, context):
        async def progress(value, total):
            await context.write(pb.CallToolStreamResponse(progress=pb.Progress(progress=value, total=total)))

        outcome = await self.call(request.call, progress)
        await context.write(pb.CallToolStreamResponse(outcome=outcome))

    async def call(self, request, progress):
        """One handler for both: a call that is cancelled raises CancelledError at its next await."""
        arguments = json.loads(request.arguments_json or "{}")
        match request.name:
            case "echo":
                return answer(f"{self.greeting} {arguments['text']}")
            case "count":
                return await self.count(arguments["to"], progress)
            case "ask":
                return self.ask(request)
            case "print":
                print("1|1|unix|/printed|grpc", flush=True)
                return answer("printed")
            case "crash":
                os._exit(7)
        error = pb.Error(code=-32602, message=f"there is no tool {request.name!r}")
        return pb.CallToolResponse(error=error)

    async def count(self, to, progress):
        reached = 0
        try:
            while to == 0 or reached < to:
                reached += 1
                await progress(reached, to or None)
                await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            print("count was cancelled", file=sys.stderr, flush=True)
            raise
        return answer(f"counted to {to}")

    def ask(self, request):
        """Input comes by rounds: the first one ends with questions, the next one has the answers."""
        if "name" not in request.input_responses_json:
            wanted = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
            question = {"mode": "form", "message": "Who are you?", "requestedSchema": wanted}
            ask = pb.InputRequest(key="name", method="elicitation/create", params_json=json.dumps(question).encode())
            return pb.CallToolResponse(input_required=pb.InputRequired(requests=[ask]))
        reply = json.loads(request.input_responses_json["name"])
        if reply["action"] != "accept":
            return answer("nobody", is_error=True)
        return answer(f"you are {reply['content']['name']}")


def unary(function):
    """A method whose messages are empty, or too small to have their types generated."""
    return grpc.unary_unary_rpc_method_handler(function)


def housekeeping(stop):
    """Health and the host's goodbye. HealthCheckResponse{status: SERVING} is two bytes."""

    async def check(request, context):
        return b"\x08\x01"

    async def shutdown(request, context):
        stop.set()
        return b""

    return (
        grpc.method_handlers_generic_handler("grpc.health.v1.Health", {"Check": unary(check)}),
        grpc.method_handlers_generic_handler("plugin.GRPCController", {"Shutdown": unary(shutdown)}),
    )


def own_certificate():
    """Returns a new key and its certificate, both PEM, and the certificate as DER."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=1))
        .not_valid_after(now + datetime.timedelta(days=365))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem, der = serialization.Encoding.PEM, serialization.Encoding.DER
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return private, certificate.public_bytes(pem), certificate.public_bytes(der)


def listen(server):
    """Opens the socket and returns the handshake line: CORE|PROTOCOL|NETWORK|ADDRESS|grpc|CERTIFICATE."""
    path = os.path.join(os.environ["PLUGIN_UNIX_SOCKET_DIR"], "plugin.sock")
    host = os.environ.get("PLUGIN_CLIENT_CERT")
    if not host:
        server.add_insecure_port("unix:" + path)
        return f"1|1|unix|{path}|grpc|"
    key, chain, der = own_certificate()
    server.add_secure_port("unix:" + path, grpc.ssl_server_credentials([(key, chain)], host.encode(), True))
    return f"1|1|unix|{path}|grpc|" + base64.b64encode(der).decode().rstrip("=")


async def serve():
    stop = asyncio.Event()
    server = grpc.aio.server(options=[("grpc.max_receive_message_length", MAX_MESSAGE)])
    plugin_pb2_grpc.add_PluginServiceServicer_to_server(Plugin(stop), server)
    server.add_generic_rpc_handlers(housekeeping(stop))
    line = listen(server)
    await server.start()
    stdout.write(line + "\n")
    stdout.flush()
    await stop.wait()
    await server.stop(grace=0.5)
    print("goodbye", file=sys.stderr, flush=True)


if os.environ.get("MCPHOST_PLUGIN") != "b5d5e3f0-mcphost-plugin-v1":
    sys.exit("This is a plugin of mcphost: a host starts it, not a person.")
asyncio.run(serve())
