"""Choose which of an agent's tools its loop offers as `search`, and list the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.models.text.terminal_text import shorten_text
from holdfast.planning.plans.search_tool_choice import SearchTool, search_tool
from holdfast.planning.plans.tool_parameters import resolve_definition

FIRST_PASSAGES = 4
"""Passages of the first search: more are noise that every turn sends again."""
_PASSAGES_ALONE = 4
"""Passages of the only query of a turn."""
_PASSAGES_EACH = 3
"""Passages of each of several queries."""
_MAX_DESCRIPTION = 80
_MAX_PARAMETERS = 6
_MAX_TOOLS = 40
_MOST_CHOICES = 6
ADDRESS_PARAMETERS = frozenset(("document", "url"))
"""Parameters that name a document; there the number of a passage stands for its address."""


@dataclass(frozen=True)
class LoopTools:
    """The tools of one agent, as its loop offers them."""

    search: SearchTool | None
    others: tuple[ToolSignature, ...]

    @classmethod
    def of(cls, tools: Sequence[ToolSignature]) -> "LoopTools":
        """The best search tool as `search`, the rest for `use`."""
        search = search_tool(tools)
        others = tuple(each for each in tools if search is None or each.name != search.name)
        return cls(search, others[:_MAX_TOOLS])

    @property
    def search_name(self) -> str:
        """The name of the search tool; empty without one."""
        return self.search.name if self.search else ""

    @property
    def names(self) -> frozenset[str]:
        """The names of the tools for `use`."""
        return frozenset(each.name for each in self.others)

    @property
    def lines(self) -> tuple[str, ...]:
        """One signature line for each tool for `use`."""
        return tuple(signature_line(each) for each in self.others)

    def search_inputs(self, query: str, queries: int = 0) -> dict[str, JsonValue]:
        """The inputs of one search, of as many `queries` in its turn; 0: the first search.

        Raises:
            ValueError: the agent has no search tool.
        """
        if self.search is None:
            raise ValueError("the agent has no search tool")
        inputs: dict[str, JsonValue] = {self.search.parameter: query}
        if self.search.limit:
            wanted = {0: FIRST_PASSAGES, 1: _PASSAGES_ALONE}.get(queries, _PASSAGES_EACH)
            inputs[self.search.limit] = min(wanted, self.search.most or wanted)
        return inputs


def signature_line(tool: ToolSignature) -> str:
    """Return `server.tool(name, other?: type): what it does` in one line; text has no type word."""
    schema = tool.input_schema
    properties = schema.get("properties")
    required = schema.get("required") or ()
    parameters = [*properties.items()] if isinstance(properties, Mapping) else []
    listed = [
        f"{name}{'' if name in required else '?'}{_type_word(name, each, schema)}"
        for name, each in parameters
        if len(parameters) <= _MAX_PARAMETERS or name in required
    ]
    listed += ["..."] if len(listed) < len(parameters) else []
    return f"{tool.name}({', '.join(listed)}): {_first_sentence(tool.description)}"


def _first_sentence(description: str) -> str:
    told = " ".join(description.split())
    return shorten_text(told.partition(". ")[0].rstrip("."), _MAX_DESCRIPTION)


def _type_word(name: str, schema: object, whole: Mapping[str, Any]) -> str:
    if name in ADDRESS_PARAMETERS:
        return ": passage number or address"
    held = resolve_definition(schema, whole)
    choices = held.get("enum")
    if isinstance(choices, list) and len(choices) <= _MOST_CHOICES:
        return f": {'|'.join(map(str, choices))}"
    kind = held.get("type")
    if isinstance(kind, list):
        kind = next((each for each in kind if each != "null"), None)
    return f": {kind}" if isinstance(kind, str) and kind != "string" else ""
