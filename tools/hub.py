"""The one place where tools are listed and called, whichever MCP server they live on."""

import asyncio
import copy
import difflib
from collections.abc import Collection, Mapping
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from models.errors import BadConfiguration, BadInput, ToolBusy, ToolFailed
from models.tools import ToolAnswer, ToolSignature
from tools.arguments import CheckedTool
from tools.config import ServerConfig
from tools.marks import REMEMBERS
from tools.place import BuiltinServer, Place, builtin_place, configured_place
from tools.rereading import Rereading, rereading
from tools.vocabularies import Parameter


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
        self._faults: dict[str, tuple[str, ...]] = {}
        self._places = {
            name: configured_place(name, server, patience, log_folder)
            for name, server in servers.items()
        } | {name: builtin_place(name, server, patience) for name, server in builtin.items()}

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
        places = tuple(self._places.values())
        absences = await asyncio.gather(*(place.absence() for place in places))
        found: list[ToolSignature] = []
        for place, absence in zip(places, absences, strict=True):
            faults = place.refusals() if absence is None else [absence]
            self._faults[place.link.name] = tuple(faults)
            found += place.signatures() if absence is None else []
        return tuple(sorted(found, key=lambda signature: signature.name))

    def faults(self) -> tuple[str, ...]:
        """What the last `signatures` left out: servers that were away, tools that are unusable."""
        return tuple(sorted(fault for name in self._places for fault in self._faults.get(name, ())))

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
        return await place.call(checked, arguments, facts or {}, timeout)

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

    async def _find(self, name: str) -> tuple[Place, CheckedTool]:
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
