"""Tools as prompts show them: a line with the signature for who calls, the name for who judges.

In code the tools are whole signatures; only the JSON of a task holds these lines. A prompt that is
read again yields the names and no parameters, so the tools of a task come from the running release
(`ModelCaller.recorded_task`).
"""

from collections.abc import Sequence
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, PlainSerializer

from holdfast.models.calls.release_fields import FromRelease
from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.models.text.schema_shape import parameter_shapes
from holdfast.models.text.terminal_text import shorten_text

_MAX_LINE = 2_000
"""Characters of a tool's line; a server may describe itself at any length."""
_MAX_NOTE = 80
"""Characters of a parameter's description."""


def tool_line(tool: ToolSignature) -> str:
    """The signature and description, as `corpus.search(query: string, limit?: integer): ...`."""
    about = " ".join(tool.description.split())
    line = f"{tool.name}({parameter_shapes(tool.input_schema, _MAX_NOTE)})"
    return shorten_text(f"{line}: {about}" if about else line, _MAX_LINE)


def _lines(tools: Sequence[ToolSignature]) -> list[str]:
    return [tool_line(each) for each in tools]


def _names(tools: Sequence[ToolSignature]) -> list[str]:
    return [each.name for each in tools]


def _signatures(value: object) -> object:
    """The tools, of which a prompt holds lines; of a line the name is known."""
    if not isinstance(value, list | tuple):
        return value
    return tuple(
        ToolSignature(name=each.partition("(")[0]) if isinstance(each, str) else each
        for each in value
    )


CallableTools: TypeAlias = FromRelease[
    Annotated[
        tuple[ToolSignature, ...],
        BeforeValidator(_signatures),
        PlainSerializer(_lines, return_type=list[str], when_used="json"),
    ]
]
"""The tools of a role that calls them."""
NamedTools: TypeAlias = FromRelease[
    Annotated[
        tuple[ToolSignature, ...],
        BeforeValidator(_signatures),
        PlainSerializer(_names, return_type=list[str], when_used="json"),
    ]
]
"""The tools of a role that judges or sets objectives, and calls none."""
