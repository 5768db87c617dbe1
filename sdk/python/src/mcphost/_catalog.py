"""What a plugin offers, and who is told when it changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ._context import Context
from ._template import Template
from .plugin.v1 import plugin_pb2 as pb

PART_SIZE = 1 << 20  # of a part of the catalog, in bytes: well below the message limit
MAX_UPDATES = 4096  # resource updates that wait for a watcher; more than that are not told of


@dataclass(frozen=True)
class Tool:
    definition: pb.Tool
    call: Callable[[Context, bytes], pb.ToolResult]


@dataclass(frozen=True)
class Resource:
    definition: pb.Resource
    read: Callable[[Context, str, dict[str, str]], pb.ReadResourceResult | None]


@dataclass(frozen=True)
class ResourceTemplate:
    definition: pb.ResourceTemplate
    pattern: Template
    read: Callable[[Context, str, dict[str, str]], pb.ReadResourceResult | None]


@dataclass(frozen=True)
class Prompt:
    definition: pb.Prompt
    get: Callable[[Context, dict[str, str]], pb.GetPromptResult]


@dataclass
class Contents:
    """What a plugin offers at one moment."""

    revision: int = 0
    tools: dict[str, Tool] = field(default_factory=dict)
    resources: dict[str, Resource] = field(default_factory=dict)
    templates: dict[str, ResourceTemplate] = field(default_factory=dict)  # a snapshot has them sorted
    prompts: dict[str, Prompt] = field(default_factory=dict)
    # By kind, name or URI template, and argument.
    completions: dict[tuple[int, str, str], Callable[..., list[str]]] = field(default_factory=dict)

    def find(self, uri: str) -> tuple[Resource | ResourceTemplate | None, dict[str, str]]:
        """Who reads a URI: the resource itself, or else the first template by spelling that matches."""
        if resource := self.resources.get(uri):
            return resource, {}
        for template in self.templates.values():
            values = template.pattern.match(uri)
            if values is not None:
                return template, values
        return None, {}

    def parts(self, instructions: str) -> Iterator[pb.CatalogPart]:
        """The contents as the parts of one catalog, sorted by name."""
        part, room = pb.CatalogPart(revision=self.revision, instructions=instructions), PART_SIZE - len(instructions)
        lists: list[tuple[str, dict[str, Any]]] = [
            ("tools", self.tools), ("resources", self.resources), ("resource_templates", self.templates), ("prompts", self.prompts),
        ]  # fmt: skip
        for name, primitives in lists:
            for key in sorted(primitives):
                definition = primitives[key].definition
                size = definition.ByteSize()
                if size > room:
                    yield part
                    part, room = pb.CatalogPart(revision=self.revision), PART_SIZE
                getattr(part, name).append(definition)
                room -= size
        part.last = True
        yield part


class Watcher:
    """One Watch stream."""

    def __init__(self) -> None:
        self.woken = threading.Event()  # look again
        self.over = False
        self.updates: dict[str, None] = {}  # URIs, coalesced; guarded by the catalog


class Catalog:
    """Holds the contents and tells watchers of each change. Adding many primitives one by one is cheap: the contents are
    published when somebody looks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards what follows
        self._now: Contents | None = None  # None while the draft has changes that nobody has looked at
        self._draft = Contents()
        self._watchers: set[Watcher] = set()

    def change(self, edit: Callable[[Contents], object]) -> None:
        """Has edit change the contents, which then have the next revision."""
        with self._lock:
            edit(self._draft)
            self._draft.revision += 1
            self._now = None
            self._wake()

    def load(self) -> Contents:
        """The contents with every change in them. Nobody changes them afterwards."""
        if (now := self._now) is not None:
            return now
        with self._lock:
            if self._now is None:
                d = self._draft
                templates = {key: d.templates[key] for key in sorted(d.templates)}
                self._now = Contents(
                    d.revision, dict(d.tools), dict(d.resources), templates, dict(d.prompts), dict(d.completions)
                )
            return self._now

    def updated(self, uri: str) -> None:
        """Tells every watcher that a resource changed."""
        with self._lock:
            for watcher in self._watchers:
                if len(watcher.updates) < MAX_UPDATES:
                    watcher.updates[uri] = None
            self._wake()

    def _wake(self) -> None:
        for watcher in self._watchers:
            watcher.woken.set()

    def watch(self) -> Watcher:
        watcher = Watcher()
        with self._lock:
            self._watchers.add(watcher)
        return watcher

    def unwatch(self, watcher: Watcher) -> None:
        with self._lock:
            self._watchers.discard(watcher)

    def take(self, watcher: Watcher) -> list[str]:
        """The updates that wait for a watcher, sorted; they are forgotten."""
        with self._lock:
            uris = sorted(watcher.updates)
            watcher.updates.clear()
            return uris
