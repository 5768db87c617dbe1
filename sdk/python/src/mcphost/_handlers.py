"""What a function's signature says, and how functions are called, plain and async ones."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import inspect
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args

from . import _docstring
from ._codec import MISSING, Builder, Codec, Member, type_hints
from ._context import Context
from ._errors import Cancelled

AnyFunction = Callable[..., Any]


@dataclass(frozen=True)
class Signature:
    """A handler as its declaration describes it."""

    members: list[Member]
    rest: Codec | None  # of **kwargs
    context: str  # the parameter that gets the Context, or ""
    returns: Any
    description: str


def signature(fn: AnyFunction, builder: Builder) -> Signature:
    """The signature of a handler. TypeError if it has parameters that no JSON object can fill."""
    target = _declared(fn)
    hints = type_hints(target)
    doc = _docstring.parse(inspect.getdoc(target))
    members, rest, context = [], None, ""
    for name, parameter in inspect.signature(fn).parameters.items():
        hint = hints.get(name, parameter.annotation)
        if hint is Context or Context in get_args(hint) or (name == "ctx" and name not in hints):
            context = name
        elif parameter.kind is parameter.VAR_KEYWORD:
            rest = builder.build(hint)
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            raise TypeError(f"the parameter {name!r} has no name for a caller")
        else:
            default = MISSING if parameter.default is parameter.empty else parameter.default
            members.append(builder.member(name, hint, doc.parameters.get(name, ""), default))
    return Signature(members, rest, context, hints.get("return", inspect.Signature.empty), doc.description)


def _declared(fn: Any) -> Any:
    """Where the annotations and the docstring of something callable are."""
    if isinstance(fn, functools.partial):
        return _declared(fn.func)
    return fn if inspect.isroutine(fn) else fn.__call__


def positional(fn: AnyFunction) -> Callable[..., tuple[Any, ...]]:
    """How a hook gets what it asks for: the context where its annotation says so, the rest by place, as many as it takes."""
    hints = type_hints(_declared(fn))
    context, places, all_ = "", 0, False
    for name, parameter in inspect.signature(fn).parameters.items():
        if Context is hints.get(name) or (name == "ctx" and name not in hints):
            context = name
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            places += 1
        all_ = all_ or parameter.kind is parameter.VAR_POSITIONAL
    order = list(inspect.signature(fn).parameters)
    index = order.index(context) if context else -1

    def arrange(ctx: Context | None, *values: Any) -> tuple[Any, ...]:
        given = list(values if all_ else values[:places])
        if context:
            given.insert(index, ctx)
        return tuple(given)

    return arrange


class Runner:
    """Calls handlers: plain ones in the thread that asks, async ones in one event loop of the plugin's own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def call(self, ctx: Context | None, fn: AnyFunction, /, *args: Any, **kwargs: Any) -> Any:
        """What fn returns, awaited if need be. The task ends when the call of ctx is over."""
        out = fn(*args, **kwargs)
        if not inspect.isawaitable(out):
            return out
        try:
            return asyncio.run_coroutine_threadsafe(_guarded(out, ctx), self._running()).result()
        except concurrent.futures.CancelledError:
            raise Cancelled("the call was cancelled") from None

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                # A daemon: it ends with the process.
                threading.Thread(target=self._loop.run_forever, name="mcphost-async", daemon=True).start()
            return self._loop


async def _guarded(awaitable: Any, ctx: Context | None) -> Any:
    task, loop = asyncio.current_task(), asyncio.get_running_loop()

    def cancel() -> None:  # in whatever thread
        if task is not None and not task.done():
            loop.call_soon_threadsafe(task.cancel)

    if ctx is not None:
        ctx._on_over(cancel)
    try:
        return await awaitable
    except (SystemExit, KeyboardInterrupt) as e:  # would end the loop
        raise RuntimeError(f"a handler raised {type(e).__name__}") from e


