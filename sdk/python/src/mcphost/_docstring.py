"""Reads what a docstring says about parameters, in the ways of Google, NumPy and Sphinx."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field

_ABOUT_PARAMETERS = {"args", "arguments", "parameters", "params", "attributes", "keyword args", "keyword arguments", "other parameters"}
_OTHER = {
    "returns", "return", "yields", "yield", "raises", "example", "examples", "note", "notes", "see also", "references",
    "warning", "warnings", "todo", "methods",
}  # fmt: skip
_GOOGLE = re.compile(r"^(\*{0,2}\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
_NUMPY = re.compile(r"^(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?$")
_SPHINX = re.compile(r"^:(?:param|parameter|arg|argument|key|keyword)\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)$")
_ONE_LINE = re.compile(r"^(?:args|arguments|parameters|params):\s+(\w+)\s*:\s*(.+)$", re.IGNORECASE)
_SPHINX_OTHER = re.compile(r"^:(?:returns?|rtype|raises?|type|yields?)\b")


@dataclass
class Docstring:
    """A docstring in parts."""

    description: str = ""
    parameters: dict[str, str] = field(default_factory=dict)


def parse(text: str | None) -> Docstring:
    """The parts of a docstring. What it says of results and exceptions is left out: it is not for the caller of a tool."""
    doc = Docstring()
    if not text:
        return doc
    lines = inspect.cleandoc(text).splitlines()
    description: list[str] = []
    i = 0
    while i < len(lines):
        section, numpy = _section(lines, i)
        if section in _ABOUT_PARAMETERS:
            body, i = _body(lines, i + (2 if numpy else 1), numpy)
            doc.parameters.update(_numpy(body) if numpy else _google(body))
        elif section:
            _, i = _body(lines, i + (2 if numpy else 1), numpy)
        elif match := _SPHINX.match(lines[i].strip()) or _ONE_LINE.match(lines[i].strip()):
            more, i = _indented(lines, i + 1)
            doc.parameters[match[1]] = _join([match[2], *more])
        elif _SPHINX_OTHER.match(lines[i].strip()):
            _, i = _indented(lines, i + 1)
        else:
            description.append(lines[i])
            i += 1
    doc.description = "\n".join(description).strip()
    return doc


def _section(lines: list[str], i: int) -> tuple[str, bool]:
    """The name of the section that line i opens, or "", and whether it is underlined."""
    name = lines[i].strip().rstrip(":").lower()
    if name not in _ABOUT_PARAMETERS and name not in _OTHER:
        return "", False
    if i + 1 < len(lines) and re.fullmatch(r"-{3,}", lines[i + 1].strip()):
        return name, True
    return (name, False) if lines[i].strip().endswith(":") else ("", False)


def _body(lines: list[str], i: int, numpy: bool) -> tuple[list[str], int]:
    """The lines of a section that starts at i: those that are indented, or all up to the next one."""
    if not numpy:
        return _indented(lines, i)
    start = i
    while i < len(lines) and not _section(lines, i)[0]:
        i += 1
    return lines[start:i], i


def _indented(lines: list[str], i: int) -> tuple[list[str], int]:
    start = i
    while i < len(lines) and (not lines[i].strip() or lines[i][0].isspace()):
        i += 1
    return lines[start:i], i


def _google(body: list[str]) -> dict[str, str]:
    indents = [len(line) - len(line.lstrip()) for line in body if line.strip()]
    entries: dict[str, list[str]] = {}
    name = ""
    for line in body:
        match = _GOOGLE.match(line.strip()) if len(line) - len(line.lstrip()) == min(indents, default=0) else None
        if match:
            name = match[1].lstrip("*")
            entries[name] = [match[2]]
        elif name:
            entries[name].append(line)
    return {name: _join(text) for name, text in entries.items()}


def _numpy(body: list[str]) -> dict[str, str]:
    entries: dict[str, list[str]] = {}
    names: list[str] = []
    for line in body:
        match = _NUMPY.match(line) if line and not line[0].isspace() else None
        if match:
            names = [n.strip().lstrip("*") for n in match[1].split(",")]
            entries.update({n: [] for n in names})
        else:
            for n in names:
                entries[n].append(line)
    return {name: _join(text) for name, text in entries.items()}


def _join(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())
