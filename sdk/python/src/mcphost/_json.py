"""JSON as the contract wants it: one line, UTF-8, and no NaN."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import enum
import functools
import json
import os
import re
import uuid
from collections.abc import Mapping
from typing import Any

_SURROGATES = re.compile("[\ud800-\udfff]")


def valid(text: str) -> str:
    """text with what is not UTF-8 replaced: protobuf would refuse the whole message."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATES.sub("\ufffd", text)
    return text


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_decoder = json.JSONDecoder(parse_constant=_no_constant)


def loads(raw: bytes) -> Any:
    """The value that raw is. ValueError if it is none."""
    try:
        return _decoder.decode(raw.decode())
    except RecursionError:
        raise ValueError("nested too deeply") from None


@functools.lru_cache(maxsize=None)
def _members(cls: type) -> tuple[tuple[str, str], ...]:
    """Attribute and name in JSON of each field of a dataclass."""
    from ._codec import json_names

    names = json_names(cls)
    return tuple((f.name, names.get(f.name, f.name)) for f in dataclasses.fields(cls))


def _plain(value: Any) -> Any:
    """What json cannot encode by itself, one level deep."""
    if hasattr(value, "__pydantic_serializer__"):
        from pydantic import TypeAdapter

        return TypeAdapter(type(value)).dump_python(value, mode="json", by_alias=True)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: getattr(value, attribute) for attribute, name in _members(type(value))}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, uuid.UUID):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON")


_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)


def dumps(value: Any) -> bytes:
    """value on one line; dataclasses, enums, dates, bytes and pydantic models included."""
    text = _encoder.encode(value)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATES.sub("\ufffd", text).encode()


def optional(value: Any) -> bytes:
    """value as JSON, or nothing if it is empty."""
    return dumps(value) if value else b""
