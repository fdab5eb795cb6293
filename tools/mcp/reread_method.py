"""Find out how a cited document can be read again: by a reading tool or by the same call."""

from collections.abc import Iterable
from dataclasses import dataclass

from mcp.types import Tool

from holdfast.tools.mcp.meta_keys import READS_KEY


@dataclass(frozen=True)
class RereadMethod:
    """How to read a document of a server again."""

    reader: str | None = None
    """The `server.tool` that returns the document at an address; empty if there is none."""
    parameter: str = ""
    """The tool's parameter that takes the address."""
    is_repeatable: bool = False
    """True if the original call may be repeated."""


def find_reread_method(server: str, name: str, tools: Iterable[Tool]) -> RereadMethod:
    """Return how to read again a document that the tool `name` returned.

    A declaration counts if its tool only reads and has the declared parameter; the declaration
    of the tool `name` itself comes first.
    """
    own_first = sorted(tools, key=lambda tool: (tool.name != name, tool.name))
    same = next((tool for tool in own_first if tool.name == name), None)
    is_repeatable = same is not None and _is_repeatable(same)
    for tool in own_first:
        parameter = (tool.meta or {}).get(READS_KEY)
        takes = tool.input_schema.get("properties", {})
        if isinstance(parameter, str) and parameter in takes and _is_repeatable(tool):
            return RereadMethod(f"{server}.{tool.name}", parameter, is_repeatable)
    return RereadMethod(is_repeatable=is_repeatable)


def _is_repeatable(tool: Tool) -> bool:
    hints = tool.annotations
    return bool(hints and (hints.read_only_hint or hints.idempotent_hint))
