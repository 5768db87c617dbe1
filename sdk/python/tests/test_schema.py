"""Type hints as JSON Schema, and JSON as values of them."""

import datetime
import enum
import json
import sys
import typing
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NewType, Optional, TypedDict, Union

import pytest

from mcphost import Field, Plugin, _docstring
from mcphost._codec import Builder, FieldError
from mcphost._json import dumps, loads

pydantic = pytest.importorskip("pydantic")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Point(NamedTuple):
    x: int
    y: float


class Movie(TypedDict, total=False):
    """A film.

    Attributes:
        title: what it is called
    """

    title: typing.Annotated[str, Field(max_length=9)]
    year: int


@dataclass
class Tree:
    """A tree."""

    value: int
    children: list["Tree"] = field(default_factory=list)


@dataclass
class Renamed:
    from_: Annotated[str, Field(name="from", description="whence")]
    to: str = "here"

    def __post_init__(self) -> None:
        if self.to == "nowhere":
            raise ValueError("there is no such place")


class Address(pydantic.BaseModel):
    street: str = pydantic.Field(description="with its number", min_length=2)
    zip: int | None = None


class Person(pydantic.BaseModel):
    name: str
    address: Address


UserId = NewType("UserId", str)
S, I = {"type": "string"}, {"type": "integer"}


@pytest.mark.parametrize(
    ("hint", "schema", "given", "value"),
    [
        (str, S, "ü", "ü"),
        (int, I, 12345678901234567890, 12345678901234567890),
        (int, I, 2.0, 2),
        (float, {"type": "number"}, 1, 1.0),
        (bool, {"type": "boolean"}, True, True),
        (None, {"type": "null"}, None, None),
        (Any, {}, [1], [1]),
        (bytes, {"type": "string", "contentEncoding": "base64"}, "AP8=", b"\0\xff"),
        (UserId, S, "a", "a"),
        (Optional[str], {"type": ["null", "string"]}, None, None),
        (int | None, {"type": ["null", "integer"]}, 1, 1),
        (int | str, {"type": ["integer", "string"]}, "a", "a"),
        (Union[list[int], None], {"type": ["null", "array"], "items": I}, [1], [1]),
        (list[int] | str, {"anyOf": [{"type": "array", "items": I}, S]}, [1], [1]),
        (list, {"type": "array"}, [1, "a"], [1, "a"]),
        (list[str], {"type": "array", "items": S}, ["a"], ["a"]),
        (Sequence[int], {"type": "array", "items": I}, [1], [1]),
        (set[int], {"type": "array", "items": I, "uniqueItems": True}, [1, 1], {1}),
        (tuple[int, ...], {"type": "array", "items": I}, [1, 2], (1, 2)),
        (tuple[int, str], {"type": "array", "prefixItems": [I, S], "minItems": 2, "maxItems": 2}, [1, "a"], (1, "a")),
        (dict[str, int], {"type": "object", "additionalProperties": I}, {"a": 1}, {"a": 1}),
        (Mapping[str, Any], {"type": "object"}, {"a": None}, {"a": None}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}, "b", "b"),
        (Literal["a", 1], {"type": ["integer", "string"], "enum": ["a", 1]}, 1, 1),
        (Literal["a"] | None, {"type": ["null", "string"], "enum": ["a", None]}, None, None),
        (Colour, {"type": "string", "enum": ["red", "blue"]}, "blue", Colour.BLUE),
        (
            datetime.datetime,
            {"type": "string", "format": "date-time"},
            "2026-12-01T04:00:00Z",
            datetime.datetime(2026, 12, 1, 4, tzinfo=datetime.timezone.utc),
        ),
        (datetime.date, {"type": "string", "format": "date"}, "2026-12-01", datetime.date(2026, 12, 1)),
        (uuid.UUID, {"type": "string", "format": "uuid"}, str(uuid.UUID(int=1)), uuid.UUID(int=1)),
        (Path, S, "/tmp", Path("/tmp")),
        (Annotated[int, "how many", Field(minimum=1, maximum=3)], {**I, "description": "how many", "minimum": 1, "maximum": 3}, 2, 2),
        (Annotated[str, Field(pattern="^a", header="Region")], {**S, "pattern": "^a", "x-mcp-header": "Region"}, "ab", "ab"),
        (Annotated[list[int], Field(min_length=1)], {"type": "array", "items": I, "minItems": 1}, [1], [1]),
        (
            Point,
            {"type": "array", "prefixItems": [I, {"type": "number"}], "minItems": 2, "maxItems": 2},
            [1, 2],
            Point(1, 2.0),
        ),
        (
            Movie,
            {
                "type": "object",
                "description": "A film.",
                "properties": {"title": {**S, "maxLength": 9, "description": "what it is called"}, "year": I},
                "additionalProperties": False,
            },
            {"year": 1},
            {"year": 1},
        ),
        (
            Renamed,
            {
                "type": "object",
                "properties": {"from": {**S, "description": "whence"}, "to": {**S, "default": "here"}},
                "required": ["from"],
                "additionalProperties": False,
            },
            {"from": "a"},
            Renamed("a"),
        ),
    ],
    ids=lambda v: "" if isinstance(v, (dict, list)) else str(v)[:40],
)
def test_types(hint: Any, schema: Any, given: Any, value: Any) -> None:
    codec = Builder().build(hint)
    assert codec.schema == schema
    got = codec.decode(given, ())
    assert got == value and type(got) is type(value)


@pytest.mark.parametrize(
    ("hint", "given", "message"),
    [
        (str, 1, "must be string, not number"),
        (str, None, "must be string, not null"),
        (int, 1.5, "must be integer, not number 1.5"),
        (int, True, "must be integer, not boolean"),
        (int, "1", "must be integer, not string"),
        (float, True, "must be number, not boolean"),
        (float, 10**400, "is too large"),
        (bool, 1, "must be boolean, not number"),
        (list[int], {}, "must be array, not object"),
        (Optional[int], "a", "must be integer, not string"),
        (Colour, "green", 'must be one of "red", "blue"'),
        (Literal[1], True, "must be one of 1"),
        (Colour, [], 'must be one of "red", "blue"'),
        (tuple[int, int], [1], "must have 2 items, not 1"),
        (bytes, "!", "is no base64"),
        (dict[str, int], {"a": {"b": 1}}, '"a" must be integer, not object'),
        (Renamed, {}, '"from" is missing'),
        (Renamed, {"from": "a", "from_": "b"}, '"from_" is unknown'),
        (Renamed, {"from": 1, "x": 1}, '"from" must be string, not number'),
        (Renamed, {"from": "a", "to": "nowhere"}, "there is no such place"),
        (Tree, {"value": 1, "children": [{"value": 1, "children": [{"value": "x"}]}]}, '"children.children.value" must be integer, not string'),
        (Person, {"name": "a", "address": {"street": "x"}}, '"address.street" String should have at least 2 characters'),
    ],
)
def test_wrong_values_name_the_member(hint: Any, given: Any, message: str) -> None:
    with pytest.raises(FieldError) as e:
        Builder().build(hint).decode(given, ())
    assert str(e.value) == message


def test_pointers_are_rfc_6901() -> None:
    with pytest.raises(FieldError) as e:
        Builder().build(dict[str, list[int]]).decode({"a/b~": [1, "x"]}, ())
    assert e.value.pointer == "/a~1b~0/1"


def test_types_that_hold_themselves_are_definitions() -> None:
    builder = Builder()
    schema = builder.root(builder.build(Tree).schema)
    assert schema["$ref"] == "#/$defs/Tree"
    assert schema["$defs"]["Tree"]["properties"]["children"] == {"type": "array", "items": {"$ref": "#/$defs/Tree"}, "default": []}
    tree = builder.build(Tree).decode({"value": 1, "children": [{"value": 2}]}, ())
    assert tree == Tree(1, [Tree(2)])


def test_pydantic_models() -> None:
    builder = Builder()
    codec = builder.build(Person)
    schema = builder.root(codec.schema)
    assert schema["properties"]["address"] == {"$ref": "#/$defs/Address"}
    assert schema["$defs"]["Address"]["properties"]["street"]["description"] == "with its number"
    person = codec.decode({"name": "Ada", "address": {"street": "Way 1"}}, ())
    assert person == Person(name="Ada", address=Address(street="Way 1"))
    assert json.loads(dumps(person)) == {"name": "Ada", "address": {"street": "Way 1", "zip": None}}


def test_two_types_of_one_name_are_an_error() -> None:
    other = type("Address", (pydantic.BaseModel,), {"__annotations__": {"planet": str}, "__module__": __name__})
    holder = type("Holder", (pydantic.BaseModel,), {"__annotations__": {"at": other}, "__module__": __name__})
    builder = Builder()
    builder.build(Person)
    with pytest.raises(TypeError, match="two types are called Address"):
        builder.build(holder)


def test_outputs_have_every_member() -> None:
    schema = Builder(output=True).build(Renamed).schema
    assert schema["required"] == ["from", "to"] and "default" not in schema["properties"]["to"]


def test_paths_are_marked_in_configurations_alone() -> None:
    assert Builder(config=True).build(list[Path]).schema["items"] == {"type": "string", "x-mcphost-path": True}


@pytest.mark.parametrize("hint", [complex, object(), dict[int, str], type("Plain", (), {})], ids=str)
def test_what_has_no_schema_is_an_error(hint: Any) -> None:
    with pytest.raises(TypeError):
        Builder().build(hint)


def test_parameters_of_functions() -> None:
    p = Plugin("t", "1")

    @p.tool
    def f(a: int, ctx: Any, b: list[str] = [], *, c: Optional[float] = None, **rest: bool) -> None:  # noqa: B006
        """Does it.

        At length.

        Args:
            a: the first
                of them
            b (list): more
            rest: others

        Returns:
            nothing
        """

    definition = p._catalog.load().tools["f"].definition
    assert definition.description == "Does it.\n\nAt length."
    schema = json.loads(definition.input_schema_json)
    assert schema["properties"]["a"] == {**I, "description": "the first of them"}
    assert schema["properties"]["b"] == {"type": "array", "items": S, "default": [], "description": "more"}
    assert schema["properties"]["c"] == {"type": ["null", "number"]}
    assert schema["required"] == ["a", "ctx"]  # annotated, and not as a Context
    assert schema["additionalProperties"] == {"type": "boolean"}


@pytest.mark.parametrize(
    "text",
    [
        "What.\n\nArgs:\n    a (int): one\n      more\n    *b: two\n\nRaises:\n    X: never",
        "What.\n\nParameters\n----------\na : int\n    one\n    more\nb\n    two\n\nReturns\n-------\nint\n    x",
        "What.\n\n:param int a: one\n    more\n:param b: two\n:returns: x\n:raises X: y",
    ],
    ids=["google", "numpy", "sphinx"],
)
def test_docstrings(text: str) -> None:
    doc = _docstring.parse(text)
    assert doc.description == "What."
    assert doc.parameters == {"a": "one more", "b": "two"}


def test_docstring_on_one_line() -> None:
    assert _docstring.parse("What.\n\nArgs: name: whom").parameters == {"name": "whom"}


def test_a_colon_in_the_text_is_no_section() -> None:
    doc = _docstring.parse("Does: things.\n\nNote that: yes.")
    assert doc.description == "Does: things.\n\nNote that: yes." and not doc.parameters


@pytest.mark.parametrize("raw", [b"NaN", b"[Infinity]", b"{", b"\xff", b"[" * 100_000, b"1" * 5000])
def test_what_is_no_json_is_an_error(raw: bytes) -> None:
    with pytest.raises(ValueError):
        loads(raw)


def test_json_of_values() -> None:
    value = {"e": Colour.RED, "d": Renamed("a"), "b": b"\0\xff", "p": Path("/x"), "s": {2, 1}, "u": "\ud800<&>\u2028", "n": 2**70}
    assert dumps(value).decode() == (
        '{"e":"red","d":{"from":"a","to":"here"},"b":"AP8=","p":"/x","s":[1,2],"u":"\ufffd<&>\u2028","n":1180591620717411303424}'
    )
    with pytest.raises(ValueError):
        dumps(float("nan"))
    with pytest.raises(TypeError):
        dumps(object())


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type statements are new in 3.12")
def test_type_statements() -> None:
    space: dict[str, Any] = {}
    exec("type Alias = list[int]", space)
    assert Builder().build(space["Alias"]).schema == {"type": "array", "items": I}
