"""One use of a tool, a resource or a prompt: who asks, what can be said to them meanwhile, and what can be asked."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from . import _json
from ._errors import Cancelled
from ._input import Questions, json_object
from ._json import valid
from .plugin.v1 import plugin_pb2 as pb

if TYPE_CHECKING:
    from ._plugin import Plugin

Level = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
_LEVELS = get_args(Level)


@dataclass(frozen=True)
class Principal:
    """Who calls, as the host authenticated them."""

    subject: str
    issuer: str
    scopes: frozenset[str]
    claims: dict[str, Any]


@dataclass(frozen=True)
class Client:
    """What the client says about itself. Nothing of it can be trusted."""

    name: str
    title: str
    version: str
    info: dict[str, Any]  # the whole
    capabilities: dict[str, Any]


class _CallLogger(logging.LoggerAdapter):  # type: ignore[type-arg]
    """Binds the call, and lets extra= add to it."""

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        kwargs["extra"] = {**(self.extra or {}), **(kwargs.get("extra") or {})}
        return msg, kwargs


class Context(Questions):
    """One use of a tool, a resource or a prompt. A handler gets it by a parameter with this annotation; it must not be kept
    after the handler returned. Everything in it may be used from any thread."""

    def __init__(
        self,
        plugin: Plugin,
        about: pb.CallContext,
        subject: str,
        *,
        answers: Mapping[str, bytes] | None = None,
        state: bytes | None = None,
        send: Callable[[pb.CallToolStreamResponse], None] | None = None,
        deadline: float | None = None,
    ) -> None:
        self._plugin = plugin
        self._about = about
        self._subject = subject
        self._answers = answers or {}
        self._state = state
        self._deadline = deadline
        self._lock = threading.RLock()  # guards what follows
        self._send = send
        self._last: float | None = None  # progress that was sent
        self._memory: dict[str, dict[str, Any]] | None = None  # of the rounds, parsed when it is first needed
        self._asked: list[pb.InputRequest] = []
        self._clash = False
        self._over: threading.Event | None = None
        self._over_callbacks: list[Callable[[], object]] | None = []  # None: it is over

    # Who calls.

    @property
    def id(self) -> str:
        """The id of the call, the same through all its rounds and retries."""
        return self._about.call_id

    @property
    def principal(self) -> Principal:
        """Who calls."""
        p = self._about.principal
        return Principal(p.subject, p.issuer, frozenset(p.scopes), json_object(p.claims_json))

    @property
    def client(self) -> Client:
        """What the client says about itself."""
        info = json_object(self._about.client_info_json)
        name, title, version = (str(info.get(key, "")) for key in ("name", "title", "version"))
        return Client(name, title, version, info, json_object(self._about.client_capabilities_json))

    def supports(self, capability: str) -> bool:
        """Whether the client declared a capability: "elicitation", "sampling" or "roots", say."""
        return capability in json_object(self._about.client_capabilities_json)

    @property
    def protocol_version(self) -> str:
        """The revision of MCP that the client speaks."""
        return self._about.protocol_version

    @property
    def session(self) -> str:
        """The client's session, or "" where the protocol has none."""
        return self._about.session

    @property
    def round(self) -> int:
        """How often the call was answered with questions before."""
        return self._about.round

    @property
    def attempt(self) -> int:
        """How often the call was tried before, after a crash."""
        return self._about.attempt

    @property
    def traceparent(self) -> str:
        """The W3C trace context of the call, or ""."""
        return self._about.traceparent

    @property
    def tracestate(self) -> str:
        """The W3C trace state of the call, or ""."""
        return self._about.tracestate

    @property
    def meta(self) -> dict[str, Any]:
        """The request's _meta, less the protocol's own keys."""
        return json_object(self._about.meta_json)

    @property
    def endpoint(self) -> str:
        """The name of the local or web block that the caller sees."""
        return self._about.endpoint

    @property
    def transport(self) -> str:
        """"stdio" or "http"."""
        return self._about.transport

    # What the host brought.

    @property
    def handle(self) -> str:
        """The name that the operator gave the plugin, or "" before it is configured."""
        return self._plugin._setup.handle if self._plugin._setup else ""

    @property
    def data_dir(self) -> Path:
        """The folder that is the plugin's own and is kept across restarts."""
        if self._plugin._setup is None:
            raise RuntimeError("the plugin is not configured yet")
        return self._plugin._setup.data_dir

    def secret(self, name: str) -> str | None:
        """A secret that the operator handed to the plugin."""
        return self._plugin._setup.secret(name) if self._plugin._setup else None

    @property
    def logger(self) -> logging.LoggerAdapter[logging.Logger]:
        """The operator's log, bound to the call. What the client shall see goes through :meth:`log`."""
        return _CallLogger(self._plugin.log, {"primitive": self._subject, "request": self.id})

    # What can be said meanwhile.

    def progress(self, progress: float, total: float | None = None, message: str = "") -> None:
        """Tells the caller how far the call is, if it wants to know. Progress that did not grow is left out, as the
        protocol demands."""
        if not self._about.want_progress:
            return
        event = pb.Progress(progress=progress, total=total, message=valid(message))
        with self._lock:
            # patterns/progress: the progress value MUST increase with each notification.
            if self._send is None or (self._last is not None and progress <= self._last):
                return
            self._last = progress
            self._send(pb.CallToolStreamResponse(progress=event))

    def log(self, level: Level, data: Any, logger: str = "") -> None:
        """Sends a message to the client, if it asked for messages as grave as this one. Data is a text, or anything with JSON."""
        threshold = self._about.log_level
        if threshold not in _LEVELS or _LEVELS.index(level) < _LEVELS.index(threshold):
            return
        event = pb.Log(level=level, logger=valid(logger), data_json=_json.dumps(data))
        with self._lock:
            if self._send is not None:
                self._send(pb.CallToolStreamResponse(log=event))

    def silence(self) -> None:
        """Ends progress and logs: the outcome is the last event of a stream."""
        with self._lock:
            self._send = None

    def _unusable(self, e: ValueError) -> None:
        self._plugin.log.debug("answer was not usable", extra={"primitive": self._subject, "error": str(e)})

    # When it is over.

    @property
    def cancelled(self) -> bool:
        """Whether the caller gave up, or time is over. An ``async`` handler is cancelled by itself."""
        return self._over_callbacks is None

    def check(self) -> None:
        """Raises :class:`Cancelled` if the call is cancelled: for loops of plain functions."""
        if self.cancelled:
            raise Cancelled("the call was cancelled")

    def sleep(self, seconds: float) -> None:
        """Sleeps, and raises :class:`Cancelled` as soon as the call is cancelled: for plain functions."""
        with self._lock:
            self._over = self._over or threading.Event()
            if self.cancelled:
                self._over.set()
        self._over.wait(seconds)
        self.check()

    @property
    def time_remaining(self) -> float | None:
        """The seconds that are left for the call, or None without a limit."""
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    def _on_over(self, callback: Callable[[], object]) -> None:
        with self._lock:
            if self._over_callbacks is not None:
                self._over_callbacks.append(callback)
                return
        callback()

    def _end(self) -> None:
        """Marks the call as over."""
        with self._lock:
            callbacks, self._over_callbacks = self._over_callbacks, None
            if self._over is not None:
                self._over.set()
        for callback in callbacks or ():
            callback()
