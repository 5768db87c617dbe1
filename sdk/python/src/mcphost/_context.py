"""One use of a tool, a resource or a prompt: who asks, what can be said to them meanwhile, and what can be asked."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, get_args

from . import _json
from ._codec import Builder, FieldError, Schema, type_hints
from ._errors import Cancelled, InputRequest, InputRequired, ToolError, Waiting
from ._json import valid
from .plugin.v1 import plugin_pb2 as pb

if TYPE_CHECKING:
    from ._plugin import Plugin

T = TypeVar("T")
Level = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
Action = Literal["accept", "decline", "cancel"]
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


@dataclass(frozen=True)
class Answer(Generic[T]):
    """What a user said to a question."""

    action: Action
    _value: T | None = None

    @property
    def accepted(self) -> bool:
        """Whether the user answered, rather than declined or closed the question."""
        return self.action == "accept"

    @property
    def value(self) -> T:
        """What was filled in. ValueError unless accepted."""
        if not self.accepted:
            raise ValueError("the user did not answer")
        return self._value  # type: ignore[return-value]


@dataclass(frozen=True)
class Root:
    """A folder that the client works in."""

    uri: str
    name: str = ""


@dataclass(frozen=True)
class SampleResult:
    """What the client's model said."""

    role: str
    model: str
    stop_reason: str
    content: Any  # a block, or a list of them

    @property
    def text(self) -> str:
        """The text of it."""
        blocks = self.content if isinstance(self.content, list) else [self.content]
        return "".join(str(b.get("text", "")) for b in blocks if isinstance(b, dict))


class _CallLogger(logging.LoggerAdapter):  # type: ignore[type-arg]
    """Binds the call, and lets extra= add to it."""

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        kwargs["extra"] = {**(self.extra or {}), **(kwargs.get("extra") or {})}
        return msg, kwargs


class Context:
    """One use of a tool, a resource or a prompt. A handler gets it by a parameter with this annotation; it must not be kept
    after the handler returned. Everything in it may be used from any thread."""

    __slots__ = (
        "_plugin", "_about", "_answers", "_state", "_subject", "_lock", "_send", "_last", "_memory", "_asked", "_clash",
        "_over", "_over_callbacks", "_deadline",
    )  # fmt: skip

    def __init__(
        self,
        plugin: Plugin,
        about: pb.CallContext,
        subject: str,
        *,
        answers: MutableMapping[str, bytes] | None = None,
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
        return Principal(p.subject, p.issuer, frozenset(p.scopes), _object(p.claims_json))

    @property
    def client(self) -> Client:
        """What the client says about itself."""
        info = _object(self._about.client_info_json)
        name, title, version = (str(info.get(key, "")) for key in ("name", "title", "version"))
        return Client(name, title, version, info, _object(self._about.client_capabilities_json))

    def supports(self, capability: str) -> bool:
        """Whether the client declared a capability: "elicitation", "sampling" or "roots", say."""
        return capability in _object(self._about.client_capabilities_json)

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
        return _object(self._about.meta_json)

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

    # What can be asked.

    def elicit(self, key: str, message: str, form: type[T]) -> Answer[T]:
        """Asks the user to fill in a form: a dataclass, TypedDict or pydantic model of strings, numbers, booleans and choices.

        It reads like a call that waits, in plain and in ``async`` handlers alike (there is nothing to await). Underneath, it
        leaves the handler the first time; the host asks the user and enters the handler again from its start, and this
        time there is an answer. So:

        - key names the question, once per handler, and is the same each time;
        - what the handler did before the question is done again, unless it is wrapped in :meth:`once`;
        - questions in one :meth:`together` are asked together.

        An answer that does not fit the form is asked for again.
        """
        builder = Builder()
        codec = builder.build(form)
        schema = _form_only(codec.schema, builder.definitions)

        def decode(content: Any) -> T:
            known = {k: v for k, v in content.items() if k in schema["properties"]} if isinstance(content, dict) else content
            value: T = codec.decode(known, ())  # clients may add to what the user filled in
            return value

        return self._elicit(key, {"mode": "form", "message": message, "requestedSchema": schema}, decode)

    def elicit_form(self, key: str, message: str, schema: Schema) -> Answer[dict[str, Any]]:
        """:meth:`elicit` with a schema of the author's own: requestedSchema of elicitation/create."""

        def decode(content: Any) -> dict[str, Any]:
            if content is not None and not isinstance(content, dict):
                raise FieldError((), "must be an object")
            return content or {}

        return self._elicit(key, {"mode": "form", "message": message, "requestedSchema": schema}, decode)

    def elicit_url(self, key: str, message: str, url: str) -> Action:
        """Asks the user to visit a page, for what must not pass through the client: secrets and payments. "accept" means that
        the user agreed to, not that they are done."""
        return self._elicit(key, {"mode": "url", "message": message, "url": url}, lambda _: None).action

    def _elicit(self, key: str, params: Any, decode: Callable[[Any], T]) -> Answer[T]:
        def accept(answer: Any) -> Answer[T]:
            action = answer.get("action") if isinstance(answer, dict) else None
            if action == "accept":
                return Answer("accept", decode(answer.get("content")))
            if action in ("decline", "cancel"):
                return Answer(action)
            raise FieldError((), f"has an unknown action {action!r}")

        return self._ask(InputRequest(key, "elicitation/create", params), accept)

    def sample(
        self,
        key: str,
        messages: str | Sequence[dict[str, Any]],
        *,
        max_tokens: int,
        system_prompt: str = "",
        temperature: float | None = None,
    ) -> SampleResult:
        """Asks the client's model; a string is one message of the user. It behaves like :meth:`elicit`. Sampling is deprecated
        since 2026-07-28."""
        if isinstance(messages, str):
            messages = [{"role": "user", "content": {"type": "text", "text": messages}}]
        params: dict[str, Any] = {"messages": list(messages)}
        if system_prompt:
            params["systemPrompt"] = system_prompt
        params["maxTokens"] = max_tokens
        if temperature is not None:
            params["temperature"] = temperature

        def accept(answer: Any) -> SampleResult:
            if not isinstance(answer, dict) or not answer.get("content"):
                raise FieldError((), "has no content")
            role, model, stop = (str(answer.get(k, "")) for k in ("role", "model", "stopReason"))
            return SampleResult(role, model, stop, answer["content"])

        return self._ask(InputRequest(key, "sampling/createMessage", params), accept)

    def roots(self, key: str = "roots") -> list[Root]:
        """Asks the client for its folders. It behaves like :meth:`elicit`. Roots are deprecated since 2026-07-28."""

        def accept(answer: Any) -> list[Root]:
            roots = answer.get("roots") if isinstance(answer, dict) else None
            if not isinstance(roots, list) or not all(isinstance(r, dict) and isinstance(r.get("uri"), str) for r in roots):
                raise FieldError((), "has no roots")
            return [Root(r["uri"], str(r.get("name", ""))) for r in roots]

        return self._ask(InputRequest(key, "roots/list", {}), accept)

    def ask(self, key: str, method: str, params: Any) -> Any:
        """Asks the client, and returns its answer as it is. It is the ground of :meth:`elicit`, :meth:`sample` and :meth:`roots`."""
        return self._ask(InputRequest(key, method, params), lambda answer: answer)

    def together(self, *questions: Callable[[], Any]) -> tuple[Any, ...]:
        """Asks several questions at once, in one round::

            name, colour = ctx.together(
                lambda: ctx.elicit("name", "Who are you?", Name),
                lambda: ctx.elicit("colour", "Which colour?", Colour),
            )
        """
        answers: list[Any] = []
        waiting: InputRequired | None = None
        for question in questions:
            try:
                answers.append(question())
            except Waiting as w:
                waiting = w
        if waiting is not None:
            raise waiting
        return tuple(answers)

    def once(self, key: str, step: Callable[[], T]) -> T:
        """Runs step and keeps its result through the rounds of the call: when the handler is entered again with an answer,
        what step did is not done twice.

        The result passes through JSON, the first time too; step's return annotation says what it is after that. An exception is not
        kept, so step runs again after it.
        """
        done = self._recall()["done"]
        if key not in done:
            result = json.loads(_json.dumps(step()))
            with self._lock:
                done[key] = result
        value: T = self._remembered(done[key], step)
        return value

    async def once_async(self, key: str, step: Callable[[], Any]) -> Any:
        """:meth:`once` for an ``async`` step."""
        done = self._recall()["done"]
        if key not in done:
            result = json.loads(_json.dumps(await step()))
            with self._lock:
                done[key] = result
        return self._remembered(done[key], step)

    @staticmethod
    def _remembered(value: Any, step: Callable[[], Any]) -> Any:
        try:
            hint = type_hints(step).get("return", Any)
        except TypeError:  # a callable without annotations, such as a partial
            hint = Any
        return Builder().build(hint).decode(value, ())

    @property
    def input_responses(self) -> dict[str, Any]:
        """The client's answers to the questions of the round before, by key, for :class:`InputRequired` by hand."""
        return {key: _json.loads(raw) for key, raw in self._answers.items()}

    @property
    def state(self) -> bytes | None:
        """The state of the :class:`InputRequired` that the round before ended with, or None. The host verified it."""
        return self._state

    def _recall(self) -> dict[str, dict[str, Any]]:
        """The memory of the call: patterns/mrtr says that the client's answers are those of the latest round alone, so the
        earlier ones travel in the state, which the host seals."""
        with self._lock:
            if self._memory is None:
                state = _object(self._state or b"")
                self._memory = {part: _dict(state.get(part)) for part in ("answers", "done")}
            return self._memory

    def _ask(self, request: InputRequest, accept: Callable[[Any], T]) -> T:
        """The answer to a request if accept takes it; else notes the request for the next round and leaves."""
        with self._lock:
            known = self._recall()["answers"]
            # Answers to what nobody asks are never looked at, and not kept: a client may send anything.
            if request.key in known or request.key in self._answers:
                try:
                    answer = known[request.key] if request.key in known else _json.loads(self._answers[request.key])
                    value = accept(answer)
                except ValueError as e:
                    self._plugin.log.debug("answer was not usable", extra={"primitive": self._subject, "error": str(e)})
                    known.pop(request.key, None)
                else:
                    known[request.key] = answer
                    return value
            self._note(request)
        raise Waiting

    def _note(self, request: InputRequest) -> None:
        encoded = request_to_proto(request)
        for other in self._asked:
            if other.key == request.key:
                if other == encoded:
                    return
                self._clash = True
                raise ToolError(f'two different questions have the key "{request.key}"')
        self._asked.append(encoded)

    def asked(self) -> pb.InputRequired | None:
        """The questions of this round, with the state that the next one needs, or None."""
        with self._lock:
            if not self._asked or self._clash:
                return None
            required = pb.InputRequired(requests=self._asked)
            memory = {part: values for part, values in self._recall().items() if values}
            if memory:
                required.state = _json.dumps(memory)
            return required


def request_to_proto(request: InputRequest) -> pb.InputRequest:
    params = b"" if request.params is None else _json.dumps(request.params)
    return pb.InputRequest(key=request.key, method=request.method, params_json=params)


def _object(raw: bytes) -> dict[str, Any]:
    """What raw is, if it is an object: of a handler that keeps its state by hand it may be anything."""
    try:
        return _dict(_json.loads(raw)) if raw else {}
    except ValueError:
        return {}


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _form_only(schema: Schema, definitions: dict[str, Schema]) -> Schema:
    """schema without what a form may not have: it is flat, and every value is one primitive."""
    if schema.get("type") != "object":
        raise TypeError("a form is an object")
    properties = {}
    for name, member in schema.get("properties", {}).items():
        # pydantic writes an optional member as a choice, and an enum as a definition.
        if choice := [m for m in member.get("anyOf", ()) if m != {"type": "null"}]:
            member = {**{k: v for k, v in member.items() if k != "anyOf"}, **choice[0]}
        if "$ref" in member:
            referred = definitions[member["$ref"].rpartition("/")[2]]
            member = {**referred, **{k: v for k, v in member.items() if k != "$ref"}}
        if isinstance(member.get("type"), list) and len(member["type"]) == 2 and member["type"][0] == "null":
            member = {**member, "type": member["type"][1]}
        if "enum" in member:
            member = {**member, "enum": [v for v in member["enum"] if v is not None]}
        if member.get("type") not in ("string", "integer", "number", "boolean", "array"):
            raise TypeError(f"the member {name!r} of a form is no primitive")
        properties[name] = {k: v for k, v in member.items() if k != "default" or v is not None}
    rest = {k: v for k, v in schema.items() if k not in ("additionalProperties", "properties", "description", "title")}
    return {**rest, "properties": properties}
