"""Keeps standard output for the handshake, and makes it harmless for everything else.

A host reads one line from a plugin's standard output. This module, which the package imports first, makes file descriptor 1
another name of standard error as soon as a host is found to have started the process: print, C libraries and child
processes can write what they like.
"""

from __future__ import annotations

import os
import sys

COOKIE_KEY = "MCPHOST_PLUGIN"
COOKIE_VALUE = "b5d5e3f0-mcphost-plugin-v1"

_handshake_fd: int | None = None


def capture() -> None:
    """Takes standard output away, if a host started this process. Children do not see that it did."""
    global _handshake_fd
    if _handshake_fd is not None or os.environ.get(COOKIE_KEY) != COOKIE_VALUE:
        return
    if sys.stdout is not None:
        sys.stdout.flush()
    _handshake_fd = os.dup(1)  # not inheritable, by PEP 446
    os.dup2(2, 1)
    del os.environ[COOKIE_KEY]


def hosted() -> bool:
    """Whether a host started this process."""
    return _handshake_fd is not None


def write_handshake(line: str) -> None:
    """Writes the one line that the host waits for. The pipe stays open: its end is the end of the plugin."""
    assert _handshake_fd is not None
    rest = line.encode()
    while rest:
        rest = rest[os.write(_handshake_fd, rest) :]


capture()
