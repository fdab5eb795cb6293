"""What a plan may call: the signature of an MCP tool, and the shape of its answer."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from models.base import Frozen
from models.figures import Figure


class ToolSignature(Frozen):
    """A tool as planners and validators see it; `name` is `server.tool`."""

    name: str
    description: str = ""
    input_schema: Mapping[str, Any] = Field(default_factory=dict)
    """JSON Schema of the arguments, without those that Holdfast binds itself."""
    output_schema: Mapping[str, Any] | None = None
    read_only: bool = False
    idempotent: bool = False

    @property
    def is_repeatable(self) -> bool:
        """Whether a call with unknown outcome may be sent again (MCP annotations)."""
        return self.read_only or self.idempotent


class ToldPassage(Frozen):
    """A piece of text as a tool gives it, with where it stands.

    `start` and `end` are character offsets of `text` in the document at `address`; a tool that
    knows no documents gives its whole answer as one passage that starts at 0.
    """

    address: str
    title: str = ""
    heading: str = ""
    date: str = ""
    """When the document was published, as ISO 8601; empty: the tool does not say."""
    text: str
    start: int = 0
    end: int = 0


class ReadPassage(ToldPassage):
    """A passage as it was read, with who gave it: Holdfast says that, never the tool itself."""

    tool: str = ""
    """`server.tool`; empty in what earlier releases recorded."""
    via: str = ""
    """The server's name where it is one of the user's own; empty: it comes with Holdfast."""


class ToolAnswer(Frozen):
    """What came back from a tool: its text, its structured form, and the passages in it."""

    text: str
    structured: Any = None
    passages: tuple[ReadPassage, ...] = ()
    is_cut: bool = False
    """Whether the answer was longer than the limit and its end was dropped."""
    figures: tuple[Figure, ...] = ()
    """The images in it; their bytes reach neither a prompt nor Temporal."""
