"""The configuration of a plugin as a typed value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from . import _json
from ._codec import Builder, Codec, FieldError, object_codec
from ._errors import Diagnostic, Invalid
from ._handlers import Runner, positional
from ._json import valid
from .plugin.v1 import plugin_pb2 as pb

T = TypeVar("T")


@dataclass(frozen=True)
class Setup:
    """What the host brings beside the configuration."""

    handle: str
    data_dir: Path  # the plugin's own, kept across restarts
    _secrets: dict[str, str] = field(default_factory=dict, repr=False)

    def secret(self, name: str) -> str | None:
        """A secret that the operator handed over."""
        return self._secrets.get(name)


class Config(Generic[T]):
    """Holds the configuration of a plugin once the host has sent it."""

    def __init__(self, type_: Any, runner: Runner) -> None:
        builder = Builder(config=True)
        self._codec: Codec = builder.build(type_)
        self.schema = _json.dumps(builder.root(self._codec.schema))
        self._runner = runner
        self._start: Callable[..., Any] | None = None
        self._value: T | None = None

    @property
    def value(self) -> T:
        """The configuration. RuntimeError before the host has sent it, which no call sees."""
        if self._value is None:
            raise RuntimeError("the plugin is not configured yet")
        return self._value

    def on_start(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Has fn(setup, config) called once, before any call; it may add tools, and raise :class:`Invalid`."""
        positional(fn)
        self._start = fn
        return fn

    def read(self, raw: bytes) -> tuple[T | None, list[Diagnostic]]:
        """Decodes and checks a configuration, without side effects."""
        try:
            value = self._codec.decode(_json.loads(raw or b"{}"), ())
        except FieldError as e:
            return None, [about_field(e)]
        except ValueError as e:
            return None, [Diagnostic("Invalid configuration", f"The configuration is no JSON: {e}.")]
        validate = getattr(value, "validate", None)
        # pydantic's classes have a validate of their own, which is another thing.
        if callable(validate) and not hasattr(value, "__pydantic_validator__"):
            return value, complaints(validate)
        return value, []

    def configure(self, setup: Setup, raw: bytes) -> list[Diagnostic]:
        value, diagnostics = self.read(raw)
        if fatal(diagnostics):
            return diagnostics
        self._value = value
        if self._start is not None:
            args = positional(self._start)(None, setup, value)
            start = self._start
            diagnostics += complaints(lambda: self._runner.call(None, start, *args))
            if fatal(diagnostics):
                self._value = None
        return diagnostics


@dataclass
class Nothing:
    """The configuration of a plugin that takes none."""


def no_config(runner: Runner) -> Config[Any]:
    config: Config[Any] = Config(Nothing, runner)
    config._codec = object_codec([], make=Nothing)
    return config


def complaints(check: Callable[[], Any]) -> list[Diagnostic]:
    """What check finds fault with. A ValueError and an OSError are meant for the operator, who wrote the configuration."""
    try:
        check()
    except Invalid as e:
        return e.diagnostics
    except (ValueError, OSError) as e:
        return [Diagnostic("Invalid configuration", str(e))]
    return []


def fatal(diagnostics: list[Diagnostic]) -> bool:
    return any(not d.warning for d in diagnostics)


def about_field(e: FieldError) -> Diagnostic:
    """The complaint of a codec, at the member that it is about."""
    if not e.path:
        return Diagnostic("Invalid configuration", f"The configuration {e.reason}.")
    # What is missing has no line; its block has.
    return Diagnostic("Invalid configuration", f"The attribute {e}.", "" if e.reason == "is missing" else e.pointer)


def to_proto(diagnostics: list[Diagnostic]) -> list[pb.Diagnostic]:
    return [
        pb.Diagnostic(
            severity=pb.Diagnostic.SEVERITY_WARNING if d.warning else pb.Diagnostic.SEVERITY_ERROR,
            summary=valid(d.summary), detail=valid(d.detail), pointer=valid(d.pointer),
        )
        for d in diagnostics
    ]  # fmt: skip
