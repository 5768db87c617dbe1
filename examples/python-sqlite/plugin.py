"""Lets a model read SQLite databases: which tables there are, and the answers to queries. It can change nothing.

Three things see to that, each enough by itself: the file is opened read-only, SQLite asks an authorizer before every step of a
statement, and mcphost's sandbox lets the process read the databases that the operator named and write nowhere.
"""

from __future__ import annotations

import math
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import mcphost
from mcphost import Field

p = mcphost.Plugin(
    "sqlite",
    "1.0.0",
    instructions="Start with list_tables, then describe_table, then query. Queries can only read.",
    example='config {\n  databases = { notes = path("~/notes.db") }\n}\nsandbox { read = ["~/notes.db"] }',
)

Value = str | int | float | None


@dataclass
class Settings:
    databases: Annotated[dict[str, Path], "names for the model, and the files"]
    max_seconds: Annotated[float, "of one query", Field(minimum=0.1)] = 10
    max_rows: Annotated[int, "of one answer", Field(minimum=1, maximum=10_000)] = 1000
    immutable: Annotated[bool, "nobody changes the files: needed for databases in WAL mode, which are else written to even to read"] = False

    def validate(self) -> None:
        problems = []
        for name, file in self.databases.items():
            place = "/databases/" + name.replace("~", "~0").replace("/", "~1")
            try:
                with file.open("rb") as f:
                    if f.read(16) not in (b"SQLite format 3\0", b""):
                        problems.append(mcphost.Diagnostic("No database", f"{file} is no SQLite database.", place))
            except OSError as e:
                detail = f"{file}: {e.strerror}. The plugin sees what sandbox {{ read = [...] }} names, and nothing else."
                problems.append(mcphost.Diagnostic("Unreadable database", detail, place))
        if problems:
            raise mcphost.Invalid.of(problems)


settings = p.config(Settings)

# What reading needs; everything else is denied: writing, ATTACH, most PRAGMAs, temporary tables.
_ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
_PRAGMAS = {"table_info", "table_xinfo", "index_list", "index_info", "foreign_key_list"}


def _authorize(action: int, first: str | None, second: str | None, *_: Any) -> int:
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_DENY if (second or "").lower() == "load_extension" else sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_PRAGMA:
        return sqlite3.SQLITE_OK if (first or "").lower() in _PRAGMAS else sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


@contextmanager
def _open(name: str, ctx: mcphost.Context) -> Iterator[sqlite3.Connection]:
    """A connection that can only read, and that ends with the call or when its time is over."""
    config = settings.value
    if name not in config.databases:
        raise mcphost.ToolError(f"there is no database {name!r}, but: {', '.join(sorted(config.databases))}")
    uri = config.databases[name].absolute().as_uri() + ("?mode=ro&immutable=1" if config.immutable else "?mode=ro")
    end = time.monotonic() + config.max_seconds
    try:
        with closing(sqlite3.connect(uri, uri=True)) as db:
            if hasattr(db, "setlimit"):  # since Python 3.11; before, the sandbox alone bounds the memory
                db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 16 << 20)
            db.set_authorizer(_authorize)
            db.set_progress_handler(lambda: ctx.cancelled or time.monotonic() > end, 10_000)
            db.text_factory = lambda raw: raw.decode(errors="replace")
            yield db
    except sqlite3.OperationalError as e:
        if str(e) == "interrupted":
            ctx.check()
            raise mcphost.ToolError(f"the query took longer than {config.max_seconds:g} s") from None
        raise mcphost.ToolError(str(e)) from None
    except (sqlite3.Error, sqlite3.Warning) as e:  # before Python 3.11 a second statement is a warning
        raise mcphost.ToolError(str(e)) from None


@dataclass
class Table:
    name: str
    kind: str  # "table" or "view"
    columns: list[str]


@p.tool(read_only=True, open_world=False, title="Tables")
def list_tables(database: str, ctx: mcphost.Context) -> list[Table]:
    """Lists the tables and views of a database, with their columns.

    Args:
        database: its name
    """
    with _open(database, ctx) as db:
        found = db.execute(
            "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
        ).fetchall()
        return [Table(name, kind, [row[1] for row in db.execute(f"PRAGMA table_info({_quote(name)})")]) for name, kind in found]


@dataclass
class Column:
    name: str
    type: str
    not_null: bool
    default: str | None
    primary_key: bool


@dataclass
class Description:
    sql: str
    columns: list[Column]
    references: list[str] = field(default_factory=list)  # "column -> table.column"
    indexes: list[str] = field(default_factory=list)


@p.tool(read_only=True, open_world=False, title="One table")
def describe_table(database: str, table: str, ctx: mcphost.Context) -> Description:
    """Describes one table or view: its columns, keys, indexes, and the SQL that made it.

    Args:
        database: the name of the database
        table: the name of the table or view
    """
    with _open(database, ctx) as db:
        made = db.execute("SELECT sql FROM sqlite_master WHERE name = ? AND type IN ('table', 'view')", (table,)).fetchone()
        if made is None:
            raise mcphost.ToolError(f"there is no table {table!r}")
        name = _quote(table)
        columns = [
            Column(row[1], row[2], bool(row[3]), row[4], bool(row[5])) for row in db.execute(f"PRAGMA table_info({name})").fetchall()
        ]
        keys = [f"{row[3]} -> {row[2]}.{row[4] or '(primary key)'}" for row in db.execute(f"PRAGMA foreign_key_list({name})")]
        indexes = []
        for row in db.execute(f"PRAGMA index_list({name})").fetchall():
            parts = ", ".join(str(part[2]) for part in db.execute(f"PRAGMA index_info({_quote(row[1])})"))
            indexes.append(f"{'unique ' if row[2] else ''}({parts})")
        return Description(made[0], columns, keys, indexes)


@dataclass
class Rows:
    columns: list[str]
    rows: list[list[Value]]
    truncated: bool  # there are more


@p.tool(read_only=True, open_world=False, title="Query")
def query(
    database: str,
    sql: str,
    ctx: mcphost.Context,
    parameters: list[str | int | float | bool | None] = [],  # noqa: B006
    limit: Annotated[int, Field(minimum=1)] = 100,
) -> Rows:
    """Runs one SELECT statement and returns its rows.

    Args:
        database: the name of the database
        sql: the statement; ? stands for a parameter
        parameters: the values of the parameters, in order
        limit: how many rows to return at most
    """
    limit = min(limit, settings.value.max_rows)
    with _open(database, ctx) as db:
        cursor = db.execute(sql, parameters)
        if cursor.description is None:
            raise mcphost.ToolError("that was no query")
        rows = cursor.fetchmany(limit + 1)
        columns = [column[0] for column in cursor.description]
    return Rows(columns, [[_value(v) for v in row] for row in rows[:limit]], len(rows) > limit)


def _value(value: Any) -> Value:
    """A value of SQLite that JSON can hold."""
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>" if len(value) > 256 else "x'" + value.hex() + "'"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    result: Value = value
    return result


def _quote(name: str) -> str:
    return '"' + re.sub('"', '""', name) + '"'


@p.resource("sqlite:///{database}/schema.sql", name="schema", title="Schema", mime_type="application/sql")
def schema(database: str, ctx: mcphost.Context) -> str | None:
    """The SQL that made a database."""
    if database not in settings.value.databases:
        return None
    with _open(database, ctx) as db:
        made = db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
        return "".join(f"{row[0]};\n" for row in made)


@p.completion("sqlite:///{database}/schema.sql", "database")
def databases(value: str) -> list[str]:
    return sorted(name for name in settings.value.databases if name.startswith(value))


if __name__ == "__main__":
    p.main()
