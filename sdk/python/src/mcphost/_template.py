"""Matches URIs against RFC 6570 templates."""

from __future__ import annotations

import re
from urllib.parse import unquote

_EXPRESSION = re.compile(r"\{([+#./;?&]?)([^{}]*)\}")
_VARIABLE = re.compile(r"([A-Za-z0-9_%][A-Za-z0-9_.%]*)(\*|:[1-9][0-9]{0,3})?")
_UNRESERVED = r"(?:[A-Za-z0-9\-._~]|%[0-9A-Fa-f]{2}|[^\x00-\x7f])"
_RESERVED = r"(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2}|[^\x00-\x7f])"
# Operator: what the expansion begins with, what stands between values, whether they have names.
_OPERATORS = {
    "": ("", ",", False), "+": ("", ",", False), "#": ("#", ",", False), ".": (".", ".", False),
    "/": ("/", "/", False), ";": (";", ";", True), "?": ("?", "&", True), "&": ("&", "&", True),
}  # fmt: skip


class Template:
    """A template and its variables, in order."""

    def __init__(self, template: str) -> None:
        self.variables: list[str] = []
        pattern, at = "", 0
        for match in _EXPRESSION.finditer(template):
            pattern += self._literal(template[at : match.start()]) + self._expression(match[1], match[2])
            at = match.end()
        self._pattern = re.compile(pattern + self._literal(template[at:]))

    @staticmethod
    def _literal(text: str) -> str:
        if "{" in text or "}" in text:
            raise ValueError("its braces do not match")
        return re.escape(text)

    def _expression(self, operator: str, variables: str) -> str:
        first, separator, named = _OPERATORS[operator]
        char = _RESERVED if operator in ("+", "#") else _UNRESERVED
        pattern = ""
        for i, spec in enumerate(variables.split(",")):
            match = _VARIABLE.fullmatch(spec)
            if not match:
                raise ValueError(f"{spec!r} is no variable")
            name = match[1]
            if name in self.variables:
                raise ValueError(f"the variable {name!r} is there twice")
            self.variables.append(name)
            value = f"{char}*"
            if match[2] == "*":
                value = f"{char}*(?:{re.escape(separator)}{char}*)*"
            elif operator not in ("+", "#") and not named:
                value = f"(?:{char}|,)*" if operator == "" and "," not in variables else value
            group = f"(?P<v{len(self.variables) - 1}>{value})"
            if named:
                group = f"{re.escape(name)}(?:={group})?" if operator == ";" else f"{re.escape(name)}={group}"
            # A variable without a value is left out whole, with what stands before it.
            pattern += f"(?:{re.escape(first if i == 0 else separator)}{group})?" if first or i else group
        return pattern

    def match(self, uri: str) -> dict[str, str] | None:
        """The values of the variables in a URI, decoded; a variable that is not there is empty. None: no match."""
        match = self._pattern.fullmatch(uri)
        if match is None:
            return None
        return {name: unquote(match[f"v{i}"] or "") for i, name in enumerate(self.variables)}
