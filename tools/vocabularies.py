"""Which values the parameters of a server's tools may have: from schema, file, or another tool."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from mcp.types import Tool

from models.errors import ToolFailed
from models.tools import ToolAnswer
from planning.closed_values import closed_values
from planning.vocabulary import Vocabulary
from tools.plain import plain_text
from tools.vocabulary_sources import FromTool, Source

_FRESH_S = 600.0
"""How long a list that a tool gave is used before the tool is asked again."""
_LARGE = 2_000
"""From so many values on the index is made beside the event loop."""

Listing: TypeAlias = Callable[[str], Awaitable[ToolAnswer]]
"""Calls the tool of that name, without its server's, with no arguments."""


@dataclass(frozen=True)
class Parameter:
    """A parameter whose values are known."""

    vocabulary: Vocabulary
    description: str = ""


@dataclass
class Vocabularies:
    """The vocabularies of one server, each made when it is first asked for."""

    declared: Mapping[str, Source] = field(default_factory=dict)
    """By `parameter`, or by `tool.parameter`, which goes first."""
    _made: dict[str, Vocabulary] = field(default_factory=dict)
    _until: dict[str, float] = field(default_factory=dict)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def of(
        self, tool: Tool, names: Collection[str], listing: Listing, *, at: str = ""
    ) -> dict[str, Parameter]:
        """Those of the named parameters that have a vocabulary; `at` tells lists apart.

        Raises:
            ToolFailed: the tool that lists the values failed, or its list was cut.
            ToolBusy: the server is away.
        """
        found = {}
        for name in names:
            schema = tool.input_schema.get("properties", {}).get(name, {})
            source = self.declared.get(f"{tool.name}.{name}", self.declared.get(name))
            if isinstance(source, FromTool):
                vocabulary = await self._listed(source.tool, listing, at)
            else:
                values = source or closed_values(schema, tool.input_schema)
                vocabulary = await self._fixed(f"{tool.name}.{name}", tuple(map(str, values)))
            if vocabulary.values:
                about = schema.get("description", "") if isinstance(schema, dict) else ""
                found[name] = Parameter(vocabulary, plain_text(str(about))[:1000])
        return found

    def unfit(self, tools: Mapping[str, Tool]) -> Iterator[str]:
        """What is declared and fits no tool that is there, in words."""
        known = {
            each
            for tool in tools.values()
            for name in tool.input_schema.get("properties", {})
            for each in (name, f"{tool.name}.{name}")
        }
        for name, source in self.declared.items():
            if name not in known:
                yield f"vocabulary {name!r} fits no parameter of its tools"
            if isinstance(source, FromTool) and source.tool not in tools:
                yield f"vocabulary {name!r} wants the tool {source.tool!r}, which is not there"

    async def _fixed(self, key: str, values: tuple[str, ...]) -> Vocabulary:
        kept = self._made.get(key)
        if kept is None or kept.values != values:
            kept = self._made[key] = await _prepared(values)
        return kept

    async def _listed(self, tool: str, listing: Listing, at: str) -> Vocabulary:
        key = f"{tool}()@{at}"
        async with self._lock:
            if self._until.get(key, 0.0) < time.monotonic():
                self._made[key] = await _prepared(_values(tool, await _asked(tool, listing)))
                self._until[key] = time.monotonic() + _FRESH_S
        return self._made[key]


async def _prepared(values: tuple[str, ...]) -> Vocabulary:
    vocabulary = Vocabulary(values)
    if len(values) >= _LARGE:
        await asyncio.to_thread(vocabulary.prepare)
    return vocabulary


async def _asked(tool: str, listing: Listing) -> ToolAnswer:
    try:
        return await listing(tool)
    except ToolFailed as error:
        raise ToolFailed(f"the values of a parameter come from {tool!r}, and {error}") from error


def _values(tool: str, answer: ToolAnswer) -> tuple[str, ...]:
    """The texts of a list, or the lines of a text."""
    if answer.is_cut:
        raise ToolFailed(
            f"{tool!r} lists more values than `max_bytes` lets through: raise it for this server "
            "in holdfast.toml, or name a file"
        )
    told = answer.structured
    if isinstance(told, dict) and len(told) == 1:
        (told,) = told.values()
    lines = told if isinstance(told, list) else answer.text.splitlines()
    return tuple(dict.fromkeys(each.strip() for each in lines if isinstance(each, str) and each))
