"""Serves a plugin to the host that started the process, as go-plugin's handshake wants it."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import sys
import tempfile
import threading
from concurrent import futures
from pathlib import Path
from typing import Any

os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # what grpc says on its own is no log line of the plugin

import grpc

from . import _identity, _log, _stdout
from ._byhand import by_hand
from ._plugin import Plugin
from ._service import MAX_FROM_PLUGIN, MAX_TO_PLUGIN, Service, handlers

CORE_PROTOCOL_VERSION = 1  # of go-plugin
PROTOCOL_VERSION = 1  # of the contract. A host of another one says so clearly
CLEANUP_SECONDS = 1.0  # what handlers get to end after the host said goodbye. The host waits 2 s before it kills
PARENT_INTERVAL = 1.0  # how often a plugin looks whether its host is still there
# A thread's stack counts as memory in the sandbox whether it is used or not; the interpreter's own frames need little of it.
STACK_SIZE = 2 << 20
URGENT_THREADS = 4
MAX_SOCKET_PATH = 103 if sys.platform == "darwin" else 107  # bytes


def main(plugin: Plugin) -> int:
    """The exit status of the process."""
    if not _stdout.hosted():
        return by_hand(plugin, sys.argv)
    _log.install()
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    # An interrupt of the terminal is for the host, which ends its plugins in order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.stack_size(STACK_SIZE)
    folder, temporary = _socket_folder()
    try:
        clean = _serve(plugin, stop, folder)
    except Exception:
        plugin.log.exception("plugin ended")
        return 1
    finally:
        if temporary:
            shutil.rmtree(folder, ignore_errors=True)
    if not clean:
        # The interpreter would wait for the threads of those handlers.
        logging.shutdown()
        os._exit(0)
    return 0


def _serve(plugin: Plugin, stop: threading.Event, folder: Path) -> bool:
    """Serves until stop is set, by the host, by a signal or by itself when the parent is gone. Whether all handlers ended."""
    host_pem = os.environ.pop("PLUGIN_CLIENT_CERT", "")
    service = Service(plugin)
    urgent = futures.ThreadPoolExecutor(URGENT_THREADS, "mcphost-urgent")
    server = grpc.server(
        # Beside the calls: configuration, hooks, prompts and the like.
        futures.ThreadPoolExecutor(plugin._max_calls + URGENT_THREADS, "mcphost-call"),
        handlers=[handlers(service, urgent), *_ecosystem(stop, urgent)],
        options=(
            ("grpc.so_reuseport", 0),
            ("grpc.max_receive_message_length", MAX_TO_PLUGIN),
            ("grpc.max_send_message_length", MAX_FROM_PLUGIN),
        ),
    )
    network, address, target = _address(folder)
    certificate = ""
    if host_pem:
        if "-----BEGIN CERTIFICATE-----" not in host_pem:
            raise ValueError("PLUGIN_CLIENT_CERT holds no certificate")
        identity = _identity.new()
        certificate = identity.field()
        credentials = grpc.ssl_server_credentials(
            [(identity.key_pem, identity.certificate_pem)], root_certificates=host_pem.encode(), require_client_auth=True
        )
        port = server.add_secure_port(target, credentials)
    else:
        port = server.add_insecure_port(target)
    if network == "tcp":
        address = f"127.0.0.1:{port}"
    server.start()
    line = f"{CORE_PROTOCOL_VERSION}|{PROTOCOL_VERSION}|{network}|{address}|grpc|{certificate}"
    if os.environ.get("PLUGIN_MULTIPLEX_GRPC"):
        line += "|false"
    _stdout.write_handshake(line + "\n")
    _wait(stop)
    server.stop(0.1).wait(CLEANUP_SECONDS)
    clean = service.running.wait(CLEANUP_SECONDS)
    if not clean:
        plugin.log.warning("handlers did not end in time", extra={"delay": f"{CLEANUP_SECONDS}s"})
    return clean


def _socket_folder() -> tuple[Path, bool]:
    """The folder of the socket, and whether it is ours to remove."""
    if named := os.environ.get("PLUGIN_UNIX_SOCKET_DIR"):
        return Path(named), False
    return Path(tempfile.mkdtemp(prefix="mcphost")), True


def _address(folder: Path) -> tuple[str, str, str]:
    """Network and address for the handshake, and the target for grpc."""
    if sys.platform == "win32":
        return "tcp", "", "127.0.0.1:0"
    path = str(folder / f"{os.getpid()}.sock")
    if len(os.fsencode(path)) > MAX_SOCKET_PATH:
        raise ValueError(f"the path of the socket is longer than {MAX_SOCKET_PATH} bytes: {path}")
    return "unix", path, "unix:" + path


def _wait(stop: threading.Event) -> None:
    parent = os.getppid()
    while not stop.wait(PARENT_INTERVAL):
        if os.getppid() != parent:  # the host has died without a word
            return


def _ecosystem(stop: threading.Event, urgent: futures.ThreadPoolExecutor) -> tuple[grpc.GenericRpcHandler, ...]:
    """The services of go-plugin and gRPC that stand beside the contract. Their messages are small enough to be bytes."""

    def check(request: bytes, context: grpc.ServicerContext) -> bytes:
        if request not in (b"", b"\x0a\x06plugin"):
            context.abort(grpc.StatusCode.NOT_FOUND, "unknown service")
        return b"\x08\x01"  # HealthCheckResponse.status = SERVING

    def shutdown(request: bytes, context: grpc.ServicerContext) -> bytes:
        context.add_callback(stop.set)  # after the answer
        return b""

    services = []
    for name, method, behaviour in (
        ("grpc.health.v1.Health", "Check", check),
        ("plugin.GRPCController", "Shutdown", shutdown),
    ):
        urgently: Any = behaviour
        urgently.experimental_thread_pool = urgent
        services.append(
            grpc.method_handlers_generic_handler(name, {method: grpc.unary_unary_rpc_method_handler(urgently)})
        )
    return tuple(services)
