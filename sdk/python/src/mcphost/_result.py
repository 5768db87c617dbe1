"""Turns what a handler returned into a result."""

from __future__ import annotations

import inspect
import json
import types
from collections.abc import Callable
from typing import Annotated, Any, NoReturn, Union, get_args, get_origin

from . import _json
from ._codec import Builder, Schema
from ._content import Blob, Content, EmbeddedResource, Message, PromptResult, ReadResult, Result, block
from .plugin.v1 import plugin_pb2 as pb

Renderer = Callable[[Any], pb.ToolResult]

_DYNAMIC = (Any, object, Result, inspect.Signature.empty)


def renderer_for(hint: Any, has_schema: bool) -> tuple[Renderer, Schema | None]:
    """The renderer of a return annotation, and the schema of its structured content, if it has one. With has_schema the
    author has one of his own, and a value that could be anything is structured too."""
    while get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if hint in (None, type(None), NoReturn):
        return lambda _: pb.ToolResult(), None
    if hint is str:
        return _text, None
    if _is_content(hint):
        return _dynamic, None
    if has_schema:
        return _structured, None
    if hint in _DYNAMIC:
        return _dynamic, None
    builder = Builder(output=True)
    schema = builder.build(hint).schema
    return _structured, builder.root(schema)


def _is_content(hint: Any) -> bool:
    """Whether a value of the type says how it is to be shown, but for plain text."""
    if hint is Result or hint is None or hint is type(None) or isinstance(hint, type) and issubclass(hint, Content):
        return True
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(_is_content(a) and a not in (None, type(None)) for a in args) and all(_is_content(a) or a is str for a in args)
    if isinstance(origin, type) and issubclass(origin, (list, tuple)) or str(hint).startswith("collections.abc."):
        return bool(args) and any(a is not Ellipsis and _is_content(a) for a in args)
    return False


def _text(out: Any) -> pb.ToolResult:
    if not isinstance(out, str):
        raise TypeError(f"the tool returned {type(out).__name__}, not str")
    return text_result(out)


def text_result(text: str, *, is_error: bool = False) -> pb.ToolResult:
    return pb.ToolResult(content=[pb.Content(text=_json.valid(text))], is_error=is_error)


def _structured(out: Any) -> pb.ToolResult:
    """Puts the same bytes into the text and the structured content."""
    if isinstance(out, (Result, Content)):
        return _dynamic(out)
    raw = _json.dumps(out)
    return pb.ToolResult(content=[pb.Content(text=raw.decode())], structured_json=raw)


def _dynamic(out: Any) -> pb.ToolResult:
    """Looks at the value itself: its type said nothing."""
    if out is None:
        return pb.ToolResult()
    if isinstance(out, str):
        return text_result(out)
    if isinstance(out, Content):
        return pb.ToolResult(content=[out.to_proto()])
    if isinstance(out, Result):
        return _whole(out)
    if isinstance(out, (list, tuple)) and any(isinstance(b, Content) for b in out):
        return pb.ToolResult(content=[block(b) for b in out])
    return text_result(_json.dumps(out).decode())


def _whole(out: Result) -> pb.ToolResult:
    result = pb.ToolResult(content=[block(b) for b in out.content], is_error=out.is_error, meta_json=_json.optional(out.meta))
    if out.structured is not None:
        result.structured_json = _json.dumps(out.structured)
        if not out.content:
            result.content.append(pb.Content(text=result.structured_json.decode()))
    return result


def verbatim(schema: Any) -> bytes:
    """A schema or definition of the author's own: JSON text is passed on byte for byte."""
    if schema is None:
        return b""
    if isinstance(schema, (str, bytes)):
        raw = schema.encode() if isinstance(schema, str) else schema
        json.loads(raw)
        return raw
    return _json.dumps(schema)


def read_result(out: Any, uri: str, mime_type: str) -> pb.ReadResourceResult | None:
    if out is None:
        return None
    if isinstance(out, ReadResult):
        return out.to_proto() if out.contents else None
    if isinstance(out, (EmbeddedResource, Blob)):
        return ReadResult([out]).to_proto()
    if isinstance(out, (list, tuple)) and any(isinstance(c, (EmbeddedResource, Blob)) for c in out):
        return ReadResult(out).to_proto()
    if isinstance(out, (bytes, bytearray, memoryview)):
        return ReadResult([Blob(uri, bytes(out), mime_type)]).to_proto()
    text = out if isinstance(out, str) else _json.dumps(out).decode()
    return ReadResult([EmbeddedResource(uri, text, mime_type)]).to_proto()


def prompt_result(out: Any) -> pb.GetPromptResult:
    if isinstance(out, PromptResult):
        return out.to_proto()
    if isinstance(out, Content):
        out = Message(out)
    if isinstance(out, (str, Message)):
        return PromptResult([out]).to_proto()
    if isinstance(out, (list, tuple)) and all(isinstance(m, (str, Message)) for m in out):
        return PromptResult(out).to_proto()
    raise TypeError(f"the prompt returned {type(out).__name__}")
