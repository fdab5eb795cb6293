"""How a document is read again: by the tool of its server that says it can, or by the same call."""

from collections.abc import Iterable
from dataclasses import dataclass

from mcp.types import Tool

from tools.marks import READS


@dataclass(frozen=True)
class Rereading:
    """What a server offers for reading again what one of its tools gave."""

    reader: str | None = None
    """`server.tool` that gives a document at its address."""
    parameter: str = ""
    """Its parameter that takes the address."""
    is_repeatable: bool = False
    """Whether the call that gave it may simply be made again."""


def rereading(server: str, name: str, tools: Iterable[Tool]) -> Rereading:
    """How what the tool of that name gave can be read again.

    A declaration counts where the tool only reads and has the parameter; the tool's own goes first.
    """
    known = sorted(tools, key=lambda tool: (tool.name != name, tool.name))
    same = next((tool for tool in known if tool.name == name), None)
    is_repeatable = same is not None and _is_repeatable(same)
    for tool in known:
        parameter = (tool.meta or {}).get(READS)
        takes = tool.input_schema.get("properties", {})
        if isinstance(parameter, str) and parameter in takes and _is_repeatable(tool):
            return Rereading(f"{server}.{tool.name}", parameter, is_repeatable)
    return Rereading(is_repeatable=is_repeatable)


def _is_repeatable(tool: Tool) -> bool:
    hints = tool.annotations
    return bool(hints and (hints.read_only_hint or hints.idempotent_hint))
