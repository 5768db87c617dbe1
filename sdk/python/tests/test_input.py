"""Questions in the middle of a handler."""

import enum
from dataclasses import dataclass
from typing import Any, Literal

import pytest

import mcphost
from mcphost import testing
from mcphost.plugin.v1 import plugin_pb2 as pb
from mcphost.testing import accept, decline


@dataclass
class Name:
    name: str
    nick: str | None = None


@dataclass
class Colour:
    colour: Literal["red", "blue"]


def serve(fn: Any) -> testing.Host:
    p = mcphost.Plugin("test", "1")
    p.add_tool(fn, "ask")
    return testing.connect(p)


@pytest.mark.parametrize("kind", ["plain", "async"])
def test_two_rounds_read_like_calls_that_wait(kind: str) -> None:
    done: list[str] = []

    def step() -> list[str]:
        done.append("step")
        return ["a"]

    def ask(ctx: mcphost.Context) -> str:
        found = ctx.once("scan", step)
        name = ctx.elicit("name", "Who?", Name)
        if not name.accepted:
            return "nobody"
        colour = ctx.elicit("colour", f"Which, {name.value.name}?", Colour)
        return f"{found} {name.value.name} {colour.value.colour} {ctx.round}"

    async def ask_async(ctx: mcphost.Context) -> str:
        return ask(ctx)

    h = serve(ask if kind == "plain" else ask_async)
    first = h.call("ask")
    assert first.questions == {
        "name": {
            "mode": "form",
            "message": "Who?",
            "requestedSchema": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "nick": {"type": "string"}},
                "required": ["name"],
            },
        }
    }
    second = first.answer(name=accept(name="Ada", extra=1))
    assert list(second.questions) == ["colour"] and "Ada" in second.questions["colour"]["message"]
    last = second.answer(colour=accept(colour="red"))
    assert last.text == "['a'] Ada red 2"
    assert done == ["step"]
    assert first.answer(name=decline()).text == "nobody"


def test_pydantic_forms_are_flat() -> None:
    pydantic = pytest.importorskip("pydantic")
    size = enum.Enum("size", {"S": "s", "L": "l"})
    shirt = pydantic.create_model("Shirt", size=(size, ...), note=(str | None, None), n=(int, 1))

    def ask(ctx: mcphost.Context) -> str:
        value: Any = ctx.elicit("shirt", "Which?", shirt).value
        return f"{value.size.value} {value.note} {value.n}"

    first = serve(ask).call("ask")
    schema = first.questions["shirt"]["requestedSchema"]
    assert schema == {
        "type": "object",
        "properties": {
            "size": {"title": "size", "type": "string", "enum": ["s", "l"]},
            "note": {"title": "Note", "type": "string"},
            "n": {"title": "N", "type": "integer", "default": 1},
        },
        "required": ["size"],
    }
    assert first.answer(shirt=accept(size="l")).text == "l None 1"
    assert first.answer(shirt=accept(size="m")).questions


def test_forms_are_of_primitives() -> None:
    @dataclass
    class Nested:
        name: Name

    def ask(ctx: mcphost.Context) -> None:
        ctx.elicit("k", "?", Nested)

    assert "internal error" in serve(ask).call("ask").text


def test_an_answer_that_does_not_fit_is_asked_for_again() -> None:
    def ask(ctx: mcphost.Context) -> str:
        return ctx.elicit("colour", "Which?", Colour).value.colour

    first = serve(ask).call("ask")
    for bad in (accept(colour="green"), {"action": "dance"}, 5, {"action": "accept"}, accept()):
        assert list(first.answer(colour=bad).questions) == ["colour"], bad
    assert list(first.answer(other=accept(colour="red")).questions) == ["colour"]
    assert first.answer(colour=accept(colour="red")).text == "red"


def test_questions_together_are_asked_together() -> None:
    def ask(ctx: mcphost.Context) -> str:
        name, said, roots = ctx.together(
            lambda: ctx.elicit("name", "Who?", Name),
            lambda: ctx.sample("capital", "Capital of France?", max_tokens=9, system_prompt="Be brief."),
            lambda: ctx.roots(),
        )
        return f"{name.value.name} {said.text} {roots[0].uri}"

    first = serve(ask).call("ask")
    assert [(r.key, r.method) for r in first.response.input_required.requests] == [
        ("name", "elicitation/create"), ("capital", "sampling/createMessage"), ("roots", "roots/list"),
    ]  # fmt: skip
    assert first.questions["capital"] == {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Capital of France?"}}],
        "systemPrompt": "Be brief.",
        "maxTokens": 9,
    }
    said = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "Paris"}}
    partly = first.answer(name=accept(name="Ada"), capital=said, roots={"roots": 5})
    assert list(partly.questions) == ["roots"]
    assert partly.answer(roots={"roots": [{"uri": "file:///r"}]}).text == "Ada Paris file:///r"


def test_a_swallowed_question_is_still_asked() -> None:
    def ask(ctx: mcphost.Context) -> str:
        try:
            ctx.elicit("name", "Who?", Name)
        except BaseException:
            return "never mind"
        return "asked"

    first = serve(ask).call("ask")
    assert list(first.questions) == ["name"]
    assert first.answer(name=accept(name="x")).text == "asked"


def test_except_exception_does_not_swallow_a_question() -> None:
    def ask(ctx: mcphost.Context) -> str:
        try:
            return ctx.elicit("name", "Who?", Name).value.name
        except Exception as e:
            raise mcphost.ToolError("swallowed") from e

    assert list(serve(ask).call("ask").questions) == ["name"]


def test_two_questions_of_one_key_are_an_error() -> None:
    def ask(ctx: mcphost.Context) -> str:
        ctx.together(lambda: ctx.elicit("k", "Who?", Name), lambda: ctx.elicit("k", "Which?", Colour))
        return ""

    got = serve(ask).call("ask")
    assert got.is_error and got.text == 'two different questions have the key "k"'


def test_what_a_step_did_passes_through_json_and_errors_are_not_kept() -> None:
    runs: list[int] = []

    def step() -> Name:
        runs.append(1)
        if len(runs) == 1:
            raise mcphost.ToolError("not yet")
        return Name("kept")

    def ask(ctx: mcphost.Context) -> str:
        kept = ctx.once("step", step)
        assert type(kept) is Name
        ctx.elicit("colour", "Which?", Colour)
        return kept.name

    h = serve(ask)
    assert h.call("ask").text == "not yet"
    assert h.call("ask").answer(colour=accept(colour="red")).text == "kept" and len(runs) == 2


def test_an_async_step_is_done_once() -> None:
    runs: list[int] = []

    async def step() -> int:
        runs.append(1)
        return 41

    async def ask(ctx: mcphost.Context) -> int:
        n = await ctx.once_async("step", step)
        ctx.elicit("colour", "Which?", Colour)
        return int(n) + 1

    assert serve(ask).call("ask").answer(colour=accept(colour="red")).structured == 42 and runs == [1]


def test_forms_and_pages_by_hand() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}

    def ask(ctx: mcphost.Context) -> str:
        action = ctx.elicit_url("pay", "Pay here.", "https://example.com/pay")
        return f"{action} {ctx.elicit_form('n', 'How many?', schema).value}"

    first = serve(ask).call("ask")
    assert first.questions["pay"] == {"mode": "url", "message": "Pay here.", "url": "https://example.com/pay"}
    second = first.answer(pay={"action": "accept"})
    assert second.questions["n"]["requestedSchema"] == schema
    assert second.answer(n=accept(n=3)).text == "accept {'n': 3}"


def test_input_by_hand_keeps_its_own_state() -> None:
    def ask(ctx: mcphost.Context) -> str:
        if ctx.state is None:
            raise mcphost.InputRequired([mcphost.InputRequest("q", "roots/list", {})], b"\xffown", single_use=True)
        return f"{ctx.state!r} {ctx.input_responses}"

    first = serve(ask).call("ask")
    assert first.response.input_required.single_use
    assert first.answer(q={"roots": []}).text == "b'\\xffown' {'q': {'roots': []}}"


def test_resources_and_prompts_ask_too() -> None:
    p = mcphost.Plugin("test", "1")

    @p.resource("mem://r")
    def read(ctx: mcphost.Context) -> str:
        return ctx.elicit("name", "Who?", Name).value.name

    @p.prompt
    def greet(ctx: mcphost.Context) -> str:
        return ctx.elicit("name", "Who?", Name).value.name

    s, rpc = testing.connect(p).service, testing._RPC()
    answers = {"name": b'{"action":"accept","content":{"name":"Ada"}}'}
    assert s.ReadResource(pb.ReadResourceRequest(uri="mem://r"), rpc).input_required.requests[0].key == "name"
    got = s.ReadResource(pb.ReadResourceRequest(uri="mem://r", input_responses_json=answers), rpc)
    assert got.result.contents[0].text == "Ada"
    assert s.GetPrompt(pb.GetPromptRequest(name="greet"), rpc).input_required.requests[0].key == "name"
    filled = s.GetPrompt(pb.GetPromptRequest(name="greet", input_responses_json=answers), rpc)
    assert filled.result.messages[0].content.text == "Ada"
