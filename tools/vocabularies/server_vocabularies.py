"""Look up the allowed values of a server's tool parameters in a schema, list, file or tool."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from mcp.types import Tool

from holdfast.models.calls.tool_signatures import ToolAnswer
from holdfast.models.errors import ToolFailed
from holdfast.models.text.secret_mask import SecretMask
from holdfast.models.text.storable_text import storable_text
from holdfast.planning.schemas.allowed_texts import allowed_texts
from holdfast.planning.text.nearest_values import Vocabulary
from holdfast.tools.vocabularies.vocabulary_sources import FromTool, VocabularySource

_FRESH_S = 600.0
"""How long a tool's list of values is used before the tool is called again."""
_LARGE = 2_000
"""From this number of values on, a thread builds the index."""

ListValues: TypeAlias = Callable[[str], Awaitable[ToolAnswer]]
"""Calls the tool of this name (without server prefix) without arguments."""


@dataclass(frozen=True)
class KnownParameter:
    """A parameter with its allowed values."""

    vocabulary: Vocabulary
    description: str = ""


@dataclass
class ServerVocabularies:
    """The vocabularies of one server; each is built at first use."""

    declared: Mapping[str, VocabularySource] = field(default_factory=dict)
    """By `parameter` or by `tool.parameter`; the latter takes precedence."""
    secret_mask: SecretMask = field(default_factory=SecretMask)
    """Hides secrets in descriptions; values with one are left out, since masked they are wrong."""
    _made: dict[str, Vocabulary] = field(default_factory=dict)
    _until: dict[str, float] = field(default_factory=dict)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def of(
        self, tool: Tool, names: Collection[str], listing: ListValues, *, at: str = ""
    ) -> dict[str, KnownParameter]:
        """Return the vocabularies of the named parameters, where declared.

        Raises:
            ToolFailed: the listing tool failed, or its list was cut.
            ToolBusy: the server is unavailable.
        """
        known_parameters = {}
        for name in names:
            schema = tool.input_schema.get("properties", {}).get(name, {})
            source = self.declared.get(f"{tool.name}.{name}", self.declared.get(name))
            if isinstance(source, FromTool):
                vocabulary = await self._listed(source.tool, listing, at)
            else:
                values = source or allowed_texts(schema, tool.input_schema)
                vocabulary = await self._fixed(f"{tool.name}.{name}", self._shown(values))
            if vocabulary.values:
                about = schema.get("description", "") if isinstance(schema, dict) else ""
                shown = self.secret_mask.text(storable_text(str(about)))
                known_parameters[name] = KnownParameter(vocabulary, shown[:1000])
        return known_parameters

    def unmatched_declarations(self, tools: Mapping[str, Tool]) -> Iterator[str]:
        """Return a message for each declaration that matches no tool."""
        parameters = {
            key
            for tool in tools.values()
            for name in tool.input_schema.get("properties", {})
            for key in (name, f"{tool.name}.{name}")
        }
        for name, source in self.declared.items():
            if name not in parameters:
                yield f"vocabulary {name!r} fits no parameter of its tools"
            if isinstance(source, FromTool) and source.tool not in tools:
                yield f"vocabulary {name!r} wants the tool {source.tool!r}, which is not there"

    def _shown(self, values: Iterable[object]) -> tuple[str, ...]:
        texts = map(str, values)
        return tuple(text for text in texts if self.secret_mask.text(text) == text)

    async def _fixed(self, key: str, values: tuple[str, ...]) -> Vocabulary:
        kept = self._made.get(key)
        if kept is None or kept.values != values:
            kept = self._made[key] = await _build_vocabulary(values)
        return kept

    async def _listed(self, tool: str, listing: ListValues, at: str) -> Vocabulary:
        key = f"{tool}()@{at}"
        async with self._lock:
            if self._until.get(key, 0.0) < time.monotonic():
                self._made[key] = await _build_vocabulary(
                    _listed_values(tool, await _call_listing_tool(tool, listing))
                )
                self._until[key] = time.monotonic() + _FRESH_S
        return self._made[key]


async def _build_vocabulary(values: tuple[str, ...]) -> Vocabulary:
    vocabulary = Vocabulary(values)
    if len(values) >= _LARGE:
        await asyncio.to_thread(vocabulary.prepare)
    return vocabulary


async def _call_listing_tool(tool: str, listing: ListValues) -> ToolAnswer:
    try:
        return await listing(tool)
    except ToolFailed as error:
        raise ToolFailed(f"the values of a parameter come from {tool!r}, and {error}") from error


def _listed_values(tool: str, answer: ToolAnswer) -> tuple[str, ...]:
    """Return the texts of a list, or the lines of a text."""
    if answer.is_cut:
        raise ToolFailed(
            f"{tool!r} lists more values than `max_bytes` lets through: raise it for this server "
            "in holdfast.toml, or name a file"
        )
    value = answer.structured
    if isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    lines = value if isinstance(value, list) else answer.text.splitlines()
    return tuple(dict.fromkeys(line.strip() for line in lines if isinstance(line, str) and line))
