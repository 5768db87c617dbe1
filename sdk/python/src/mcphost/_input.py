"""Questions to the client and its user in the middle of a handler."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from . import _json
from ._codec import Builder, FieldError, Schema, type_hints
from ._errors import InputRequest, InputRequired, ToolError, Waiting
from .plugin.v1 import plugin_pb2 as pb

T = TypeVar("T")
Action = Literal["accept", "decline", "cancel"]


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


class Questions:
    """The part of a :class:`Context` that asks."""

    _answers: Mapping[str, bytes]  # of the client, to the questions of the round before
    _state: bytes | None
    _lock: threading.RLock  # guards what follows
    _memory: dict[str, dict[str, Any]] | None  # of the rounds, parsed when it is first needed
    _asked: list[pb.InputRequest]
    _clash: bool  # two questions had one key

    def _unusable(self, e: ValueError) -> None:
        """Notes that an answer did not fit."""
        raise NotImplementedError

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
                state = json_object(self._state or b"")
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
                    self._unusable(e)
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


def json_object(raw: bytes) -> dict[str, Any]:
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
