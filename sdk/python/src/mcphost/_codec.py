"""Type hints as JSON Schema, and JSON values as values of those types.

A :class:`Codec` is worked out once for each type, when a tool is added. It decodes strictly enough that a wrong, missing
or unknown member is an error that names it; deeper rules of the schema (bounds, patterns) are the host's to check.
"""

from __future__ import annotations

import base64
import binascii
import collections.abc
import dataclasses
import datetime
import enum
import inspect
import json
import os
import pathlib
import sys
import types
import typing
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from . import _docstring, _json

Path = tuple[Union[str, int], ...]
Schema = dict[str, Any]
MISSING: Any = dataclasses.MISSING


@dataclass(frozen=True)
class Field:
    """More about a parameter or a field, in ``Annotated[int, Field(minimum=1)]``. A bare string is a description."""

    description: str = ""
    name: str = ""  # in JSON, where it is no name in Python
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None  # of a string or a list
    max_length: int | None = None
    pattern: str = ""
    format: str = ""
    title: str = ""
    header: str = ""  # x-mcp-header: clients repeat the value in this HTTP header
    path: bool = False  # of a configuration: the host makes it absolute
    secret: bool = False  # of a configuration: never shown

    def apply(self, schema: Schema) -> None:
        is_list = schema.get("type") == "array"
        words = {
            "title": self.title or None, "description": self.description or None,
            "minimum": self.minimum, "maximum": self.maximum,
            "minItems" if is_list else "minLength": self.min_length, "maxItems" if is_list else "maxLength": self.max_length,
            "pattern": self.pattern or None, "format": self.format or None, "x-mcp-header": self.header or None,
            "writeOnly": self.secret or None,
        }  # fmt: skip
        schema.update({word: value for word, value in words.items() if value is not None})
        if self.path:
            (schema["items"] if is_list else schema)["x-mcphost-path"] = True


class FieldError(ValueError):
    """Says which member of a value is wrong, and how."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        names = [step for step in self.path if isinstance(step, str)]
        return f'"{".".join(names)}" {self.reason}' if names else self.reason

    @property
    def pointer(self) -> str:
        """The place as an RFC 6901 JSON Pointer."""
        return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in self.path)


@dataclass(frozen=True)
class Codec:
    """One type: its schema, and how to make a value of it from what json decoded."""

    schema: Schema
    decode: Callable[[Any, Path], Any]


@dataclass(frozen=True)
class Member:
    """One member of a JSON object."""

    name: str  # in JSON
    target: str  # in Python
    codec: Codec
    required: bool


def kind(value: Any) -> str:
    """The word of JSON Schema for a value that json decoded."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


def wrong(path: Path, wanted: str, value: Any) -> FieldError:
    found = kind(value)
    if wanted == "integer" and found == "number":
        found = f"number {json.dumps(value)}"
    return FieldError(path, f"must be {wanted}, not {found}")


def _string(value: Any, path: Path) -> str:
    if type(value) is not str:
        raise wrong(path, "string", value)
    return value


def _integer(value: Any, path: Path) -> int:
    if type(value) is int:
        return value
    if type(value) is float and value.is_integer():  # 1.0 is an integer by JSON Schema
        return int(value)
    raise wrong(path, "integer", value)


def _number(value: Any, path: Path) -> float:
    if type(value) is not float and type(value) is not int:
        raise wrong(path, "number", value)
    try:
        return float(value)
    except OverflowError:
        raise FieldError(path, "is too large") from None


def _boolean(value: Any, path: Path) -> bool:
    if type(value) is not bool:
        raise wrong(path, "boolean", value)
    return value


def _null(value: Any, path: Path) -> None:
    if value is not None:
        raise wrong(path, "null", value)


def _anything(value: Any, path: Path) -> Any:
    return value


def _parsed(parse: Callable[[str], Any]) -> Callable[[Any, Path], Any]:
    def decode(value: Any, path: Path) -> Any:
        text = _string(value, path)
        try:
            return parse(text)
        except ValueError as e:
            raise FieldError(path, str(e)) from None

    return decode


def _base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ValueError("is no base64") from None


def _datetime(text: str) -> datetime.datetime:
    # RFC 3339 writes Z, which Python reads since 3.11 alone.
    return datetime.datetime.fromisoformat(text[:-1] + "+00:00" if text[-1:] in ("Z", "z") else text)


_SIMPLE: dict[Any, tuple[Schema, Callable[[Any, Path], Any]]] = {
    Any: ({}, _anything),
    object: ({}, _anything),
    inspect.Parameter.empty: ({}, _anything),
    str: ({"type": "string"}, _string),
    int: ({"type": "integer"}, _integer),
    float: ({"type": "number"}, _number),
    bool: ({"type": "boolean"}, _boolean),
    None: ({"type": "null"}, _null),
    type(None): ({"type": "null"}, _null),
    bytes: (
        {"type": "string", "contentEncoding": "base64"},
        _parsed(_base64),
    ),
    datetime.datetime: ({"type": "string", "format": "date-time"}, _parsed(_datetime)),
    datetime.date: ({"type": "string", "format": "date"}, _parsed(datetime.date.fromisoformat)),
    datetime.time: ({"type": "string", "format": "time"}, _parsed(datetime.time.fromisoformat)),
    uuid.UUID: ({"type": "string", "format": "uuid"}, _parsed(uuid.UUID)),
}
_LISTS = {
    list: list, tuple: tuple, set: set, frozenset: frozenset,
    collections.abc.Sequence: list, collections.abc.Iterable: list, collections.abc.Collection: list,
    collections.abc.MutableSequence: list, collections.abc.Set: set, collections.abc.MutableSet: set,
}  # fmt: skip
_MAPS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)


class Builder:
    """Makes the codecs of one schema. Types that hold themselves become definitions, which :meth:`root` adds."""

    def __init__(self, *, output: bool = False, config: bool = False) -> None:
        self.output = output  # describe what is encoded: nothing of it is ever absent
        self.config = config
        self.definitions: dict[str, Schema] = {}
        self._open: dict[type, tuple[str, list[Codec]]] = {}  # types that are being built
        self._recursive: set[str] = set()

    def root(self, schema: Schema) -> Schema:
        return {**schema, "$defs": self.definitions} if self.definitions else schema

    def build(self, hint: Any) -> Codec:
        """The codec of a type. TypeError if it has none."""
        if isinstance(hint, str):
            hint = self._named(hint)
        try:
            simple = _SIMPLE.get(hint)
        except TypeError:  # not hashable
            simple = None
        if simple:
            return Codec(dict(simple[0]), simple[1])
        origin = get_origin(hint)
        name = getattr(origin, "__qualname__", "") or str(origin)
        if origin is Annotated:
            return self._annotated(hint)
        if origin in (Union, types.UnionType):
            return self._union(get_args(hint))
        if origin is Literal:
            return self._choice({value: value for value in get_args(hint)})
        if name.split(".")[-1] in ("Required", "NotRequired", "ReadOnly", "Final", "ClassVar"):
            return self.build(get_args(hint)[0])
        if origin in _LISTS or hint in _LISTS:
            return self._list(origin or hint, get_args(hint))
        if origin in _MAPS or hint in _MAPS:
            return self._map(get_args(hint))
        if hasattr(hint, "__supertype__"):  # NewType
            return self.build(hint.__supertype__)
        if hasattr(hint, "__value__"):  # type X = ...
            return self.build(hint.__value__)
        if isinstance(hint, type):
            return self._class(hint)
        raise TypeError(f"{hint!r} cannot be described as JSON Schema")

    def _named(self, name: str) -> Any:
        """The type that list["Name"] means, which Python 3.10 leaves as it is."""
        for cls in reversed(self._open):
            if (found := vars(sys.modules[cls.__module__]).get(name)) is not None:
                return found
        raise TypeError(f"the annotation {name!r} is not known here; write it without quotes")

    def _annotated(self, hint: Any) -> Codec:
        base, *notes = get_args(hint)
        codec = self.build(base)
        for note in notes:
            if isinstance(note, str):
                note = Field(description=note)
            elif not isinstance(note, Field):
                text = getattr(note, "description", None)  # pydantic's Field
                note = Field(description=text) if isinstance(text, str) else Field()
            note.apply(codec.schema)
        return codec

    def _union(self, members: tuple[Any, ...]) -> Codec:
        rest = [m for m in members if m is not type(None)]
        codecs = [self.build(m) for m in rest]
        optional = len(rest) < len(members)
        if len(codecs) == 1:
            return _nullable(codecs[0])
        schemas = [c.schema for c in codecs] + ([{"type": "null"}] if optional else [])

        def decode(value: Any, path: Path) -> Any:
            if value is None and optional:
                return None
            problems: list[FieldError] = []
            for codec in codecs:
                try:
                    return codec.decode(value, path)
                except FieldError as e:
                    problems.append(e)
            raise max(problems, key=lambda e: len(e.path))

        if all(set(s) == {"type"} and isinstance(s["type"], str) for s in schemas):
            return Codec({"type": [s["type"] for s in schemas]}, decode)
        return Codec({"anyOf": schemas}, decode)

    def _choice(self, values: dict[Any, Any]) -> Codec:
        """Values of JSON and what they stand for."""
        kinds = sorted({"integer" if type(v) is int else kind(v) for v in values})
        schema: Schema = {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": list(values)}
        allowed = ", ".join(json.dumps(v, ensure_ascii=False) for v in values)
        by_type = {(type(v), v): meaning for v, meaning in values.items()}  # True is not 1

        def decode(value: Any, path: Path) -> Any:
            try:
                return by_type[type(value), value]
            except (KeyError, TypeError):
                raise FieldError(path, f"must be one of {allowed}") from None

        return Codec(schema, decode)

    def _list(self, origin: Any, args: tuple[Any, ...]) -> Codec:
        make: Callable[[list[Any]], Any] = _LISTS[origin]
        if make is tuple and args and args[-1] is not Ellipsis:
            return self._tuple(args)
        item = self.build(args[0] if args else Any)
        schema: Schema = {"type": "array"}
        if item.schema:
            schema["items"] = item.schema
        if make in (set, frozenset):
            schema["uniqueItems"] = True

        def decode(value: Any, path: Path) -> Any:
            if type(value) is not list:
                raise wrong(path, "array", value)
            return make([item.decode(v, (*path, i)) for i, v in enumerate(value)])

        return Codec(schema, decode)

    def _tuple(self, args: tuple[Any, ...]) -> Codec:
        codecs = [self.build(a) for a in args if a != ()]
        n = len(codecs)
        schema = {"type": "array", "prefixItems": [c.schema for c in codecs], "minItems": n, "maxItems": n}

        def decode(value: Any, path: Path) -> Any:
            if type(value) is not list:
                raise wrong(path, "array", value)
            if len(value) != n:
                raise FieldError(path, f"must have {n} items, not {len(value)}")
            return tuple(c.decode(v, (*path, i)) for i, (c, v) in enumerate(zip(codecs, value)))

        return Codec(schema, decode)

    def _map(self, args: tuple[Any, ...]) -> Codec:
        key = self.build(args[0] if args else str)
        value_codec = self.build(args[1] if args else Any)
        if key.schema.get("type") != "string":
            raise TypeError("the keys of a JSON object are strings")
        schema: Schema = {"type": "object"}
        if value_codec.schema:
            schema["additionalProperties"] = value_codec.schema
        if "enum" in key.schema:
            schema["propertyNames"] = key.schema

        def decode(value: Any, path: Path) -> Any:
            if type(value) is not dict:
                raise wrong(path, "object", value)
            return {key.decode(k, (*path, k)): value_codec.decode(v, (*path, k)) for k, v in value.items()}

        return Codec(schema, decode)

    def _class(self, cls: type) -> Codec:
        if hasattr(cls, "__pydantic_validator__") or hasattr(cls, "__pydantic_core_schema__"):
            return self._pydantic(cls)
        if issubclass(cls, enum.Enum):
            return self._choice({member.value: member for member in cls})
        if issubclass(cls, pathlib.PurePath) or cls is os.PathLike:
            make: Any = pathlib.Path if cls is os.PathLike else cls
            return Codec({"type": "string", **({"x-mcphost-path": True} if self.config else {})}, _parsed(make))
        if dataclasses.is_dataclass(cls):
            return self._object(cls, lambda: self._dataclass_members(cls))
        if typing.is_typeddict(cls) or hasattr(cls, "__required_keys__"):
            return self._object(cls, lambda: self._typeddict_members(cls))
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            hints = type_hints(cls)
            codec = self._tuple(tuple(hints.get(f, Any) for f in cls._fields))
            return Codec(codec.schema, lambda value, path: cls(*codec.decode(value, path)))
        raise TypeError(f"{cls.__qualname__} cannot be described as JSON Schema: it is no dataclass, TypedDict, enum or pydantic model")

    def _pydantic(self, cls: type) -> Codec:
        from pydantic import TypeAdapter, ValidationError

        adapter: Any = TypeAdapter(cls)
        schema = adapter.json_schema(mode="serialization" if self.output else "validation", ref_template="#/$defs/{model}")
        for name, definition in schema.pop("$defs", {}).items():
            self._define(name, definition)

        def decode(value: Any, path: Path) -> Any:
            try:
                return adapter.validate_python(value)
            except ValidationError as e:
                first = e.errors(include_url=False, include_context=False, include_input=False)[0]
                raise FieldError((*path, *first["loc"]), first["msg"]) from None

        return Codec(schema, decode)

    def _define(self, name: str, schema: Schema) -> None:
        if self.definitions.setdefault(name, schema) != schema:
            raise TypeError(f"two types are called {name}")

    def _object(self, cls: type, members: Callable[[], list[Member]]) -> Codec:
        if cls in self._open:
            name, built = self._open[cls]
            self._recursive.add(name)
            return Codec({"$ref": f"#/$defs/{name}"}, lambda value, path: built[0].decode(value, path))
        built = []
        self._open[cls] = (cls.__name__, built)
        try:
            codec = object_codec(members(), make=_dict if issubclass(cls, dict) else cls)
        finally:
            del self._open[cls]
        doc = _docstring.parse(cls.__dict__.get("__doc__"))
        # dataclass gives a class without a docstring its signature as one.
        if doc.description and not doc.description.startswith(cls.__name__ + "("):
            codec.schema["description"] = doc.description
        built.append(codec)
        if cls.__name__ in self._recursive:
            self._define(cls.__name__, codec.schema)
            return Codec({"$ref": f"#/$defs/{cls.__name__}"}, codec.decode)
        return codec

    def member(self, name: str, hint: Any, description: str, default: Any = MISSING, required: bool | None = None) -> Member:
        """One member, from what is known of a parameter or a field."""
        codec = self.build(hint)
        notes = [n for n in get_args(hint)[1:] if isinstance(n, Field)] if get_origin(hint) is Annotated else []
        if description:
            codec.schema.setdefault("description", description)
        if default is not MISSING and default is not None and not self.output:
            codec.schema["default"] = json.loads(_json.dumps(default))
        if required is None:
            required = default is MISSING or self.output
        return Member(next((n.name for n in notes if n.name), name), name, codec, required)

    def _dataclass_members(self, cls: type) -> list[Member]:
        hints, doc = type_hints(cls), _docstring.parse(cls.__doc__).parameters
        members = []
        for f in dataclasses.fields(cls):
            if not f.init and not self.output:
                continue
            default = f.default
            if callable(f.default_factory):
                default = f.default_factory()
            description = f.metadata.get("description", "") or doc.get(f.name, "")
            members.append(self.member(f.name, hints[f.name], description, default))
        return members

    def _typeddict_members(self, cls: Any) -> list[Member]:
        hints, doc = type_hints(cls), _docstring.parse(cls.__doc__).parameters
        return [
            self.member(name, hint, doc.get(name, ""), required=name in cls.__required_keys__ and not _not_required(hint))
            for name, hint in hints.items()
        ]


def _dict(**members: Any) -> dict[str, Any]:
    return members


def _not_required(hint: Any) -> bool:
    # Under `from __future__ import annotations` a TypedDict does not see its own NotRequired.
    return str(get_origin(hint)).endswith("NotRequired")


def _nullable(codec: Codec) -> Codec:
    schema = dict(codec.schema)
    if isinstance(schema.get("type"), str):
        schema["type"] = ["null", schema["type"]]
        if "enum" in schema:
            schema["enum"] = [*schema["enum"], None]
    elif isinstance(schema.get("type"), list):
        schema["type"] = ["null", *schema["type"]]
    elif schema:
        schema = {"anyOf": [schema, {"type": "null"}]}
    return Codec(schema, lambda value, path: None if value is None else codec.decode(value, path))


def object_codec(
    members: list[Member], make: Callable[..., Any], rest: Codec | None = None, open_: bool = False
) -> Codec:
    """The codec of an object with these members, which are what make takes by name. Other members are wrong, unless rest
    says what they are, or open_ that they are ignored."""
    schema: Schema = {"type": "object"}
    if members:
        schema["properties"] = {m.name: m.codec.schema for m in members}
    if required := [m.name for m in members if m.required]:
        schema["required"] = required
    if rest is None:
        schema["additionalProperties"] = False
    elif rest.schema:
        schema["additionalProperties"] = rest.schema
    known = {m.name: m for m in members}

    def decode(value: Any, path: Path) -> Any:
        if type(value) is not dict:
            raise wrong(path, "object", value) if path or value is not None else FieldError(path, "must be an object")
        arguments = {}
        unknown = None
        for name, given in value.items():
            member = known.get(name)
            if member is not None:
                arguments[member.target] = member.codec.decode(given, (*path, name))
            elif rest is not None:
                arguments[name] = rest.decode(given, (*path, name))
            elif unknown is None:
                unknown = name
        if unknown is not None and not open_:
            raise FieldError((*path, unknown), "is unknown")
        for member in members:
            if member.required and member.name not in value:
                raise FieldError((*path, member.name), "is missing")
        try:
            return make(**arguments)
        except FieldError:
            raise
        except ValueError as e:  # of __post_init__
            raise FieldError(path, str(e)) from None

    return Codec(schema, decode)


def json_names(cls: type) -> dict[str, str]:
    """The names in JSON of those fields of a class that have one of their own."""
    names = {}
    for attribute, hint in type_hints(cls).items():
        for note in get_args(hint)[1:] if get_origin(hint) is Annotated else ():
            if isinstance(note, Field) and note.name:
                names[attribute] = note.name
    return names


def type_hints(of: Any) -> dict[str, Any]:
    """The annotations of a class or a function."""
    try:
        return typing.get_type_hints(of, include_extras=True)
    except NameError as e:
        raise TypeError(f"{getattr(of, '__qualname__', of)}: the annotation {e.name!r} is not known in its module") from None
