"""A plugin as a process: the handshake, TLS, standard output, and every way to end."""

import base64
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from conftest import HERE

from mcphost import _identity, _stdout
from mcphost._service import MAX_FROM_PLUGIN, MAX_TO_PLUGIN
from mcphost.plugin.v1 import plugin_pb2 as pb

LAB = HERE / "plugins" / "lab.py"
SECONDS = 60  # for a machine that is busy with something else


class Process:
    """A plugin that a test started as a host does."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        env = {
            "PATH": os.environ["PATH"], _stdout.COOKIE_KEY: _stdout.COOKIE_VALUE, "PLUGIN_PROTOCOL_VERSIONS": "1",
            "PLUGIN_UNIX_SOCKET_DIR": str(folder), **environment,
        }  # fmt: skip
        self.log = (folder / "stderr").open("w+b")
        self.process = subprocess.Popen(
            [sys.executable, str(LAB)], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log
        )
        self.line = self.read_line()
        self.fields = self.line.split("|")
        self.channel: grpc.Channel | None = None

    def read_line(self) -> str:
        assert self.process.stdout
        line = b""
        while not line.startswith(b"1|"):  # a host skips noise
            assert select.select([self.process.stdout], [], [], SECONDS)[0], "no handshake: " + self.stderr()
            line = self.process.stdout.readline()
            assert line, "no handshake: " + self.stderr()
        return line.decode().strip()

    def connect(self, identity: _identity.Identity | None = None) -> "Process":
        options = [("grpc.max_receive_message_length", MAX_FROM_PLUGIN), ("grpc.max_send_message_length", MAX_TO_PLUGIN)]
        target = "unix:" + self.fields[3]
        if identity is None:
            self.channel = grpc.insecure_channel(target, options)
        else:
            der = base64.b64decode(self.fields[5] + "==")
            own = b"-----BEGIN CERTIFICATE-----\n" + base64.encodebytes(der) + b"-----END CERTIFICATE-----\n"
            credentials = grpc.ssl_channel_credentials(own, identity.key_pem, identity.certificate_pem)
            self.channel = grpc.secure_channel(target, credentials, [*options, ("grpc.ssl_target_name_override", "localhost")])
        return self

    def rpc(self, method: str, request: Any, response: Any, timeout: float = SECONDS) -> Any:
        assert self.channel
        call = self.channel.unary_unary(method, request_serializer=_raw, response_deserializer=response)
        return call(request, timeout=timeout)

    def call(self, name: str, timeout: float = SECONDS, **arguments: Any) -> pb.CallToolResponse:
        request = pb.CallToolRequest(name=name, arguments_json=json.dumps(arguments).encode())
        got = self.rpc("/mcphost.plugin.v1.PluginService/CallTool", request, pb.CallToolResponse.FromString, timeout)
        assert isinstance(got, pb.CallToolResponse)
        return got

    def healthy(self, service: bytes = b"\x0a\x06plugin") -> bool:
        return bool(self.rpc("/grpc.health.v1.Health/Check", service, bytes) == b"\x08\x01")

    def shutdown(self) -> None:
        self.rpc("/plugin.GRPCController/Shutdown", b"", bytes)

    def configure(self) -> "Process":
        request = pb.ConfigureRequest(handle="lab", data_dir=str(self.folder))
        got = self.rpc("/mcphost.plugin.v1.PluginService/Configure", request, pb.ConfigureResponse.FromString)
        assert not got.diagnostics
        return self

    def stderr(self) -> str:
        return (self.folder / "stderr").read_text()

    def wait_for(self, text: str) -> None:
        end = time.monotonic() + SECONDS
        while text not in self.stderr():
            assert time.monotonic() < end, f"no {text!r} in {self.stderr()}"
            select.select([], [], [], 0.02)

    def ended(self) -> int:
        return self.process.wait(SECONDS)

    def close(self) -> None:
        if self.channel:
            self.channel.close()
        self.process.kill()
        self.process.wait()
        assert self.process.stdout
        self.process.stdout.close()
        self.log.close()


def _raw(message: Any) -> bytes:
    raw: bytes = message if isinstance(message, bytes) else message.SerializeToString()
    return raw


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Any]:
    started: list[Process] = []

    def new(**environment: str) -> Process:
        folder = tmp_path / str(len(started))
        folder.mkdir()
        started.append(Process(folder, **environment))
        return started[-1]

    yield new
    for process in started:
        process.close()


def test_the_handshake_without_tls(start: Any) -> None:
    p = start().connect()
    assert re.fullmatch(rf"1\|1\|unix\|{p.folder}/\d+\.sock\|grpc\|", p.line)
    assert p.healthy() and p.healthy(b"")
    with pytest.raises(grpc.RpcError) as e:
        p.healthy(b"\x0a\x05other")
    assert e.value.code() == grpc.StatusCode.NOT_FOUND
    assert p.configure().call("echo", text="hi").result.structured_json == b'{"text":"hi"}'
    p.shutdown()
    assert p.ended() == 0
    assert list(p.folder.glob("*.sock")) == []


def test_the_handshake_with_tls(start: Any) -> None:
    host, stranger = _identity.new(), _identity.new()
    p = start(PLUGIN_CLIENT_CERT=host.certificate_pem.decode(), PLUGIN_MULTIPLEX_GRPC="true").connect(host)
    assert p.fields[6] == "false" and p.healthy()
    assert p.call("echo", text="hi").result.structured_json == b'{"text":"hi"}'
    for identity in (stranger, None):
        p.channel.close()
        p.connect(identity)
        with pytest.raises(grpc.RpcError) as e:
            p.healthy()
        assert e.value.code() == grpc.StatusCode.UNAVAILABLE


def test_standard_output_is_harmless_even_if_nobody_reads_it(start: Any) -> None:
    p = start().connect()
    assert p.call("chatty").result.content[0].text == "None"  # children see no cookie
    assert p.call("spawn").result.structured_json == b"0"
    p.shutdown()
    assert p.ended() == 0
    assert p.process.stdout.read() == b""
    assert "child" in p.stderr() and "y" * 1000 in p.stderr()


def test_the_log_is_hclog(start: Any) -> None:
    p = start().connect()
    text = p.call("fail").result.content[0].text
    line = next(json.loads(line) for line in p.stderr().splitlines() if line.startswith("{"))
    assert line["@level"] == "error" and line["@module"] == "lab" and line["@message"] == "handler failed"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00", line["@timestamp"])
    assert line["incident"] in text and "hunter2" in line["error"] and "hunter2" not in text
    assert line["stack"].startswith(f"fail ({LAB}:")


def test_large_messages_both_ways(start: Any) -> None:
    p = start().connect()
    text = "x" * (5 << 20)
    assert len(p.call("echo", text=text).result.structured_json) > len(text)
    got = p.call("echo", text="x" * (17 << 20))
    assert got.result.is_error and "too large" in got.result.content[0].text


def test_a_cancelled_rpc_reaches_the_tool(start: Any) -> None:
    p = start().connect()
    with pytest.raises(grpc.RpcError) as e:
        p.call("wait", timeout=0.5)
    assert e.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    p.wait_for('"cancelled": true')
    assert '"error"' not in p.stderr()


def test_health_and_shutdown_are_answered_while_every_call_hangs(start: Any) -> None:
    p = start(MAX_CALLS="2").connect()
    calls = [
        p.channel.unary_unary("/mcphost.plugin.v1.PluginService/CallTool", request_serializer=_raw, response_deserializer=bytes).future(
            pb.CallToolRequest(name="hang")
        )
        for _ in range(20)
    ]
    p.wait_for("hanging")
    assert p.healthy()
    began = time.monotonic()
    p.shutdown()
    assert p.ended() == 0
    assert time.monotonic() - began < 10
    assert "handlers did not end in time" in p.stderr()
    assert all(call.code() != grpc.StatusCode.OK for call in calls)


def test_what_is_broken_tells_the_host_nothing_but_where_to_look(start: Any) -> None:
    p = start().connect()
    request = pb.ReadResourceRequest(uri="lab://x", input_responses_json={"a": b"{"}, state=b"{")
    read = p.rpc("/mcphost.plugin.v1.PluginService/ReadResource", request, pb.ReadResourceResponse.FromString)
    assert read.result.contents[0].text == "this is x"
    with pytest.raises(grpc.RpcError) as e:
        p.rpc("/mcphost.plugin.v1.PluginService/ListResources", pb.ListResourcesRequest(), bytes)
    assert e.value.code() == grpc.StatusCode.UNIMPLEMENTED
    with pytest.raises(grpc.RpcError) as e:
        p.rpc("/mcphost.plugin.v1.PluginService/Authorize", pb.AuthorizeRequest(), bytes)
    assert e.value.code() == grpc.StatusCode.UNIMPLEMENTED


def test_watching(start: Any) -> None:
    p = start().connect()
    watch = p.channel.unary_stream(
        "/mcphost.plugin.v1.PluginService/Watch", request_serializer=_raw, response_deserializer=pb.WatchResponse.FromString
    )(pb.WatchRequest(), timeout=SECONDS)
    first = next(watch).catalog
    assert "grown" not in [t.name for t in first.tools]
    p.call("grow")
    assert "grown" in [t.name for t in next(watch).catalog.tools]
    p.shutdown()
    assert p.ended() == 0


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"PLUGIN_CLIENT_CERT": "none"}, "PLUGIN_CLIENT_CERT holds no certificate"),
        ({"PLUGIN_UNIX_SOCKET_DIR": "/tmp/" + "x" * 120}, "longer than 107 bytes"),
    ],
)
def test_what_keeps_it_from_serving_is_said(tmp_path: Path, environment: dict[str, str], message: str) -> None:
    env = {_stdout.COOKIE_KEY: _stdout.COOKIE_VALUE, "PLUGIN_UNIX_SOCKET_DIR": str(tmp_path), **environment}
    done = subprocess.run([sys.executable, str(LAB)], env=env, capture_output=True, text=True, check=False, timeout=SECONDS)
    assert done.returncode == 1 and message in done.stderr and "|grpc|" not in done.stdout


def test_sigterm_ends_it_and_an_interrupt_does_not(start: Any) -> None:
    p = start().connect()
    p.process.send_signal(signal.SIGINT)
    assert p.healthy()
    p.process.send_signal(signal.SIGTERM)
    assert p.ended() == 0


def test_the_plugin_ends_with_its_parent(tmp_path: Path) -> None:
    parent = (
        "import os, subprocess, sys\n"
        f"p = subprocess.Popen([sys.executable, {str(LAB)!r}], stdout=subprocess.PIPE)\n"
        "line = b''\n"
        "while not line.startswith(b'1|'): line = p.stdout.readline()\n"
        "print(p.pid, flush=True)\n"
    )
    env = {_stdout.COOKIE_KEY: _stdout.COOKIE_VALUE, "PLUGIN_UNIX_SOCKET_DIR": str(tmp_path), "PATH": os.environ["PATH"]}
    out = subprocess.run([sys.executable, "-c", parent], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    pid, end = int(out.stdout), time.monotonic() + SECONDS
    while _alive(pid):
        assert time.monotonic() < end, "the plugin outlives its parent"
        select.select([], [], [], 0.1)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def by_hand(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(LAB), *arguments], capture_output=True, text=True, check=False, timeout=SECONDS)


def test_started_by_hand_it_says_what_to_type_instead() -> None:
    helped = by_hand("--help")
    assert helped.returncode == 0
    assert "lab 1.0.0 is a plugin of mcphost" in helped.stdout and "Says the same." in helped.stdout
    assert f'command = ["{os.path.abspath(sys.executable)}", "{LAB}"]' in helped.stdout and str(LAB.parent) in helped.stdout
    bare = by_hand()
    assert bare.returncode == 1 and "mcphost start lab" in bare.stderr
    assert by_hand("--version").stdout.endswith("lab 1.0.0\n")
