"""Write plugins of mcphost: a tool is one typed function.

::

    import mcphost

    p = mcphost.Plugin("hello", "1.0.0")

    @p.tool(read_only=True)
    def greet(name: str, times: int = 1) -> str:
        \"\"\"Greets somebody.

        Args:
            name: whom to greet
            times: how often
        \"\"\"
        return f"Hello, {name}! " * times

    if __name__ == "__main__":
        p.main()

Schemas come from type hints, defaults and docstrings. What a function returns becomes text and structured content of the same
bytes; a :class:`ToolError` becomes an error result that the model can read; any other exception becomes one that tells nothing,
and a line in the log. A function that needs an answer from the user asks with :meth:`Context.elicit` and is entered again
when the answer is there.

Import this package first: as soon as it is there, print is harmless.
"""

# First: see _stdout.
from . import _stdout  # isort: skip  # noqa: F401
from ._codec import Field
from ._config import Config, Setup
from ._content import (
    Audio,
    Blob,
    Content,
    EmbeddedResource,
    Icon,
    Image,
    Message,
    PromptResult,
    RawContent,
    ReadResult,
    ResourceLink,
    Result,
    Text,
)
from ._context import Client, Context, Principal
from ._errors import Cancelled, Diagnostic, Error, InputRequest, InputRequired, Invalid, NotFound, ToolError
from ._input import Answer, Root, SampleResult
from ._plugin import Plugin
from ._words import Grants, Ref, Secret, Verdict

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Audio",
    "Blob",
    "Cancelled",
    "Client",
    "Config",
    "Content",
    "Context",
    "Diagnostic",
    "EmbeddedResource",
    "Error",
    "Field",
    "Grants",
    "Icon",
    "Image",
    "InputRequest",
    "InputRequired",
    "Invalid",
    "Message",
    "NotFound",
    "Plugin",
    "Principal",
    "PromptResult",
    "RawContent",
    "ReadResult",
    "Ref",
    "ResourceLink",
    "Result",
    "Root",
    "SampleResult",
    "Secret",
    "Setup",
    "Text",
    "ToolError",
    "Verdict",
]
