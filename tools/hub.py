"""The one place where tools are listed and called, whichever MCP server they live on."""

import asyncio
import copy
import difflib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mcp.server import MCPServer
from mcp.types import CallToolResult, Tool

from models.errors import (
    BadConfiguration,
    BadInput,
    DocumentGone,
    HoldfastError,
    ToolBusy,
    ToolFailed,
)
from models.tools import ToolAnswer, ToolSignature
from tools.answers import read_answer, read_text
from tools.arguments import CheckedTool
from tools.config import ServerConfig
from tools.described import described, described_schema
from tools.link import ServerLink
from tools.marks import REMEMBERS
from tools.passing import is_gone, is_passing
from tools.plain import plain_text
from tools.rereading import Rereading, rereading
from tools.secrets import Veil, secrets_of
from tools.vocabularies import Parameter, Vocabularies
from tools.vocabulary_sources import Source
from tools.wires import Connect, configured, in_process

_LONGEST_ERROR = 2_000
"""How many characters of a tool's own error message are passed on."""


@dataclass(frozen=True)
class BuiltinServer:
    """A server that is part of this process; `bind` is as in `holdfast.toml`."""

    server: MCPServer
    bind: Mapping[str, str] = field(default_factory=dict)
    vocabulary: Mapping[str, Source] = field(default_factory=dict)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Keys that it holds: hidden wherever its answers and errors repeat them."""
    timeout_s: float = 600
    concurrency: int = 32
    max_bytes: int = 1_000_000


class _Listing:
    """The tools that a server lists now, checked; made anew when it lists them anew."""

    def __init__(self) -> None:
        self._tools: Mapping[str, Tool] = {}
        self._checked: dict[str, CheckedTool] = {}

    def of(self, tools: Mapping[str, Tool]) -> Mapping[str, CheckedTool]:
        if tools is not self._tools:
            self._tools = tools
            self._checked = {name: CheckedTool(tool) for name, tool in tools.items()}
        return self._checked


@dataclass(frozen=True)
class _Place:
    """A server as the hub uses it."""

    link: ServerLink
    bind: Mapping[str, str]
    timeout: timedelta
    max_bytes: int
    vocabularies: Vocabularies
    is_foreign: bool
    """Whether it is a server of the user's own."""
    veil: Veil
    listing: _Listing = field(default_factory=_Listing)

    @property
    def tools(self) -> Mapping[str, CheckedTool]:
        return self.listing.of(self.link.tools)


def _place(
    name: str, server: ServerConfig | BuiltinServer, connect: Connect, patience: timedelta
) -> _Place:
    link = ServerLink(name, connect, concurrency=server.concurrency, patience=patience)
    known = Vocabularies(server.vocabulary)
    seconds = timedelta(seconds=server.timeout_s)
    is_foreign = not isinstance(server, BuiltinServer)
    veil = Veil(server.secrets if isinstance(server, BuiltinServer) else secrets_of(server))
    return _Place(link, server.bind, seconds, server.max_bytes, known, is_foreign, veil)


class Hub:
    """All tools of all servers, from entering to leaving the hub.

    A server that is away costs only its own tools, and at most `patience` of waiting.
    """

    def __init__(
        self,
        servers: Mapping[str, ServerConfig],
        builtin: Mapping[str, BuiltinServer],
        *,
        patience: timedelta = timedelta(seconds=10),
        log_folder: Path | None = None,
    ) -> None:
        for name in servers.keys() & builtin.keys():
            raise BadConfiguration(f"server {name!r} comes with Holdfast; rename yours")
        self._faults: tuple[str, ...] = ()
        self._places = {
            name: _place(name, server, configured(name, server, log_folder), patience)
            for name, server in servers.items()
        } | {
            name: _place(name, server, in_process(server.server), patience)
            for name, server in builtin.items()
        }

    async def __aenter__(self) -> Self:
        for place in self._places.values():
            place.link.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.gather(*(place.link.stop() for place in self._places.values()))

    def only(self, servers: Collection[str]) -> "Hub":
        """The same hub with the tools of these servers alone; of all where none is named.

        Raises:
            BadInput: there is no server of such a name.
        """
        for name in servers:
            if name not in self._places:
                known = ", ".join(sorted(self._places))
                raise BadInput(f"there is no server {name!r}; there are: {known}")
        if not servers:
            return self
        limited = copy.copy(self)
        limited._places = {name: self._places[name] for name in servers}  # noqa: SLF001 - our own
        return limited

    async def signatures(self) -> tuple[ToolSignature, ...]:
        """What can be called now, sorted by name; `faults` then says what was left out and why."""
        absences = await asyncio.gather(*(_absence(place.link) for place in self._places.values()))
        faults: list[str] = []
        found: list[ToolSignature] = []
        for place, absence in zip(self._places.values(), absences, strict=True):
            told = _refusals(place) if absence is None else [absence]
            faults += [place.veil.text(each) for each in told]
            if absence is None:
                found += _signatures(place)
        self._faults = tuple(sorted(faults))
        return tuple(sorted(found, key=lambda signature: signature.name))

    def faults(self) -> tuple[str, ...]:
        """What the last `signatures` left out: servers that were away, tools that are unusable."""
        return self._faults

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        timeout: timedelta,  # noqa: ASYNC109  # passed on to the server, so that it stops as well
        facts: Mapping[str, str] | None = None,
    ) -> ToolAnswer:
        """The answer of `server.tool`, within the shorter of `timeout` and the server's own.

        Bound parameters are taken from `facts` alone, whatever `arguments` says. A call whose
        outcome is unknown is sent again once, and only if the tool is declared repeatable; with
        the wait for a place and for the server, a call takes at most three times its time and
        twice the hub's patience.

        Raises:
            ToolFailed: no such tool, unfit arguments, an error, a wrong answer, or none in time.
            ToolBusy: the server is away, and the call never left; or it says that its error passes.
            OutcomeUnknown: the call left, no answer came, and the tool is not repeatable.
        """
        place, checked = await self._find(tool)
        found = checked.tool
        filled = _filled(arguments, place.bind, facts or {}, found)
        checked.check(tool, filled)
        try:
            result = await place.link.call(
                found.name,
                filled,
                seconds=min(timeout, place.timeout).total_seconds(),
                is_repeatable=_is_read_only(found) or _is_idempotent(found),
            )
            if place.is_foreign:  # the library has checked what comes from this process
                checked.check_answer(tool, result)
            return place.veil.answer(_answer(result, tool, place))
        except HoldfastError as error:
            error.args = (place.veil.text(str(error)),)
            raise

    async def rereading(self, tool: str) -> Rereading:
        """How what `server.tool` gave can be read again.

        Raises:
            ToolFailed: there is no such server, or it cannot be reached before someone acts.
            ToolBusy: the server is away.
        """
        server, _, name = tool.partition(".")
        place = self._places.get(server)
        if place is None:
            raise ToolFailed(f"there is no server {server!r} any more")
        await place.link.connected()
        return rereading(server, name, [each.tool for each in place.tools.values()])

    async def vocabularies(
        self, tool: str, parameters: Collection[str], *, facts: Mapping[str, str]
    ) -> Mapping[str, Parameter]:
        """Those of these parameters of `server.tool` whose values are known, with the values.

        Raises:
            ToolFailed: the tool that lists the values failed.
            ToolBusy: the same, because its server is away.
        """
        try:
            place, checked = await self._find(tool)
        except (ToolFailed, ToolBusy):
            return {}  # the call itself will say so, and one that was recorded needs no server
        server = place.link.name

        async def listing(name: str) -> ToolAnswer:
            return await self.call(f"{server}.{name}", {}, timeout=place.timeout, facts=facts)

        names = [each for each in parameters if each not in place.bind]
        bound = sorted(facts.get(fact, "") for fact in place.bind.values())
        return await place.vocabularies.of(checked.tool, names, listing, at="\n".join(bound))

    async def remembers(self, tool: str) -> bool:
        """Whether `server.tool` says that its answer depends on what the job did before."""
        try:
            _, checked = await self._find(tool)
        except (ToolFailed, ToolBusy):
            return False  # the call itself will say so
        return (checked.tool.meta or {}).get(REMEMBERS) is True

    async def _find(self, name: str) -> tuple[_Place, CheckedTool]:
        server, _, tool = name.partition(".")
        place = self._places.get(server)
        if place is None:
            raise ToolFailed(f"there is no tool {name!r}{self._near(name)}")
        if tool not in place.link.tools:
            await place.link.connected()
        if tool not in place.link.tools:
            raise ToolFailed(f"there is no tool {name!r}{self._near(name)}")
        found = place.tools[tool]
        if found.fault:
            raise ToolFailed(f"tool {name!r} cannot be called: {found.fault}")
        return place, found

    def _near(self, name: str) -> str:
        known = [
            f"{server}.{tool}"
            for server, place in self._places.items()
            for tool in place.link.tools
        ]
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.4) or sorted(known)[:5]
        return f"; near are: {', '.join(near)}" if near else "; no server offers any tool now"


async def _absence(link: ServerLink) -> str | None:
    try:
        await link.connected()
    except HoldfastError as error:
        return str(error)
    return None


def _refusals(place: _Place) -> Iterator[str]:
    server = place.link.name
    for name, reason in place.link.refused.items():
        yield plain_text(f"tool '{server}.{name}' was left out: {reason}")
    for each in place.tools.values():
        if each.fault:
            yield plain_text(f"tool '{server}.{each.tool.name}' was left out: {each.fault}")
    for fault in place.vocabularies.unfit(place.link.tools):
        yield plain_text(f"server {server!r}: {fault}")


def _signatures(place: _Place) -> Iterator[ToolSignature]:
    for each in place.tools.values():
        if each.fault is None:
            tool = each.tool
            yield ToolSignature(
                name=f"{place.link.name}.{tool.name}",
                description=described(place.veil.text(tool.description or "")),
                input_schema=described_schema(_visible(tool.input_schema, place.bind)),
                output_schema=tool.output_schema and described_schema(tool.output_schema),
                read_only=_is_read_only(tool),
                idempotent=_is_idempotent(tool),
            )


def _visible(schema: Mapping[str, Any], bind: Mapping[str, str]) -> dict[str, Any]:
    """The schema without the parameters that Holdfast fills in."""
    shown = dict(schema)
    if "properties" in schema:
        shown["properties"] = {
            name: value for name, value in schema["properties"].items() if name not in bind
        }
    if "required" in schema:
        shown["required"] = [name for name in schema["required"] if name not in bind]
    return shown


def _is_read_only(tool: Tool) -> bool:
    return bool(tool.annotations and tool.annotations.read_only_hint)


def _is_idempotent(tool: Tool) -> bool:
    return bool(tool.annotations and tool.annotations.idempotent_hint)


def _filled(
    arguments: Mapping[str, Any], bind: Mapping[str, str], facts: Mapping[str, str], tool: Tool
) -> dict[str, Any]:
    chosen = {name: value for name, value in arguments.items() if name not in bind}
    taken = tool.input_schema.get("properties", {})
    bound = {name: facts[fact] for name, fact in bind.items() if name in taken and fact in facts}
    return chosen | bound


def _kind(result: CallToolResult) -> type[ToolBusy | ToolFailed]:
    if is_passing(result):
        return ToolBusy
    return DocumentGone if is_gone(result) else ToolFailed


def _answer(result: CallToolResult, tool: str, place: _Place) -> ToolAnswer:
    if result.is_error:
        said, _ = read_text(result, _LONGEST_ERROR)
        raise _kind(result)(f"{tool} answered with an error: {said or 'no reason given'}")
    return read_answer(result, tool=tool, limit=place.max_bytes, is_foreign=place.is_foreign)
