"""What a plugin says of itself, and what its hooks are asked and say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from ._handlers import AnyFunction

Kind = Literal["tool", "resource", "template", "prompt"]


@dataclass(frozen=True)
class Secret:
    """A secret that the plugin reads with :meth:`Context.secret`, so that `mcphost validate` can miss it."""

    name: str
    description: str = ""
    required: bool = True


@dataclass(frozen=True)
class Grants:
    """What a plugin would like its sandbox to allow. It is shown to the operator and grants nothing."""

    read_paths: Sequence[str] = ()
    write_paths: Sequence[str] = ()
    network_hosts: Sequence[str] = ()  # "api.example.com:443"
    environment: Sequence[str] = ()  # names of variables
    spawn_processes: bool = False


@dataclass(frozen=True)
class Ref:
    """Names one primitive by the plugin's own name; a resource by its URI."""

    kind: Kind
    name: str


@dataclass(frozen=True)
class Verdict:
    """Whether a caller may use a primitive."""

    allow: bool = False
    reason: str = ""  # for the audit log
    required_scopes: Sequence[str] = ()


@dataclass(frozen=True)
class Hook:
    """A function that decides, and how long the host may keep what it said."""

    fn: AnyFunction
    keep: timedelta
