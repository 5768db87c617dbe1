"""Answers a person who started a plugin."""

from __future__ import annotations

import json
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ._plugin import Plugin

# What every sandbox shows: docs/sandbox.md.
_SYSTEM = ("/bin", "/sbin", "/usr", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")


def by_hand(plugin: Plugin, argv: list[str]) -> int:
    """Prints what the plugin is, and returns the exit status: only who asked for help got what they wanted."""
    if "--version" in argv[1:]:
        sys.stdout.write(f"{plugin.name} {plugin.version}\n")
        return 0
    asked = any(a in ("--help", "-help", "-h", "help") for a in argv[1:])
    (sys.stdout if asked else sys.stderr).write(introduction(plugin, argv[0] if argv else ""))
    return 0 if asked else 1


def introduction(plugin: Plugin, script: str) -> str:
    """What the plugin is, and what to type instead."""
    text = f"{plugin.name} {plugin.version} is a plugin of mcphost: a host starts it, not a person.\n"
    now = plugin._catalog.load()
    text += _list("Tools", now.tools) + _list("Resources", now.resources)
    text += _list("Resource templates", now.templates) + _list("Prompts", now.prompts)
    handle = re.sub(r"[^A-Za-z0-9_.-]+", "-", plugin.name)
    # Not the real path: a virtual environment is found by the link in it.
    command = [os.path.abspath(sys.executable) if sys.executable else "python3", *([os.path.abspath(script)] if script else [])]
    block = f"command = {_hcl(command)}\nfiles   = {_hcl(files(script))}\n{_example(plugin)}"
    block = "".join(f"    {line}\n" for line in block.strip().splitlines())
    text += f'\nTo use it, put this into config.hcl:\n\n  local "{handle}" {{\n{block}  }}\n'
    return text + f"\nand let your MCP client run:\n\n  mcphost start {handle}\n"


def files(script: str) -> list[str]:
    """The folders that a sandbox must show for this interpreter to run this script, less those that it always shows."""
    wanted = [sys.prefix, sys.base_prefix, sys.exec_prefix, *(sysconfig.get_path(p) for p in ("stdlib", "purelib", "platlib"))]
    wanted += [str(Path(__file__).parent), *_editable()]
    if script:
        wanted.append(str(Path(script).resolve().parent))
    paths = sorted({Path(p).resolve() for p in wanted if p and os.path.exists(p)})
    shown = [Path(s) for s in _SYSTEM]
    kept: list[Path] = []
    for path in paths:
        if not any(path.is_relative_to(other) for other in (*shown, *kept)):
            kept.append(path)
    return [str(p) for p in kept]


def _editable() -> Iterable[str]:
    """Where grpc and protobuf are, if they are in none of the usual places."""
    for name in ("grpc", "google.protobuf"):
        file = getattr(sys.modules.get(name), "__file__", None)
        if file:
            yield str(Path(file).parent)


def _hcl(values: list[str]) -> str:
    return json.dumps(values, ensure_ascii=False).replace("${", "$${").replace("%{", "%%{")


def _list(title: str, primitives: Mapping[str, Any]) -> str:
    """Names with the first line of what they are."""
    if not primitives:
        return ""
    width = max(map(len, primitives))
    lines = (f"  {n:{width}}  {primitives[n].definition.description.partition(chr(10))[0]}".rstrip() for n in sorted(primitives))
    return f"\n{title}:\n" + "".join(line + "\n" for line in lines)


def _example(plugin: Plugin) -> str:
    """The author's example, or else a config block with the attributes that must be there."""
    if plugin._example:
        return plugin._example.strip()
    if plugin._config is None:
        return ""
    schema = json.loads(plugin._config.schema)
    if not schema.get("required"):
        return ""
    lines = []
    for name in schema["required"]:
        member = schema["properties"].get(name, {})
        value = {"string": '"..."', "integer": "0", "number": "0", "boolean": "false", "array": "[]"}.get(str(member.get("type")), "{}")
        lines.append(f"  {name} = {value}" + (f" # {member['description']}" if member.get("description") else ""))
    return "config {\n" + "\n".join(lines) + "\n}"
