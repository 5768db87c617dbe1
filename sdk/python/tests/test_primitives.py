"""Resources, prompts, completion, configuration, hooks, and changes while running."""

import enum
import json
import threading
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

import mcphost
from mcphost import testing
from mcphost._service import Refused
from mcphost._template import Template
from mcphost.plugin.v1 import plugin_pb2 as pb


def rpc() -> testing._RPC:
    return testing._RPC()


def test_reading_resources() -> None:
    p = mcphost.Plugin("test", "1")

    @p.resource("mem://text", title="T", mime_type="text/plain", size=2, audience=["user"], priority=1)
    def text() -> str:
        """Some text."""
        return "hi"

    @p.resource("mem://blob", mime_type="x/y")
    async def blob(uri: str) -> bytes:
        return uri.encode()

    @p.resource("mem://whole")
    def whole() -> mcphost.ReadResult:
        return mcphost.ReadResult([mcphost.Blob("mem://whole#1", b"\0")], ttl=timedelta(seconds=2), public=True)

    @p.resource("mem://json")
    def structured() -> dict[str, int]:
        return {"a": 1}

    @p.resource("file:///{folder}/{+rest}")
    def files(rest: str, folder: Literal["a", "b"], ctx: mcphost.Context, uri: str) -> str:
        if rest == "missing":
            raise FileNotFoundError(rest)
        if rest == "broken":
            raise KeyError("secret")
        return f"{folder}|{rest}|{uri}|{ctx.id}"

    h = testing.connect(p)
    assert h.read("mem://text") == ["hi"] and h.read("mem://blob") == [b"mem://blob"] and h.read("mem://json") == ['{"a":1}']
    assert h.read("file:///a/x%20y/z") == ["a|x y/z|file:///a/x%20y/z|call"]
    result = h.service.ReadResource(pb.ReadResourceRequest(uri="mem://whole"), rpc()).result
    assert result.cache.ttl.seconds == 2 and result.cache.scope == pb.CacheHint.SCOPE_PUBLIC
    for uri in ("mem://nope", "file:///c/x", "file:///a/missing"):
        error = h.service.ReadResource(pb.ReadResourceRequest(uri=uri), rpc()).error
        assert (error.code, error.message, json.loads(error.data_json)) == (-32602, "resource not found", {"uri": uri})
    error = h.service.ReadResource(pb.ReadResourceRequest(uri="file:///a/broken"), rpc()).error
    assert error.code == -32603 and "incident" in error.message and "secret" not in error.message
    catalog = h.catalog()
    assert [r.uri for r in catalog.resources] == ["mem://blob", "mem://json", "mem://text", "mem://whole"]
    shown = catalog.resources[2]
    assert (shown.name, shown.title, shown.description, shown.size) == ("text", "T", "Some text.", 2)
    assert json.loads(shown.annotations_json) == {"audience": ["user"], "priority": 1}
    assert catalog.resource_templates[0].uri_template == "file:///{folder}/{+rest}"
    p.remove_resource("mem://text")
    assert len(h.catalog().resources) == 3


def test_parameters_of_resources_are_variables() -> None:
    p = mcphost.Plugin("test", "1")
    with pytest.raises(TypeError, match="'other' is no variable"):

        @p.resource("mem://{a}")
        def read(a: str, other: str) -> str:
            return ""

    with pytest.raises(ValueError, match="braces"):
        p.resource("mem://{a")(lambda: "")


@pytest.mark.parametrize(
    ("template", "uri", "values"),
    [
        ("a://{x}", "a://b", {"x": "b"}),
        ("a://{x}", "a://b/c", None),
        ("a://{x}", "a://", {"x": ""}),
        ("a://{x}/{y}", "a://b/%2Fc", {"x": "b", "y": "/c"}),
        ("a://{+x}", "a://b/c?d", {"x": "b/c?d"}),
        ("a://b{/x,y}", "a://b/1/2", {"x": "1", "y": "2"}),
        ("a://b{/x*}", "a://b/1/2", {"x": "1/2"}),
        ("a://b{?x,y}", "a://b?x=1&y=2", {"x": "1", "y": "2"}),
        ("a://b{?x,y}", "a://b?y=2", None),
        ("a://b{?x}", "a://b", {"x": ""}),
        ("a://b{#x}", "a://b#c/d", {"x": "c/d"}),
        ("a://b{.x}", "a://b.json", {"x": "json"}),
        ("a://b{;x}", "a://b;x=1", {"x": "1"}),
        ("a.b://{x}", "aXb://c", None),
    ],
)
def test_templates(template: str, uri: str, values: dict[str, str] | None) -> None:
    assert Template(template).match(uri) == values


class Tone(enum.Enum):
    WARM = "warm"
    DRY = "dry"


def test_prompts() -> None:
    p = mcphost.Plugin("test", "1")

    @p.prompt(title="Review")
    def review(code: str, tone: Tone = Tone.WARM, language: str | None = None) -> list[mcphost.Message]:
        """Reviews code.

        Args:
            code: what to review
        """
        return [mcphost.Message(f"{code} {tone.value} {language}"), mcphost.Message(mcphost.Text("ok"), "assistant")]

    @p.prompt("short")
    async def other() -> str:
        return "hi"

    h = testing.connect(p)
    messages = h.prompt("review", code="x", tone="dry").messages
    assert [(m.role, m.content.text) for m in messages] == [("user", "x dry None"), ("assistant", "ok")]
    assert h.prompt("short").messages[0].content.text == "hi"
    for given, message in [({}, '"code" is missing'), ({"code": "x", "tone": "loud"}, '"tone" must be one of "warm", "dry"')]:
        error = h.service.GetPrompt(pb.GetPromptRequest(name="review", arguments=given), rpc()).error
        assert (error.code, error.message) == (-32602, "invalid arguments: " + message)
    assert h.service.GetPrompt(pb.GetPromptRequest(name="nope"), rpc()).error.code == -32602
    shown = h.catalog().prompts[0]
    assert [(a.name, a.description, a.required) for a in shown.arguments] == [
        ("code", "what to review", True), ("tone", "", False), ("language", "", False),
    ]  # fmt: skip
    with pytest.raises(TypeError, match="'n' is no string"):

        @p.prompt
        def numbers(n: int) -> str:
            return ""


def test_completion() -> None:
    p = mcphost.Plugin("test", "1")

    @p.prompt
    def review(language: str) -> str:
        return language

    @p.resource("mem://{name}")
    def read(name: str) -> str:
        return name

    @p.completion("review", "language")
    def languages(value: str) -> list[str]:
        return [f"{value}{i}" for i in range(150)]

    @p.completion("mem://{name}", "name")
    async def names(value: str, others: dict[str, str], ctx: mcphost.Context) -> list[str]:
        return [value, others.get("x", ""), ctx.id]

    h = testing.connect(p)
    assert h.complete("mem://{name}", "name", "a", x="b") == ["a", "b", "call"]
    ref = pb.PrimitiveRef(kind=pb.PrimitiveRef.KIND_PROMPT, name="review")
    result = h.service.Complete(pb.CompleteRequest(reference=ref, argument_name="language", argument_value="p"), rpc()).result
    assert len(result.values) == 100 and result.total == 150 and result.has_more
    assert h.complete("review", "other", "") == []
    ref.name = "nope"
    assert h.service.Complete(pb.CompleteRequest(reference=ref), rpc()).error.code == -32602


@dataclass
class Settings:
    root: Path
    token: Annotated[str, mcphost.Field(secret=True)] = ""
    depth: Annotated[int, mcphost.Field(minimum=1)] = 3

    def validate(self) -> None:
        if self.root == Path("/nowhere"):
            raise mcphost.Invalid("/root", "No such folder", f"There is no {self.root}.")
        if self.depth == 9:
            raise mcphost.Invalid.of([mcphost.Diagnostic("Deep", pointer="/depth", warning=True)])


def test_configuration_is_checked_and_handed_over(tmp_path: Path) -> None:
    p = mcphost.Plugin("test", "1", secrets=[mcphost.Secret("key")])
    settings = p.config(Settings)
    started: list[Any] = []

    @settings.on_start
    async def start(setup: mcphost.Setup, config: Settings) -> None:
        if config.depth == 7:
            raise OSError("the disk is full")
        started.append((setup.handle, setup.secret("key"), config))
        p.add_tool(lambda: str(settings.value.root), "root")

    schema = json.loads(p._describe().config_schema_json)
    assert schema["properties"]["root"] == {"type": "string", "x-mcphost-path": True}
    assert schema["properties"]["token"]["writeOnly"] and schema["required"] == ["root"]
    host = testing.Host(p)

    def validate(config: Any) -> list[tuple[str, str, str]]:
        response = host.service.ValidateConfig(pb.ValidateConfigRequest(config_json=json.dumps(config).encode()), rpc())
        return [(d.summary, d.detail, d.pointer) for d in response.diagnostics]

    assert validate({"root": "/x"}) == []
    assert validate({}) == [("Invalid configuration", 'The attribute "root" is missing.', "")]
    assert validate({"root": 1}) == [("Invalid configuration", 'The attribute "root" must be string, not number.', "/root")]
    assert validate({"root": "/x", "roof": 1}) == [("Invalid configuration", 'The attribute "roof" is unknown.', "/roof")]
    assert validate({"root": "/nowhere"}) == [("No such folder", "There is no /nowhere.", "/root")]
    with pytest.raises(testing.InvalidConfig, match="the disk is full"):
        testing.connect(p, {"root": "/x", "depth": 7})
    with pytest.raises(RuntimeError):
        settings.value
    h = testing.connect(p, Settings(Path("/x"), depth=9), secrets={"key": "v"}, data_dir=tmp_path)
    assert started == [("test", "v", Settings(Path("/x"), depth=9))]
    assert h.call("root").text == "/x"
    with pytest.raises(Refused, match="already"):
        h.service.Configure(pb.ConfigureRequest(), rpc())


def test_a_broken_check_of_the_configuration_is_redacted(caplog: pytest.LogCaptureFixture) -> None:
    p = mcphost.Plugin("test", "1")

    @p.config(Settings).on_start
    def start(setup: mcphost.Setup, config: Settings) -> None:
        raise KeyError("secret")

    with pytest.raises(testing.InvalidConfig) as e:
        testing.connect(p, {"root": "/x"})
    assert "secret" not in str(e.value) and caplog.records[-1].incident in str(e.value)  # type: ignore[attr-defined]


def test_a_plugin_without_configuration_takes_none() -> None:
    testing.connect(mcphost.Plugin("test", "1"))
    with pytest.raises(testing.InvalidConfig, match='"x" is unknown'):
        testing.connect(mcphost.Plugin("test", "1"), {"x": 1})


def test_hooks_are_announced_only_if_set_and_fail_closed() -> None:
    bare = mcphost.Plugin("test", "1")
    assert not bare._capabilities().authorize and not bare._capabilities().should_register
    with pytest.raises(Refused):
        testing.connect(bare).service.Authorize(pb.AuthorizeRequest(), rpc())
    p = mcphost.Plugin("test", "1")

    @p.should_register(keep=timedelta(seconds=5))
    def register(ctx: mcphost.Context, ref: mcphost.Ref) -> bool:
        if ref.name == "broken":
            raise RuntimeError
        return ref.kind == "tool" and ctx.principal.subject == "tester"

    @p.authorize()
    async def authorize(ref: mcphost.Ref, arguments: Any) -> Any:
        if ref.name == "broken":
            raise RuntimeError
        if ref.name == "odd":
            return "yes"
        return mcphost.Verdict(arguments == {"a": 1}, "because", ["write"]) if ref.name == "v" else True

    h = testing.connect(p)

    def refs(*names: str) -> list[pb.PrimitiveRef]:
        return [pb.PrimitiveRef(kind=pb.PrimitiveRef.KIND_TOOL, name=n) for n in names]

    answer = h.service.ShouldRegister(pb.ShouldRegisterRequest(context=testing.context(), primitives=refs("a", "b")), rpc())
    assert list(answer.register) == [True, True] and answer.cache_for.seconds == 5
    answer = h.service.ShouldRegister(pb.ShouldRegisterRequest(context=testing.context(), primitives=refs("a", "broken")), rpc())
    assert list(answer.register) == [True, False] and answer.cache_for.seconds == 0

    def verdicts(purpose: Any, *names: str, arguments: bytes = b"") -> list[tuple[bool, str]]:
        request = pb.AuthorizeRequest(purpose=purpose, primitives=refs(*names), arguments_json=arguments)
        return [(v.decision == pb.Verdict.DECISION_ALLOW, v.reason) for v in h.service.Authorize(request, rpc()).verdicts]

    listing = verdicts(pb.AuthorizeRequest.PURPOSE_LIST, "a", "v", "broken", "odd", arguments=b'{"a":1}')
    assert listing == [(True, ""), (False, "because"), (False, "the hook failed"), (False, "")]
    assert verdicts(pb.AuthorizeRequest.PURPOSE_USE, "v", arguments=b'{"a":1}') == [(True, "because")]


def test_changes_while_running_reach_the_watcher() -> None:
    p = mcphost.Plugin("test", "1", instructions="Use them.", resource_updates=True)
    over = rpc()
    stream = testing.connect(p).service.Watch(pb.WatchRequest(), over)
    first = next(stream).catalog
    assert first.last and first.instructions == "Use them." and not first.tools
    p.add_tool(lambda: "x", "a")
    p.add_tool(lambda: "x", "b")
    p.resource_updated("mem://x")
    p.resource_updated("mem://x")
    second = next(stream).catalog
    assert [t.name for t in second.tools] == ["a", "b"] and second.revision > first.revision
    assert next(stream).resource_updated.uri == "mem://x"
    timer = threading.Timer(0.05, lambda: p.remove_tool("a"))
    timer.start()
    assert [t.name for t in next(stream).catalog.tools] == ["b"]
    timer.join()
    over.cancel()
    assert list(stream) == [] and not p._catalog._watchers


def test_a_big_catalog_comes_in_parts() -> None:
    p = mcphost.Plugin("test", "1")
    for i in range(40):
        p.tool(f"t{i:02}", description="x" * 100_000)(lambda: "")
    parts = list(p._catalog.load().parts(""))
    assert len(parts) > 3 and [part.last for part in parts] == [False] * (len(parts) - 1) + [True]
    assert max(part.ByteSize() for part in parts) < 2 << 20
    assert [t.name for part in parts for t in part.tools] == [f"t{i:02}" for i in range(40)]


def test_subscriptions_reach_the_plugin() -> None:
    p = mcphost.Plugin("test", "1")
    seen: list[list[str]] = []
    p.on_subscriptions(seen.append)
    assert p._capabilities().resource_updates
    testing.connect(p).service.SetSubscriptions(pb.SetSubscriptionsRequest(uris=["a", "b"]), rpc())
    assert seen == [["a", "b"]]


def test_the_manifest_does_not_change_unseen(tmp_path: Path) -> None:
    p = mcphost.Plugin("test", "1", documentation="# Test", grants=mcphost.Grants(read_paths=["~"]))

    @p.tool(read_only=True, open_world=False)
    def greet(name: str, tone: Literal["warm", "dry"] = "warm") -> dict[str, int]:
        """Greets somebody."""
        return {}

    testing.check_manifest(p, Path(__file__).with_name("manifest.json"))
    testing.check_manifest(p, tmp_path / "new.json")
    p.tool("greet")(lambda: "")
    with pytest.raises(AssertionError, match="the manifest changed"):
        testing.check_manifest(p, tmp_path / "new.json")


def test_describe_never_changes() -> None:
    p = mcphost.Plugin("test", "1")
    first = p._describe().SerializeToString(deterministic=True)
    p.resource("mem://x")(lambda: "")
    assert p._describe().SerializeToString(deterministic=True) == first and p._capabilities().resources
