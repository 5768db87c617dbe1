"""Tools: what they return, how they fail, and what they say meanwhile."""

import asyncio
import functools
import json
import logging
import threading
from dataclasses import dataclass
from typing import Any, TypedDict

import pytest
from conftest import HERE

import mcphost
from mcphost import testing
from mcphost._service import RPC, Refused
from mcphost.plugin.v1 import plugin_pb2 as pb


@dataclass
class Weather:
    text: str
    days: int


def plugin(*functions: Any, **options: Any) -> mcphost.Plugin:
    p = mcphost.Plugin("test", "1.2.3", **options)
    for fn in functions:
        p.add_tool(fn)
    return p


def test_one_value_is_text_and_structured_content_of_the_same_bytes() -> None:
    def weather(city: str, days: int = 3) -> Weather:
        return Weather(f"<sun> & rain in {city}", days)

    got = testing.connect(plugin(weather)).call("weather", city="Oslo")
    assert got.text == '{"text":"<sun> & rain in Oslo","days":3}'
    assert got.response.result.structured_json == got.text.encode()
    assert got.decode(Weather) == Weather("<sun> & rain in Oslo", 3)


def test_arguments_may_be_a_typed_value() -> None:
    @dataclass
    class Arguments:
        a: int

    def double(a: int) -> int:
        return 2 * a

    assert testing.connect(plugin(double)).call("double", Arguments(2)).structured == 4


class Pair(TypedDict):
    a: int


def text() -> str:
    return "hi"


def nothing() -> None:
    return None


def picture() -> mcphost.Image:
    return mcphost.Image(b"\0\xff", "image/png")


def blocks() -> list[mcphost.Content]:
    return [
        mcphost.Text("a", audience=["user"], priority=0.5),
        mcphost.Audio(b"x", "audio/wav"),
        mcphost.EmbeddedResource("mem://a", "t", "text/plain", meta={"k": 1}),
        mcphost.Blob("mem://b", b"\0"),
        mcphost.ResourceLink("mem://c", "c", size=5),
        mcphost.RawContent({"type": "new", "x": 1}),
    ]


def mixed() -> list[mcphost.Text | mcphost.Image]:
    return [mcphost.Text("a"), mcphost.Image(b"", "image/png")]


def anything(what: str):  # type: ignore[no-untyped-def]
    return {"text": "t", "value": {"a": 1}, "none": None, "image": picture(), "list": [mcphost.Text("x"), "y"]}[what]


def whole() -> mcphost.Result:
    return mcphost.Result(["see"], {"n": 1}, is_error=True, meta={"m": 1})


def structured_only() -> mcphost.Result:
    return mcphost.Result(structured=[1])


def number() -> int:
    return 2**70


def pair() -> Pair:
    return {"a": 1}


def maybe() -> str | None:
    return None


def test_kinds_of_results() -> None:
    p = plugin(text, nothing, picture, blocks, mixed, anything, whole, structured_only, number, pair, maybe)
    h = testing.connect(p)
    assert h.call("text").text == "hi" and h.call("text").structured is None
    assert h.call("nothing").content == []
    assert h.call("picture").content == [pb.Content(image=pb.Blob(data=b"\0\xff", mime_type="image/png"))]
    assert [c.WhichOneof("kind") for c in h.call("blocks").content] == [
        "text", "audio", "resource", "resource", "resource_link", "content_json",
    ]  # fmt: skip
    first, _, embedded, blob, link, raw = h.call("blocks").content
    assert json.loads(first.annotations_json) == {"audience": ["user"], "priority": 0.5}
    assert embedded.resource.text == "t" and json.loads(embedded.meta_json) == {"k": 1}
    assert blob.resource.blob == b"\0" and link.resource_link.size == 5 and json.loads(raw.content_json)["type"] == "new"
    assert len(h.call("mixed").content) == 2
    assert h.call("anything", what="value").text == '{"a":1}' and h.call("anything", what="value").structured is None
    assert h.call("anything", what="none").content == [] and h.call("anything", what="image").content[0].HasField("image")
    assert h.call("anything", what="list").text == "xy"
    got = h.call("whole").response.result
    assert (got.is_error, got.structured_json, got.content[0].text, got.meta_json) == (True, b'{"n":1}', "see", b'{"m":1}')
    assert h.call("structured_only").text == "[1]"
    assert h.call("number").structured == 2**70
    assert h.call("pair").structured == {"a": 1}
    assert h.call("maybe").text == "null" and h.call("maybe").structured is None
    schemas = {n: t.definition.output_schema_json for n, t in p._catalog.load().tools.items()}
    assert {n for n, s in schemas.items() if s} == {"number", "pair", "maybe"}


def test_plain_and_async_functions_methods_and_callables() -> None:
    class Counter:
        def __init__(self) -> None:
            self.n = 0

        def up(self, by: int = 1) -> int:
            self.n += by
            return self.n

        def __call__(self, to: int) -> int:
            """Sets it."""
            self.n = to
            return to

    async def slow(ctx: mcphost.Context) -> str:
        await asyncio.sleep(0)
        return ctx.id

    counter = Counter()
    p = plugin(counter.up, slow)
    p.add_tool(counter, "set")
    p.add_tool(functools.partial(counter.up, by=1), "next")
    h = testing.connect(p)
    assert h.call("up", by=2).structured == 2 and h.call("set", to=7).structured == 7
    assert h.call("slow").text == "call" and h.call("next").structured == 8
    assert p._catalog.load().tools["set"].definition.description == "Sets it."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"city": 5}, '"city" must be string, not number'),
        ({"city": "a", "days": 1.5}, '"days" must be integer, not number 1.5'),
        ({"days": 1}, '"city" is missing'),
        ({"city": "a", "town": "b"}, '"town" is unknown'),
        ({"city": None}, '"city" must be string, not null'),
        ([1], "must be object, not array"),
    ],
)
def test_wrong_arguments_are_an_error_result_that_names_the_field(arguments: Any, message: str) -> None:
    def weather(city: str, days: int = 3) -> Weather:
        raise AssertionError

    got = testing.connect(plugin(weather)).call("weather", arguments)
    assert got.is_error and got.text == "invalid arguments: " + message


def fails(how: str) -> str:
    if how == "tool":
        raise mcphost.ToolError("no such \ud800 city")
    if how == "error":
        raise mcphost.Error(-32021, "needs sampling", {"requiredCapabilities": {"sampling": {}}})
    if how == "exit":
        raise SystemExit(3)
    if how == "group":
        raise BaseExceptionGroup("g", [ValueError("x"), mcphost.ToolError("in a group")])  # noqa: F821
    raise ValueError("the password is hunter2")


@pytest.mark.parametrize("kind", ["plain", "async"])
def test_errors(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    async def fails_async(how: str) -> str:
        return fails(how)

    p = mcphost.Plugin("test", "1")
    p.add_tool(fails if kind == "plain" else fails_async, "fails")
    h = testing.connect(p)
    got = h.call("fails", how="tool")
    assert got.is_error and got.text == "no such \ufffd city"
    error = h.call("fails", how="error").error
    assert error and (error.code, error.message) == (-32021, "needs sampling") and b"sampling" in error.data_json
    for how in ("other", "exit"):
        caplog.clear()
        got = h.call("fails", how=how)
        assert got.is_error and got.text.startswith("internal error in tool fails (incident ") and "hunter2" not in got.text
        record = caplog.records[-1]
        assert record.incident in got.text and record.levelno == logging.ERROR  # type: ignore[attr-defined]
        assert record.exc_info
    unknown = h.call("nope").error
    assert unknown and unknown.code == -32602


@pytest.mark.skipif(not hasattr(__import__("builtins"), "BaseExceptionGroup"), reason="groups are new in 3.11")
def test_an_error_in_a_group_is_the_one_that_is_meant() -> None:
    assert testing.connect(plugin(fails)).call("fails", how="group").text == "in a group"


def test_results_without_json_are_redacted_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> dict[str, Any]:
        return {"x": object()}

    assert "internal error" in testing.connect(plugin(broken)).call("broken").text
    assert "has no JSON" in str(caplog.records[-1].exc_info)


def test_progress_and_logs() -> None:
    def work(ctx: mcphost.Context) -> str:
        ctx.progress(1, 3, "one")
        ctx.progress(1, 3, "again")
        ctx.progress(2)
        ctx.log("debug", {"a": 1}, logger="l")
        ctx.log("error", "bad")
        return "done"

    h = testing.connect(plugin(work))
    got = h.call("work")
    assert got.progress == [(1, 3, "one"), (2, None, "")]
    assert got.logs == [("debug", {"a": 1}), ("error", "bad")]
    quiet = pb.CallToolRequest(context=testing.context(want_progress=False, log_level="warning"), name="work")
    assert h._run(quiet).progress == [] and h._run(quiet).logs == [("error", "bad")]


def test_a_tool_that_says_more_than_is_read_ends_all_the_same() -> None:
    ended = threading.Event()

    def babble(ctx: mcphost.Context) -> None:
        n = 0
        while not ctx.cancelled:
            n += 1
            ctx.progress(n)
        ended.set()

    h = testing.connect(plugin(babble))
    rpc = testing._RPC()
    stream = h.service.CallToolStream(pb.CallToolStreamRequest(call=pb.CallToolRequest(context=testing.context(), name="babble")), rpc)
    assert next(stream).progress.progress == 1
    rpc.cancel()
    assert ended.wait(5)


def test_unary_and_stream_agree() -> None:
    p = plugin(text, picture, whole, fails)
    h = testing.connect(p)
    for name, arguments in [("text", {}), ("picture", {}), ("whole", {}), ("fails", {"how": "tool"}), ("fails", {"how": "error"}), ("text", {"x": 1})]:
        streamed = h.call(name, arguments)
        assert h.service.CallTool(streamed._request, RPC()) == streamed.response


def test_the_call_knows_its_caller(tmp_path: Any) -> None:
    seen: dict[str, Any] = {}

    def who(ctx: mcphost.Context) -> None:
        seen.update(
            principal=ctx.principal, client=ctx.client, sampling=ctx.supports("sampling"), meta=ctx.meta, secret=ctx.secret("key"),
            missing=ctx.secret("other"), data=ctx.data_dir, handle=ctx.handle, trace=ctx.traceparent, transport=ctx.transport,
        )  # fmt: skip

    h = testing.connect(plugin(who), secrets={"key": "v"}, data_dir=tmp_path)
    about = testing.context(
        principal=pb.Principal(subject="ada", issuer="i", scopes=["read"], claims_json=b'{"a":1}'), traceparent="00-1",
        client_info_json=b'{"name":"c","version":"2"}', meta_json=b'{"m":1}', transport="http",
    )  # fmt: skip
    h._run(pb.CallToolRequest(context=about, name="who"))
    assert seen["principal"] == mcphost.Principal("ada", "i", frozenset({"read"}), {"a": 1})
    assert (seen["client"].name, seen["client"].version, seen["client"].title) == ("c", "2", "")
    assert seen["sampling"] and seen["meta"] == {"m": 1} and (seen["secret"], seen["missing"]) == ("v", None)
    assert (seen["data"], seen["handle"], seen["trace"], seen["transport"]) == (tmp_path, "test", "00-1", "http")


@pytest.mark.parametrize("kind", ["plain", "async"])
def test_cancel_reaches_the_tool(kind: str) -> None:
    entered, left = threading.Event(), threading.Event()

    def plain(ctx: mcphost.Context) -> None:
        entered.set()
        try:
            ctx.sleep(60)
        except mcphost.Cancelled:
            left.set()
            raise

    async def asynchronous() -> None:
        entered.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            left.set()
            raise

    p = mcphost.Plugin("test", "1")
    p.add_tool(plain if kind == "plain" else asynchronous, "wait")
    h = testing.connect(p)
    rpc = testing._RPC()
    thread = threading.Thread(target=lambda: h.service.CallTool(pb.CallToolRequest(context=testing.context(), name="wait"), rpc))
    thread.start()
    assert entered.wait(5)
    rpc.cancel()
    thread.join(5)
    assert left.is_set() and not thread.is_alive()


def test_fifty_calls_at_once_while_tools_change() -> None:
    def echo(n: int) -> int:
        return n

    p = plugin(echo)
    h = testing.connect(p)
    got: list[Any] = []

    def call(n: int) -> None:
        p.add_tool(text, f"text{n}")
        got.append((n, h.call("echo", n=n).structured))
        p.remove_tool(f"text{n}")

    threads = [threading.Thread(target=call, args=(n,)) for n in range(50)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(10)
    assert sorted(got) == [(n, n) for n in range(50)] and list(p._catalog.load().tools) == ["echo"]


def test_too_large_a_result_is_an_error_result() -> None:
    def large() -> str:
        return "x" * (17 << 20)

    got = testing.connect(plugin(large)).call("large")
    assert got.is_error and got.text.startswith("the result is too large: ")


def test_own_schemas_are_served_verbatim() -> None:
    p = mcphost.Plugin("test", "1")
    schema = '{ "type": "object",  "properties": {"a": {"type": "integer"}} }'

    @p.tool("own", input_schema=schema, output_schema={"type": "object"}, timeout=None, meta={"k": 1}, icons=[mcphost.Icon("data:,")])
    def own(**arguments: Any) -> Any:
        return arguments

    definition = p._catalog.load().tools["own"].definition
    assert definition.input_schema_json.decode() == schema and definition.output_schema_json == b'{"type":"object"}'
    assert definition.icons_json == b'[{"src":"data:,"}]'
    assert testing.connect(p).call("own", a=1, b=[2]).structured == {"a": 1, "b": [2]}


def test_broken_declarations_are_errors_when_they_are_made() -> None:
    p = mcphost.Plugin("test", "1")
    with pytest.raises(ValueError, match="is no name"):
        p.add_tool(text, "a b")
    with pytest.raises(TypeError, match="tool 'lambda'"):
        p.add_tool(lambda *a: None, "lambda")

    def unknown(a: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(TypeError, match="'Nowhere' is not known"):
        p.add_tool(unknown)

    def complex_result() -> complex:
        return 1j

    with pytest.raises(TypeError, match="complex"):
        p.add_tool(complex_result)
    with pytest.raises(ValueError):
        p.add_tool(text, input_schema="{")


def test_a_plugin_that_is_not_configured_takes_no_calls() -> None:
    @dataclass
    class Settings:
        root: str

    p = plugin(text)
    p.config(Settings)
    h = testing.connect(p, configure=False)
    with pytest.raises(Refused, match="not configured"):
        h.call("text")


def test_the_first_lines_of_the_readme() -> None:
    readme = (HERE.parent / "README.md").read_text()
    space: dict[str, Any] = {"__name__": "readme"}
    exec(readme.split("```python\n")[1].split("```")[0], space)
    assert testing.connect(space["p"]).call("greet", name="Ada").text == "Hello, Ada! "
