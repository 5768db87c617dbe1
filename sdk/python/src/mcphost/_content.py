"""What tools, resources and prompts say, in types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any, Literal

from . import _json
from ._json import valid
from .plugin.v1 import plugin_pb2 as pb

Role = Literal["user", "assistant"]


@dataclass(frozen=True)
class Icon:
    """A picture for a primitive."""

    src: str
    mime_type: str = ""
    sizes: Sequence[str] = ()
    theme: str = ""


def icons_json(icons: Sequence[Icon]) -> bytes:
    return _json.optional(
        [
            {"src": i.src}
            | ({"mimeType": i.mime_type} if i.mime_type else {})
            | ({"sizes": list(i.sizes)} if i.sizes else {})
            | ({"theme": i.theme} if i.theme else {})
            for i in icons
        ]
    )


@dataclass(frozen=True)
class Content:
    """One block of what a tool or a prompt says, with hints for the client around it."""

    _: KW_ONLY
    audience: Sequence[Role] = ()
    priority: float | None = None  # 0 to 1
    last_modified: datetime | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)

    def to_proto(self) -> pb.Content:
        content = self._block()
        content.annotations_json = annotations_json(self.audience, self.priority, self.last_modified)
        content.meta_json = _json.optional(self.meta)
        return content

    def _block(self) -> pb.Content:
        raise NotImplementedError


def annotations_json(audience: Sequence[str], priority: float | None, last_modified: datetime | None) -> bytes:
    annotations: dict[str, Any] = {}
    if audience:
        annotations["audience"] = list(audience)
    if priority is not None:
        annotations["priority"] = priority
    if last_modified is not None:
        text = last_modified.astimezone(timezone.utc).isoformat()
        annotations["lastModified"] = text.removesuffix("+00:00") + "Z"
    return _json.optional(annotations)


@dataclass(frozen=True)
class Text(Content):
    """A block of text."""

    text: str

    def _block(self) -> pb.Content:
        return pb.Content(text=valid(self.text))


@dataclass(frozen=True)
class Image(Content):
    """A picture; data is the picture itself, not base64."""

    data: bytes
    mime_type: str

    def _block(self) -> pb.Content:
        return pb.Content(image=pb.Blob(data=bytes(self.data), mime_type=valid(self.mime_type)))


@dataclass(frozen=True)
class Audio(Content):
    """A sound; data is the sound itself, not base64."""

    data: bytes
    mime_type: str

    def _block(self) -> pb.Content:
        return pb.Content(audio=pb.Blob(data=bytes(self.data), mime_type=valid(self.mime_type)))


@dataclass(frozen=True)
class EmbeddedResource(Content):
    """A resource with its text. :class:`Blob` is one with bytes."""

    uri: str
    text: str
    mime_type: str = ""

    def _block(self) -> pb.Content:
        return pb.Content(resource=self.contents(with_meta=False))

    def contents(self, *, with_meta: bool = True) -> pb.ResourceContents:
        contents = pb.ResourceContents(uri=valid(self.uri), mime_type=valid(self.mime_type), text=valid(self.text))
        if with_meta:
            contents.meta_json = _json.optional(self.meta)
        return contents


@dataclass(frozen=True)
class Blob(Content):
    """A resource with its bytes, not base64."""

    uri: str
    data: bytes
    mime_type: str = "application/octet-stream"

    def _block(self) -> pb.Content:
        return pb.Content(resource=self.contents(with_meta=False))

    def contents(self, *, with_meta: bool = True) -> pb.ResourceContents:
        contents = pb.ResourceContents(uri=valid(self.uri), mime_type=valid(self.mime_type), blob=bytes(self.data))
        if with_meta:
            contents.meta_json = _json.optional(self.meta)
        return contents


@dataclass(frozen=True)
class ResourceLink(Content):
    """Points to a resource that the client may read."""

    uri: str
    name: str
    title: str = ""
    description: str = ""
    mime_type: str = ""
    size: int | None = None
    icons: Sequence[Icon] = ()

    def to_proto(self) -> pb.Content:
        return pb.Content(
            resource_link=pb.Resource(
                uri=valid(self.uri), name=valid(self.name), title=valid(self.title), description=valid(self.description),
                mime_type=valid(self.mime_type), size=self.size, icons_json=icons_json(self.icons),
                annotations_json=annotations_json(self.audience, self.priority, self.last_modified),
                meta_json=_json.optional(self.meta),
            )
        )  # fmt: skip


@dataclass(frozen=True)
class RawContent(Content):
    """A block of a type that this package does not know, passed on as it is."""

    block: Mapping[str, Any]

    def _block(self) -> pb.Content:
        return pb.Content(content_json=_json.dumps(self.block))


@dataclass(frozen=True)
class Result:
    """The whole answer of a tool, for a function that needs to say more than one value does."""

    content: Sequence[Content | str] = ()
    structured: Any = None  # encoded as JSON; None is none. Without content it is the text, too
    _: KW_ONLY
    is_error: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ReadResult:
    """What a resource holds."""

    contents: Sequence[EmbeddedResource | Blob]
    _: KW_ONLY
    ttl: timedelta = timedelta(0)  # how long it may be kept; 0: not at all
    public: bool = False  # whether it may be kept for everybody, not for this caller alone
    meta: Mapping[str, Any] = field(default_factory=dict)

    def to_proto(self) -> pb.ReadResourceResult:
        result = pb.ReadResourceResult(
            contents=[c.contents() for c in self.contents],
            cache=pb.CacheHint(scope=pb.CacheHint.SCOPE_PUBLIC if self.public else pb.CacheHint.SCOPE_PRIVATE),
            meta_json=_json.optional(self.meta),
        )
        result.cache.ttl.FromTimedelta(self.ttl)
        return result


@dataclass(frozen=True)
class Message:
    """One message of a prompt."""

    content: Content | str
    role: Role = "user"


@dataclass(frozen=True)
class PromptResult:
    """A prompt filled in."""

    messages: Sequence[Message | str]
    description: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)

    def to_proto(self) -> pb.GetPromptResult:
        messages = [Message(m) if isinstance(m, str) else m for m in self.messages]
        return pb.GetPromptResult(
            description=valid(self.description), meta_json=_json.optional(self.meta),
            messages=[pb.PromptMessage(role=m.role, content=block(m.content)) for m in messages],
        )  # fmt: skip


def block(content: Content | str) -> pb.Content:
    """A block as the contract has it; a string is text."""
    if isinstance(content, str):
        return pb.Content(text=valid(content))
    if not isinstance(content, Content):
        raise TypeError(f"{type(content).__name__} is no content")
    return content.to_proto()
