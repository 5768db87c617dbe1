"""What a handler raises, and what becomes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603


class ToolError(Exception):
    """A failure with a message that the model reads, as an error result. Of a resource, a prompt or a completion it is a
    JSON-RPC error with that message.

    Every other exception, but :class:`Error`, tells the caller nothing but an incident id; the log has the rest under it.
    """


class Error(Exception):
    """A failure that MCP puts on the wire as a JSON-RPC error. The host passes only codes that a plugin may use."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class NotFound(Error):
    """There is no such resource."""

    def __init__(self, uri: str) -> None:
        super().__init__(INVALID_PARAMS, "resource not found", {"uri": uri})


class Cancelled(Exception):
    """The caller gave up, or time is over."""


@dataclass(frozen=True)
class InputRequest:
    """One question to the client or its user."""

    key: str
    method: str
    params: Any = None


class InputRequired(BaseException):
    """Suspends a handler by hand: the host asks the client, and calls again with the answers in
    :attr:`Context.input_responses` and the state in :attr:`Context.state`. :meth:`Context.elicit` does all that by itself;
    the two must not be mixed in one handler.

    It is no ``Exception``, so that ``except Exception`` does not swallow it.
    """

    def __init__(
        self,
        requests: Sequence[InputRequest] = (),
        state: bytes | None = None,
        *,
        expires_after: timedelta | None = None,
        single_use: bool = False,
        sticky: bool = False,
    ) -> None:
        super().__init__("input is required")
        self.requests = list(requests)
        self.state = state
        self.expires_after = expires_after
        self.single_use = single_use
        self.sticky = sticky


class Waiting(InputRequired):
    """What a question raises while its answer is not there."""


@dataclass(frozen=True)
class Diagnostic:
    """A complaint about a configuration. The host shows it with the line of the file that it is about."""

    summary: str  # two to four words
    detail: str = ""  # what was found, what is allowed, what to do
    pointer: str = ""  # RFC 6901 JSON Pointer into the configuration: "/roots/0"; "" is the whole block
    warning: bool = False  # the plugin can work with this configuration


class Invalid(Exception):
    """A configuration that cannot be used::

        raise mcphost.Invalid("/root", "No such folder", f"There is no folder {root}.")

    ``Invalid.of`` takes several complaints.
    """

    def __init__(self, pointer: str, summary: str, detail: str = "") -> None:
        super().__init__(f"{pointer}: {summary}: {detail}".strip(": "))
        self.diagnostics = [Diagnostic(summary, detail, pointer)]

    @classmethod
    def of(cls, diagnostics: Sequence[Diagnostic]) -> Invalid:
        """All complaints as one exception. If each is a warning, the configuration is used."""
        invalid = cls("", "; ".join(d.summary for d in diagnostics))
        invalid.diagnostics = list(diagnostics)
        return invalid
