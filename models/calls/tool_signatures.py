"""Define the signature of a tool, and the answer of a tool with its passages."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from holdfast.models.calls.tool_figures import ToolFigure
from holdfast.models.frozen_model import Frozen


class ToolSignature(Frozen):
    """A tool as planners and validators see it; `name` is `server.tool`."""

    name: str
    description: str = ""
    input_schema: Mapping[str, Any] = Field(default_factory=dict)
    """The JSON Schema of the arguments, without those that Holdfast sets itself."""
    output_schema: Mapping[str, Any] | None = None
    read_only: bool = False
    idempotent: bool = False

    @property
    def is_repeatable(self) -> bool:
        """True if a call with unknown outcome may be sent again (MCP annotations)."""
        return self.read_only or self.idempotent


class ToolPassage(Frozen):
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


class SourcePassage(ToolPassage):
    """A passage with its tool and server, which Holdfast sets and no tool can claim."""

    tool: str = ""
    """The tool as `server.tool`; empty in records of earlier releases."""
    via: str = ""
    """The name of the user's own server; empty for a built-in server."""


class ToolAnswer(Frozen):
    """A tool's answer: its text, its structured form, and its passages."""

    text: str
    structured: Any = None
    passages: tuple[SourcePassage, ...] = ()
    is_cut: bool = False
    """True if the answer was cut at the length limit."""
    figures: tuple[ToolFigure, ...] = ()
    """The answer's images; their bytes reach neither a prompt nor Temporal."""
