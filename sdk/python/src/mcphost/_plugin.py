"""A plugin: a set of tools, resources and prompts that a host can serve."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, NoReturn, TypeVar, cast, overload

from . import _json
from ._catalog import Catalog, Prompt, Resource, ResourceTemplate, Tool
from ._codec import Builder, FieldError, object_codec
from ._config import Config, Setup, no_config
from ._content import Icon, Role, annotations_json, icons_json
from ._context import Context
from ._errors import INVALID_PARAMS, Error, ToolError
from ._handlers import AnyFunction, Runner, Signature, positional, signature
from ._json import valid
from ._result import prompt_result, read_result, renderer_for, verbatim
from ._template import Template
from ._words import Grants, Hook, Secret
from .plugin.v1 import plugin_pb2 as pb

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C")

SDK = "python/0.1.0"
PROTOCOL_MINOR = 0
MAX_COMPLETIONS = 100  # values of one completion, by utilities/completion
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")


class Plugin:
    """A set of tools, resources and prompts that a host can serve. Primitives may be added and removed at any time, from any
    thread, also while it is served.

    Args:
        name: what the host shows.
        version: the same.
        instructions: what the model is told about the plugin's tools as a whole.
        documentation: the page, in Markdown, that the operator reads about the plugin.
        example: the lines of HCL that a block of the plugin typically holds, for who starts it by hand.
        max_concurrent_calls: how many calls the host sends at a time; each has a thread.
        exclusive: there must never be two processes of this plugin at once under one handle.
        resource_updates: the plugin calls resource_updated.
        secrets: the secrets that it reads.
        grants: what it would like its sandbox to allow.
    """

    def __init__(
        self,
        name: str,
        version: str,
        *,
        instructions: str = "",
        documentation: str = "",
        example: str = "",
        max_concurrent_calls: int = 32,
        exclusive: bool = False,
        resource_updates: bool = False,
        secrets: Sequence[Secret] = (),
        grants: Grants | None = None,
    ) -> None:
        if max_concurrent_calls < 1:
            raise ValueError("max_concurrent_calls is at least 1")
        self.name = name
        self.version = version
        self.log = logging.getLogger(name)
        self.log.setLevel(logging.DEBUG)
        self._instructions = instructions
        self._documentation = documentation
        self._example = example
        self._max_calls = max_concurrent_calls
        self._exclusive = exclusive
        self._updates = resource_updates
        self._secrets = list(secrets)
        self._grants = grants
        self._config: Config[Any] | None = None
        self._register: Hook | None = None
        self._authorize: Hook | None = None
        self._subscribed: AnyFunction | None = None
        self._setup: Setup | None = None  # None until the host configured the plugin
        self._catalog = Catalog()
        self._runner = Runner()
        self._described: pb.DescribeResponse | None = None

    # Tools.

    @overload
    def tool(self, fn: F, /) -> F: ...
    @overload
    def tool(
        self,
        name: str = "",
        /,
        *,
        title: str = "",
        description: str | None = None,
        read_only: bool | None = None,
        destructive: bool | None = None,
        idempotent: bool | None = None,
        open_world: bool | None = None,
        timeout: timedelta | None = None,
        icons: Sequence[Icon] = (),
        meta: Mapping[str, Any] | None = None,
        input_schema: Mapping[str, Any] | str | bytes | None = None,
        output_schema: Mapping[str, Any] | str | bytes | None = None,
        definition: Mapping[str, Any] | str | bytes | None = None,
    ) -> Callable[[F], F]: ...
    def tool(self, name: Any = "", /, **options: Any) -> Any:
        """Adds the function below it as a tool, or replaces the one of that name; a host that watches sees it at once.

        The parameters are the arguments, but for one of type :class:`Context`. Their schema comes from type hints, defaults
        and the docstring; what they may hold is what :mod:`json` knows, and Literal, enums, dates, paths, bytes, dataclasses,
        TypedDicts, named tuples and pydantic models. The return annotation decides what the caller gets:

        - ``str``: one text block;
        - a content block, a list of them, or :class:`Result`: just that;
        - ``None``: nothing;
        - no annotation or ``Any``: what of these the value is, or else its JSON as text;
        - every other type: its JSON as text and as structured content, with the schema of the type.

        Args:
            name: 1 to 128 characters of [A-Za-z0-9_.-]; by default the function's.
            title: for people.
            description: what the model chooses by; by default the docstring, less what it says of parameters and results.
            read_only: it changes nothing.
            destructive: it may destroy something.
            idempotent: doing it twice is doing it once; the host may then try again after a crash.
            open_world: it deals with the world outside. A client assumes the worst of what it is not told.
            timeout: by default the host's.
            input_schema: stands in for what the parameters say, and is served verbatim; take the rest as ``**kwargs``.
            output_schema: stands in for what the return annotation says, and is served verbatim.
            definition: the whole MCP object, served verbatim but for the name.
        """
        if callable(name):
            self.add_tool(name)
            return name

        def add(fn: F) -> F:
            self.add_tool(fn, name, **options)
            return fn

        return add

    def add_tool(self, fn: AnyFunction, name: str = "", **options: Any) -> None:
        """:meth:`tool` for a function that is there already. TypeError if it cannot be described."""
        name = _check_name(name or getattr(fn, "__name__", ""))
        try:
            built = self._build_tool(fn, name, **options)
        except (TypeError, ValueError) as e:
            raise (TypeError if isinstance(e, TypeError) else ValueError)(f"tool {name!r}: {e}") from e
        self._catalog.change(lambda c: c.tools.__setitem__(name, built))

    def remove_tool(self, name: str) -> None:
        """Removes a tool, if there is one of that name. Calls of it that run go on."""
        self._catalog.change(lambda c: c.tools.pop(name, None))

    def _build_tool(
        self,
        fn: AnyFunction,
        name: str,
        *,
        title: str = "",
        description: str | None = None,
        read_only: bool | None = None,
        destructive: bool | None = None,
        idempotent: bool | None = None,
        open_world: bool | None = None,
        timeout: timedelta | None = None,
        icons: Sequence[Icon] = (),
        meta: Mapping[str, Any] | None = None,
        input_schema: Any = None,
        output_schema: Any = None,
        definition: Any = None,
    ) -> Tool:
        builder = Builder()
        about = signature(fn, builder)
        # With a schema of the author's own it decides what must be there.
        own_schema = input_schema is not None or definition is not None
        codec = object_codec(about.members, make=_keywords, rest=about.rest, open_=own_schema)
        render, out_schema = renderer_for(about.returns, output_schema is not None or definition is not None)
        tool = pb.Tool(
            name=name, title=valid(title), description=valid(about.description if description is None else description),
            input_schema_json=verbatim(input_schema) or _json.dumps(builder.root(codec.schema)),
            output_schema_json=verbatim(output_schema) or (_json.dumps(out_schema) if out_schema is not None else b""),
            icons_json=icons_json(icons), meta_json=_json.optional(meta), definition_json=verbatim(definition),
        )  # fmt: skip
        hints: dict[str, Any] = {"read_only": read_only, "destructive": destructive, "idempotent": idempotent, "open_world": open_world}
        if said := {hint: value for hint, value in hints.items() if value is not None}:
            tool.annotations.CopyFrom(pb.ToolAnnotations(**said))
        if timeout:
            tool.timeout.FromTimedelta(timeout)
        return Tool(tool, self._tool_call(fn, about, codec.decode, render))

    def _tool_call(self, fn: AnyFunction, about: Signature, decode: Any, render: Any) -> Callable[[Context, bytes], pb.ToolResult]:
        run = self._runner.call

        def call(ctx: Context, raw: bytes) -> pb.ToolResult:
            try:
                arguments = decode(_json.loads(raw or b"{}"), ())
            except ValueError as e:
                raise ToolError(f"invalid arguments: {e}") from None
            if about.context:
                arguments[about.context] = ctx
            return cast(pb.ToolResult, render(run(ctx, fn, **arguments)))

        return call

    # Resources.

    def resource(
        self,
        uri: str,
        /,
        *,
        name: str = "",
        title: str = "",
        description: str | None = None,
        mime_type: str = "",
        size: int | None = None,
        audience: Sequence[Role] = (),
        priority: float | None = None,
        icons: Sequence[Icon] = (),
        meta: Mapping[str, Any] | None = None,
    ) -> Callable[[F], F]:
        """Adds the function below it as a resource, or as a family of them if uri is an RFC 6570 template; the variables are
        then its parameters. A parameter called uri gets the URI, one of type :class:`Context` the context.

        It returns text, bytes, an :class:`EmbeddedResource` or :class:`Blob` or a list of them, a :class:`ReadResult`, or
        something else, whose JSON is the text. None, and a FileNotFoundError, mean that there is no such resource.
        Where several templates match a URI, the first by spelling is asked; a resource of that very URI comes before all.
        """

        def add(fn: F) -> F:
            is_template = "{" in uri
            about = signature(fn, Builder())
            common: dict[str, Any] = {
                "name": valid(name or fn.__name__), "title": valid(title), "mime_type": valid(mime_type),
                "description": valid(about.description if description is None else description),
                "annotations_json": annotations_json(audience, priority, None),
                "icons_json": icons_json(icons), "meta_json": _json.optional(meta),
            }  # fmt: skip
            if not is_template:
                resource = Resource(pb.Resource(uri=uri, size=size, **common), self._reader(fn, about, [], mime_type))
                self._catalog.change(lambda c: c.resources.__setitem__(uri, resource))
                return fn
            try:
                pattern = Template(uri)
            except ValueError as e:
                raise ValueError(f"resource template {uri!r}: {e}") from None
            template = ResourceTemplate(
                pb.ResourceTemplate(uri_template=uri, **common), pattern, self._reader(fn, about, pattern.variables, mime_type)
            )
            self._catalog.change(lambda c: c.templates.__setitem__(uri, template))
            return fn

        return add

    def remove_resource(self, uri: str) -> None:
        """Removes a resource or a template, if there is one of that spelling."""
        self._catalog.change(lambda c: (c.resources.pop(uri, None), c.templates.pop(uri, None)))

    def resource_updated(self, uri: str) -> None:
        """Tells those who watch the resource that its contents changed. It needs resource_updates=True."""
        self._catalog.updated(uri)

    def on_subscriptions(self, fn: F) -> F:
        """Has fn(uris) called with the whole set of resource URIs that somebody watches now, whenever it changes. To be used
        before the plugin is served."""
        positional(fn)
        self._subscribed = fn
        return fn

    def _reader(self, fn: AnyFunction, about: Signature, variables: Sequence[str], mime_type: str) -> Any:
        members = {m.target: m for m in about.members}
        for parameter, member in members.items():
            if parameter not in variables and parameter != "uri" and member.required:
                raise TypeError(f"{fn.__name__}: the parameter {parameter!r} is no variable of the URI")

        def read(ctx: Context, uri: str, values: dict[str, str]) -> pb.ReadResourceResult | None:
            arguments: dict[str, Any] = {}
            for variable, value in values.items():
                if about.rest is not None and variable not in members:
                    arguments[variable] = value
                elif variable in members:
                    try:
                        arguments[variable] = members[variable].codec.decode(value, (variable,))
                    except FieldError:
                        return None  # no resource has such a URI
            if "uri" in members and "uri" not in values:
                arguments["uri"] = uri
            if about.context:
                arguments[about.context] = ctx
            return read_result(self._runner.call(ctx, fn, **arguments), uri, mime_type)

        return read

    # Prompts.

    @overload
    def prompt(self, fn: F, /) -> F: ...
    @overload
    def prompt(
        self,
        name: str = "",
        /,
        *,
        title: str = "",
        description: str | None = None,
        icons: Sequence[Icon] = (),
        meta: Mapping[str, Any] | None = None,
    ) -> Callable[[F], F]: ...
    def prompt(self, name: Any = "", /, **options: Any) -> Any:
        """Adds the function below it as a prompt. Its parameters are strings (Literal and enums of strings, too), but for one
        of type :class:`Context`. It returns text of the user, a :class:`Message` or a list of them, or a :class:`PromptResult`."""
        if callable(name):
            self._add_prompt(name, "")
            return name

        def add(fn: F) -> F:
            self._add_prompt(fn, name, **options)
            return fn

        return add

    def remove_prompt(self, name: str) -> None:
        """Removes a prompt, if there is one of that name."""
        self._catalog.change(lambda c: c.prompts.pop(name, None))

    def _add_prompt(
        self,
        fn: AnyFunction,
        name: str,
        *,
        title: str = "",
        description: str | None = None,
        icons: Sequence[Icon] = (),
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        name = _check_name(name or getattr(fn, "__name__", ""))
        about = signature(fn, Builder())
        for member in about.members:
            if "string" not in (member.codec.schema.get("type"), *_list(member.codec.schema.get("type"))):
                raise TypeError(f"prompt {name!r}: the argument {member.name!r} is no string")
        decode = object_codec(about.members, make=_keywords).decode

        def get(ctx: Context, given: dict[str, str]) -> pb.GetPromptResult:
            try:
                arguments = decode(given, ())
            except FieldError as e:
                raise Error(INVALID_PARAMS, f"invalid arguments: {e}") from None
            if about.context:
                arguments[about.context] = ctx
            return prompt_result(self._runner.call(ctx, fn, **arguments))

        definition = pb.Prompt(
            name=name, title=valid(title), description=valid(about.description if description is None else description),
            arguments=[
                pb.PromptArgument(
                    name=m.name, title=m.codec.schema.get("title", ""), description=valid(m.codec.schema.get("description", "")),
                    required=m.required,
                )
                for m in about.members
            ],
            icons_json=icons_json(icons), meta_json=_json.optional(meta),
        )  # fmt: skip
        self._catalog.change(lambda c: c.prompts.__setitem__(name, Prompt(definition, get)))

    def completion(self, of: str, argument: str, /) -> Callable[[F], F]:
        """Has the function below it propose values for an argument of a prompt, or for a variable of a resource template.
        fn(value, others) gets what is typed so far, and the arguments that are there already if it takes a second
        parameter; it returns strings, best first. More than 100 are cut."""
        kind = pb.PrimitiveRef.KIND_RESOURCE_TEMPLATE if "{" in of else pb.PrimitiveRef.KIND_PROMPT

        def add(fn: F) -> F:
            arrange = positional(fn)

            def complete(ctx: Context, value: str, others: dict[str, str]) -> list[str]:
                args = arrange(ctx, value, others)
                return [valid(v) for v in self._runner.call(ctx, fn, *args)]

            self._catalog.change(lambda c: c.completions.__setitem__((kind, of, argument), complete))
            return fn

        return add

    # Configuration and hooks.

    def config(self, type_: type[C], /) -> Config[C]:
        """Declares that the plugin has a configuration: a dataclass, TypedDict or pydantic model. A Path, and a string with
        Field(path=True), is a path, which the host makes absolute; one with Field(secret=True) is never shown. If it has
        a method validate, that is asked too, and may raise :class:`Invalid`."""
        config: Config[C] = Config(type_, self._runner)
        self._config = config
        return config

    def should_register(self, *, keep: timedelta = timedelta(0)) -> Callable[[F], F]:
        """Sets the hook fn(ref) -> bool that decides whether a primitive is there at all for a caller. The host may keep an
        answer for the time given. An exception is a no. A hook can only narrow what the operator allows, has a short
        deadline, and must be set before the plugin is served."""

        def add(fn: F) -> F:
            positional(fn)
            self._register = Hook(fn, keep)
            return fn

        return add

    def authorize(self, *, keep: timedelta = timedelta(0)) -> Callable[[F], F]:
        """Sets the hook fn(ref, arguments) -> bool or :class:`Verdict` that decides whether a caller may see or use a primitive.
        arguments is None when it is only listed. An exception is a denial; keep is about listings. What
        :meth:`should_register` says about hooks holds here too."""

        def add(fn: F) -> F:
            positional(fn)
            self._authorize = Hook(fn, keep)
            return fn

        return add

    # Serving.

    def main(self) -> NoReturn:
        """The whole main function of a plugin: serves the host that started the process, and ends the process when the host says so or
        goes away. Started by hand, it prints what this is."""
        from ._serve import main

        sys.exit(main(self))

    def _describe(self) -> pb.DescribeResponse:
        """The static facts. The first answer is kept, so that the bytes never change."""
        if self._described is None:
            grants = self._grants
            self._described = pb.DescribeResponse(
                name=self.name, version=self.version, sdk=SDK, protocol_minor=PROTOCOL_MINOR,
                capabilities=self._capabilities(), config_schema_json=self._config.schema if self._config else b"",
                documentation_markdown=self._documentation,
                grants=None if grants is None else pb.GrantRequest(
                    read_paths=grants.read_paths, write_paths=grants.write_paths, network_hosts=grants.network_hosts,
                    environment=grants.environment, spawn_processes=grants.spawn_processes,
                ),
                secrets=[pb.SecretSpec(name=s.name, description=s.description, required=s.required) for s in self._secrets],
            )  # fmt: skip
        return self._described

    def _capabilities(self) -> pb.Capabilities:
        """What the plugin can do with the primitives that it has now."""
        now = self._catalog.load()
        return pb.Capabilities(
            tools=True, resources=bool(now.resources or now.templates), prompts=bool(now.prompts),
            resource_updates=self._updates or self._subscribed is not None, completions=bool(now.completions),
            catalog_changes=True, streaming=True, should_register=self._register is not None,
            authorize=self._authorize is not None, max_concurrent_calls=self._max_calls, exclusive=self._exclusive,
        )  # fmt: skip

    def _configurer(self) -> Config[Any]:
        """The plugin's configuration; one without takes an empty block alone."""
        return self._config or no_config(self._runner)


def _keywords(**arguments: Any) -> dict[str, Any]:
    return arguments


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _check_name(name: str) -> str:
    # server/tools: names are 1 to 128 characters of A-Z a-z 0-9 _ . and -.
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name: it has 1 to 128 characters of [A-Za-z0-9_.-]")
    return name
