"""Calls a plugin in a test, in process: no host, no gRPC. ::

    def test_greet():
        host = mcphost.testing.connect(p)
        assert host.call("greet", name="Ada").text == "Hello, Ada!"

    def test_manifest():
        mcphost.testing.check_manifest(p, Path(__file__).with_name("manifest.json"))
"""

from __future__ import annotations

import base64
import json
import os
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from google.protobuf.json_format import MessageToDict

from . import _json
from ._byhand import files
from ._codec import Builder
from ._errors import Diagnostic
from ._plugin import Plugin
from ._service import RPC, Service
from .plugin.v1 import plugin_pb2 as pb

T = TypeVar("T")


class _RPC(RPC):
    """An RPC that a test can cancel."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callbacks: list[Any] | None = []

    def on_over(self, callback: Any) -> None:
        with self._lock:
            if self._callbacks is not None:
                self._callbacks.append(callback)
                return
        callback()

    def cancel(self) -> None:
        with self._lock:
            callbacks, self._callbacks = self._callbacks, None
        for callback in callbacks or ():
            callback()


class InvalidConfig(AssertionError):
    """The plugin does not take its configuration."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__("\n".join(f"{d.pointer}: {d.summary}: {d.detail}" for d in diagnostics))
        self.diagnostics = list(diagnostics)


def accept(**content: Any) -> dict[str, Any]:
    """The answer of a user who filled in a form."""
    return {"action": "accept", "content": content}


def decline() -> dict[str, Any]:
    """The answer of a user who said no."""
    return {"action": "decline"}


def connect(
    plugin: Plugin,
    config: Any = None,
    *,
    secrets: Mapping[str, str] | None = None,
    data_dir: Path | str | None = None,
    configure: bool = True,
) -> Host:
    """A host of one plugin, which it configures; once, as each plugin is. InvalidConfig if it does not take the configuration."""
    host = Host(plugin)
    if configure and plugin._setup is None:
        folder = str(data_dir) if data_dir else tempfile.mkdtemp(prefix="mcphost-test")
        request = pb.ConfigureRequest(handle="test", data_dir=folder, secrets=dict(secrets or {}))
        request.config_json = _json.dumps({} if config is None else config)
        response = host.service.Configure(request, _RPC())
        if any(d.severity == pb.Diagnostic.SEVERITY_ERROR for d in response.diagnostics):
            raise InvalidConfig([Diagnostic(d.summary, d.detail, d.pointer) for d in response.diagnostics])
    return host


class Outcome:
    """How a call ended."""

    def __init__(self, host: Host, request: pb.CallToolRequest, response: pb.CallToolResponse, events: list[Any]) -> None:
        self._host = host
        self._request = request
        self.response = response
        self.progress: list[tuple[float, float | None, str]] = [
            (e.progress.progress, e.progress.total if e.progress.HasField("total") else None, e.progress.message)
            for e in events if e.HasField("progress")
        ]  # fmt: skip
        self.logs: list[tuple[str, Any]] = [(e.log.level, json.loads(e.log.data_json)) for e in events if e.HasField("log")]

    @property
    def is_error(self) -> bool:
        """Whether the result is an error that the model may read."""
        return self.response.result.is_error

    @property
    def text(self) -> str:
        """The text blocks of the result, one after the other."""
        return "".join(c.text for c in self.response.result.content)

    @property
    def content(self) -> list[pb.Content]:
        """The blocks of the result, as the contract has them."""
        return list(self.response.result.content)

    @property
    def structured(self) -> Any:
        """The structured content, or None. AssertionError if the call failed."""
        assert self.response.HasField("result") and not self.is_error, f"{self._request.name} failed: {self.response}"
        raw = self.response.result.structured_json
        return json.loads(raw) if raw else None

    def decode(self, type_: type[T]) -> T:
        """The structured content as a value of a type."""
        value: T = Builder().build(type_).decode(self.structured, ())
        return value

    @property
    def error(self) -> pb.Error | None:
        """The JSON-RPC error, if the call ended with one."""
        return self.response.error if self.response.HasField("error") else None

    @property
    def questions(self) -> dict[str, Any]:
        """What the call asks, by key; empty if it has ended."""
        return {r.key: json.loads(r.params_json or b"null") for r in self.response.input_required.requests}

    def answer(self, **answers: Any) -> Outcome:
        """Calls the tool again with answers to what it asked: ``answer(confirm=accept(yes=True))``."""
        request = pb.CallToolRequest()
        request.CopyFrom(self._request)
        request.context.round += 1
        request.ClearField("state")
        if self.response.input_required.HasField("state"):
            request.state = self.response.input_required.state
        request.input_responses_json.clear()
        for key, value in answers.items():
            request.input_responses_json[key] = _json.dumps(value)
        return self._host._run(request)


class Host:
    """A host of one plugin. :func:`connect` makes it."""

    def __init__(self, plugin: Plugin) -> None:
        self.plugin = plugin
        self.service = Service(plugin)

    def call(self, tool: str, arguments: Any = None, /, **more: Any) -> Outcome:
        """Calls a tool. The arguments are a typed value, or given by name. The caller wants progress and all logs."""
        raw = _json.dumps(arguments if arguments is not None else more)
        return self._run(pb.CallToolRequest(context=context(), name=tool, arguments_json=raw))

    def _run(self, request: pb.CallToolRequest) -> Outcome:
        rpc = _RPC()
        *events, last = self.service.CallToolStream(pb.CallToolStreamRequest(call=request), rpc)
        rpc.cancel()
        return Outcome(self, request, last.outcome, events)

    def read(self, uri: str) -> list[str | bytes]:
        """The contents of a resource. AssertionError if there are none."""
        response = self.service.ReadResource(pb.ReadResourceRequest(context=context(), uri=uri), _RPC())
        assert response.HasField("result"), f"{uri}: {response}"
        return [c.blob if c.HasField("blob") else c.text for c in response.result.contents]

    def prompt(self, name: str, /, **arguments: str) -> pb.GetPromptResult:
        """A prompt filled in. AssertionError if it was not."""
        response = self.service.GetPrompt(pb.GetPromptRequest(context=context(), name=name, arguments=arguments), _RPC())
        assert response.HasField("result"), f"{name}: {response}"
        return response.result

    def complete(self, of: str, argument: str, value: str, /, **others: str) -> list[str]:
        """The proposals for an argument of a prompt or a variable of a template."""
        kind = pb.PrimitiveRef.KIND_RESOURCE_TEMPLATE if "{" in of else pb.PrimitiveRef.KIND_PROMPT
        request = pb.CompleteRequest(
            context=context(), reference=pb.PrimitiveRef(kind=kind, name=of), argument_name=argument, argument_value=value,
            context_arguments=others,
        )  # fmt: skip
        response = self.service.Complete(request, _RPC())
        assert response.HasField("result"), f"{of}: {response}"
        return list(response.result.values)

    def catalog(self) -> pb.CatalogPart:
        """What the plugin offers now, as one part."""
        whole = pb.CatalogPart()
        for part in self.plugin._catalog.load().parts(self.plugin._instructions):
            whole.MergeFrom(part)
        return whole


def context(**more: Any) -> pb.CallContext:
    """What a host says of a call."""
    about: dict[str, Any] = {
        "call_id": "call", "want_progress": True, "log_level": "debug", "protocol_version": "2026-07-28",
        "principal": pb.Principal(subject="tester"),
        "client_capabilities_json": b'{"elicitation":{},"sampling":{},"roots":{}}',
    }  # fmt: skip
    return pb.CallContext(**{**about, **more})


def manifest(plugin: Plugin) -> str:
    """What the plugin is and offers, as JSON to keep beside the test: a changed schema then shows up in review."""
    catalog = Host(plugin).catalog()
    catalog.ClearField("revision")
    whole = {"catalog": _readable(catalog), "describe": _readable(plugin._describe())}
    return json.dumps(whole, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def check_manifest(plugin: Plugin, path: Path | str) -> None:
    """Fails if the manifest is not what is in the file. It is written if it is not there, or MCPHOST_UPDATE is set."""
    path, now = Path(path), manifest(plugin)
    if os.environ.get("MCPHOST_UPDATE") or not path.exists():
        path.write_text(now, encoding="utf-8")
    kept = path.read_text(encoding="utf-8")
    assert json.loads(kept) == json.loads(now), f"the manifest changed; MCPHOST_UPDATE=1 writes {path}"


def sandbox_files(script: Path | str) -> list[str]:
    """What `files` of a plugin block must name for this interpreter to run a script, for tests through a real host."""
    return files(str(script))


def _readable(message: Any) -> Any:
    """A message as JSON, with the JSON inside of it as JSON, not as base64."""

    def unwrap(value: Any) -> Any:
        if isinstance(value, list):
            return [unwrap(v) for v in value]
        if isinstance(value, dict):
            return {k: json.loads(base64.b64decode(v)) if k.endswith("Json") and isinstance(v, str) else unwrap(v) for k, v in value.items()}
        return value

    return unwrap(MessageToDict(message))


__all__ = ["Host", "InvalidConfig", "Outcome", "accept", "check_manifest", "connect", "context", "decline", "manifest", "sandbox_files"]
