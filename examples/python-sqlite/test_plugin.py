"""pytest; sdk/python/test.sh runs it, too."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import plugin
import pytest

from mcphost import testing


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("databases")
    db = sqlite3.connect(folder / "shop.db")
    db.executescript(
        """
        CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'nobody', "a ""b" BLOB);
        CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customer(id), total REAL);
        CREATE UNIQUE INDEX by_total ON orders (total, customer);
        CREATE VIEW rich AS SELECT name FROM customer;
        INSERT INTO customer VALUES (1, 'Ada', x'00ff'), (2, 'Bob ü', zeroblob(1000)), (9007199254740993, 'big', NULL);
        INSERT INTO orders VALUES (1, 1, 9.5), (2, 1, 9e999);
        """
    )
    db.close()
    return folder


@pytest.fixture(scope="module")
def host(folder: Path) -> testing.Host:
    return testing.connect(plugin.p, plugin.Settings({"shop": folder / "shop.db"}, max_seconds=0.5))


def test_tables(host: testing.Host) -> None:
    assert host.call("list_tables", database="shop").structured == [
        {"name": "customer", "kind": "table", "columns": ["id", "name", 'a "b']},
        {"name": "orders", "kind": "table", "columns": ["id", "customer", "total"]},
        {"name": "rich", "kind": "view", "columns": ["name"]},
    ]


def test_one_table(host: testing.Host) -> None:
    orders = host.call("describe_table", database="shop", table="orders").decode(plugin.Description)
    assert orders.references == ["customer -> customer.id"] and orders.indexes == ["unique (total, customer)"]
    customer = host.call("describe_table", database="shop", table="customer").decode(plugin.Description)
    assert customer.columns[1] == plugin.Column("name", "TEXT", True, "'nobody'", False)
    assert host.call("describe_table", database="shop", table="x").text == "there is no table 'x'"


def test_queries(host: testing.Host) -> None:
    got = host.call("query", database="shop", sql='SELECT id, name, "a ""b" FROM customer ORDER BY id').decode(plugin.Rows)
    assert got.rows == [[1, "Ada", "x'00ff'"], [2, "Bob ü", "<1000 bytes>"], [9007199254740993, "big", None]]
    got = host.call("query", database="shop", sql="SELECT total FROM orders WHERE customer = ? ORDER BY id", parameters=[1], limit=1).decode(plugin.Rows)
    assert got.rows == [[9.5]] and got.truncated
    assert host.call("query", database="shop", sql="SELECT max(total) FROM orders").structured["rows"] == [["inf"]]


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("DELETE FROM orders", "not authorized"),
        ("CREATE TEMP TABLE t (a)", "not authorized"),
        ("ATTACH '/etc/passwd' AS x", "not authorized"),
        ("PRAGMA journal_mode = WAL", "not authorized"),
        ("SELECT load_extension('x')", "not authorized"),
        ("SELECT 1; DELETE FROM orders", "one statement at a time"),
        ("SELECT * FROM nowhere", "no such table: nowhere"),
        ("SELEC", "syntax error"),
        ("SELECT ?", "Incorrect number of bindings"),
        pytest.param("SELECT zeroblob(1000000000)", "too big", marks=pytest.mark.skipif(sys.version_info < (3, 11), reason="no limits")),
        ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n", "longer than 0.5 s"),
    ],
)
def test_what_is_refused(host: testing.Host, sql: str, message: str) -> None:
    got = host.call("query", database="shop", sql=sql)
    assert got.is_error and message in got.text
    assert host.call("query", database="shop", sql="SELECT count(*) FROM orders").structured["rows"] == [[2]]


def test_databases_are_those_of_the_configuration(host: testing.Host, folder: Path) -> None:
    assert host.call("query", database="/etc/passwd", sql="SELECT 1").text == "there is no database '/etc/passwd', but: shop"
    assert "CREATE VIEW rich" in str(host.read("sqlite:///shop/schema.sql")[0])
    assert host.complete("sqlite:///{database}/schema.sql", "database", "s") == ["shop"]
    (folder / "text").write_text("this is no database")
    with pytest.raises(plugin.mcphost.Invalid) as e:
        plugin.Settings({"a/b": folder / "missing", "text": folder / "text", "shop": folder / "shop.db"}).validate()
    assert [(d.summary, d.pointer) for d in e.value.diagnostics] == [
        ("Unreadable database", "/databases/a~1b"), ("No database", "/databases/text"),
    ]  # fmt: skip


def test_the_manifest_is_the_one_that_was_reviewed() -> None:
    testing.check_manifest(plugin.p, Path(__file__).with_name("manifest.json"))


@pytest.fixture
def mcphost_binary() -> Path:
    return Path(os.environ.get("MCPHOST", Path(__file__).parents[2] / "bin" / "mcphost"))


def test_in_the_sandbox(folder: Path, mcphost_binary: Path) -> None:
    script = Path(plugin.__file__)
    config = folder / "config.hcl"
    config.write_text(
        f"""
        plugin "sqlite" {{
          command = {json.dumps([sys.executable, str(script)])}
          files   = {json.dumps(testing.sandbox_files(script))}
          config {{ databases = {{ shop = "shop.db" }} }}
          sandbox {{ read = ["shop.db"] }}
        }}
        local "db" {{ plugins = ["sqlite"] }}
        """
    )

    def run(*arguments: str) -> Any:
        done = subprocess.run([mcphost_binary, "-c", config, *arguments], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    got = json.loads(run("call", "db", "query", "database=shop", "sql=SELECT name FROM rich ORDER BY name"))
    assert got == {"columns": ["name"], "rows": [["Ada"], ["Bob ü"], ["big"]], "truncated": False}
