"""List and call the tools of all MCP servers, built-in and configured."""

import asyncio
import copy
from collections.abc import Collection, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from holdfast.models.calls.tool_signatures import ToolAnswer, ToolSignature
from holdfast.models.errors import BadInput, PartMissing, ToolBusy, ToolFailed
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.text.secret_mask import SecretMask
from holdfast.models.text.terminal_text import shorten_text
from holdfast.planning.text.nearest_values import nearest_names
from holdfast.tools.mcp.meta_keys import REMEMBERS_KEY
from holdfast.tools.mcp.private_jobs import (
    ClosedServer,
    PrivateJob,
    Reach,
    private_cause,
    server_reach,
)
from holdfast.tools.mcp.reread_method import RereadMethod, find_reread_method
from holdfast.tools.mcp.server_config import HttpServer, ServerConfig, check_own_names
from holdfast.tools.mcp.server_secrets import server_secrets
from holdfast.tools.mcp.tool_schema_checks import CheckedTool
from holdfast.tools.mcp.tool_server import (
    BuiltinServer,
    MissingServer,
    ToolServer,
    builtin_tool_server,
    configured_tool_server,
)
from holdfast.tools.mcp.transports.server_connection import CONNECT_TIMEOUT
from holdfast.tools.private_job_settings import PrivateJobSettings
from holdfast.tools.vocabularies.server_vocabularies import KnownParameter

_NOTHING_ALLOWED = PrivateJobSettings()
_MAX_NAMES_CHARS = 300
"""Characters of the names of closed tools in a message."""


class Hub:
    """All tools of all servers; use the hub as an async context manager.

    If a server is unavailable, only its own tools are missing; callers wait at most `patience`,
    which is as long as a server may take to start.
    """

    def __init__(
        self,
        servers: Mapping[str, ServerConfig],
        builtin: Mapping[str, BuiltinServer | MissingServer],
        *,
        patience: timedelta = CONNECT_TIMEOUT,
        log_folder: Path | None = None,
        secrets: Collection[str] = (),
        private_jobs: PrivateJobSettings = _NOTHING_ALLOWED,
    ) -> None:
        """`secrets` are hidden in all answers, as are those of every server."""
        check_own_names(servers, builtin)
        self._faults: dict[str, tuple[str, ...]] = {}
        self._missing = {
            name: server for name, server in builtin.items() if isinstance(server, MissingServer)
        }
        here = {
            name: server for name, server in builtin.items() if isinstance(server, BuiltinServer)
        }
        mask = SecretMask(
            [
                *secrets,
                *(secret for server in servers.values() for secret in server_secrets(server)),
                *(secret for server in here.values() for secret in server.secrets),
            ]
        )
        self._places = {
            name: configured_tool_server(
                name,
                server,
                patience,
                log_folder,
                mask,
                server_reach(name, has_url=isinstance(server, HttpServer), settings=private_jobs),
            )
            for name, server in servers.items()
        } | {
            name: builtin_tool_server(name, server, patience, mask) for name, server in here.items()
        }
        self._job: PrivateJob | None = None
        """The private job that this hub is for; None: no such job, or another kind of job."""
        self._private_servers = frozenset(private_jobs.private_servers) | {
            name for name, server in here.items() if server.is_private
        }
        self._in_private_jobs = {
            name: builtin_tool_server(name, variant, patience, mask, Reach.ALLOWED)
            for name, server in here.items()
            if isinstance(variant := server.in_private_jobs, BuiltinServer)
        }
        self._closed_in_private_jobs = {
            name: server.in_private_jobs.reason
            for name, server in here.items()
            if isinstance(server.in_private_jobs, ClosedServer)
        }

    async def __aenter__(self) -> Self:
        for place in self._all_places():
            place.link.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.gather(*(place.link.stop() for place in self._all_places()))

    def _all_places(self) -> Iterator[ToolServer]:
        yield from self._places.values()
        yield from self._in_private_jobs.values()

    def for_job(self, request: JobRequest) -> "Hub":
        """Return the hub of a job: its servers and, if the job is private, only what it may call.

        Raises:
            BadInput: a server does not exist.
            PartMissing: a server needs an optional part that is not installed.
        """
        limited = self.only(request.servers)
        cause = private_cause(request, limited._places.keys(), self._private_servers)  # noqa: SLF001 - our own
        return limited._for_private_job(cause) if cause else limited  # noqa: SLF001 - our own

    def _for_private_job(self, cause: str) -> "Hub":
        closed = {
            name: reason
            for name, reason in self._closed_in_private_jobs.items()
            if name in self._places
        }
        private = copy.copy(self)
        private._job = PrivateJob(cause, closed)  # noqa: SLF001 - our own
        private._places = {  # noqa: SLF001 - our own
            name: self._in_private_jobs.get(name, place)
            for name, place in self._places.items()
            if name not in closed
        }
        return private

    def only(self, servers: Collection[str]) -> "Hub":
        """Return a hub restricted to these servers; without names the hub itself.

        Raises:
            BadInput: a server does not exist.
            PartMissing: a server needs an optional part that is not installed.
        """
        for name in servers:
            if name in self._missing:
                raise PartMissing(self._missing[name].reason)
            if name not in self._places:
                names = ", ".join(sorted(self._places))
                raise BadInput(f"there is no server {name!r}; there are: {names}")
        if not servers:
            return self
        limited = copy.copy(self)
        limited._missing = {}  # noqa: SLF001 - our own
        limited._places = {name: self._places[name] for name in servers}  # noqa: SLF001 - our own
        return limited

    async def signatures(self) -> tuple[ToolSignature, ...]:
        """Return the callable tools, sorted by name; `faults` then explains what is missing."""
        places = tuple(self._places.values())
        absences = await asyncio.gather(*(place.absence() for place in places))
        signatures: list[ToolSignature] = []
        for place, absence in zip(places, absences, strict=True):
            faults = place.unusable_tools() if absence is None else [absence]
            self._faults[place.link.name] = tuple(faults)
            signatures += await place.signatures() if absence is None else []
        closed = {f"{place.link.name}.{tool}" for place in places for tool in self._refusals(place)}
        offered = (signature for signature in signatures if signature.name not in closed)
        return tuple(sorted(offered, key=lambda signature: signature.name))

    def _refusals(self, place: ToolServer) -> dict[str, str]:
        """Return why tools of the server are closed to this job, by the tool's name."""
        return {} if self._job is None else place.refusals(self._job)

    def faults(self) -> tuple[str, ...]:
        """Servers and tools that the last `signatures` left out, with reasons."""
        faults = [fault for name in self._places for fault in self._faults.get(name, ())]
        return tuple(sorted([*faults, *self._closures()]))

    def _closures(self) -> Iterator[str]:
        """Return what is closed to this job, with the reason; one for each server at most."""
        if self._job is None:
            return
        for name in self._job.closed_servers:
            yield f"server {name!r} was left out: {self._job.server_refusal(name)}"
        for place in self._places.values():
            if closed := self._refusals(place):
                names = shorten_text(", ".join(closed), _MAX_NAMES_CHARS)
                reason = next(iter(closed.values()))
                yield f"tools of server {place.link.name!r} were left out ({names}): {reason}"

    @property
    def missing(self) -> Mapping[str, MissingServer]:
        """The built-in servers that need an optional part that is not installed, by name."""
        return self._missing

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        timeout: timedelta,  # noqa: ASYNC109  # passed on to the server, so that it stops as well
        facts: Mapping[str, str] | None = None,
    ) -> ToolAnswer:
        """Return the answer of `server.tool`, within the shorter of `timeout` and its own limit.

        Bound parameters come from `facts` only, never from `arguments`. A call with unknown
        outcome is repeated once, and only if the tool is declared repeatable. Including the waits
        for a free slot and for the server, a call takes at most three times its time limit plus
        twice the hub's patience.

        Raises:
            ToolFailed: the tool does not exist, the arguments do not fit, the tool reports an
                error, or its answer is wrong or too late.
            ToolBusy: the server is unavailable and the call was not sent, or the tool marked its
                error as temporary.
            OutcomeUnknown: the call was sent, no answer came, and the tool is not repeatable.
        """
        place, checked = await self._find(tool)
        return await place.call(checked, arguments, facts or {}, timeout)

    async def find_reread_method(self, tool: str) -> RereadMethod:
        """Return how to read again a document that `server.tool` returned.

        Raises:
            ToolFailed: the server does not exist, or must be configured differently.
            ToolBusy: the server is unavailable.
        """
        server, _, name = tool.partition(".")
        place = self._places.get(server)
        if place is None:
            raise ToolFailed(self._absence(server) or f"there is no server {server!r} any more")
        await place.link.connected()
        return find_reread_method(server, name, [listed.tool for listed in place.tools.values()])

    async def vocabularies(
        self, tool: str, parameters: Collection[str], *, facts: Mapping[str, str]
    ) -> Mapping[str, KnownParameter]:
        """Return the vocabularies of these parameters of `server.tool`, where declared.

        Raises:
            ToolFailed: the tool that lists the values failed.
            ToolBusy: the tool that lists the values is unavailable.
        """
        try:
            place, checked = await self._find(tool)
        except (ToolFailed, ToolBusy):
            return {}  # the call itself reports this error, and a recorded call needs no server
        server = place.link.name

        async def listing(name: str) -> ToolAnswer:
            return await self.call(f"{server}.{name}", {}, timeout=place.timeout, facts=facts)

        names = [parameter for parameter in parameters if parameter not in place.bind]
        bound = sorted(facts.get(fact, "") for fact in place.bind.values())
        return await place.vocabularies.of(checked.tool, names, listing, at="\n".join(bound))

    async def is_repeatable(self, tool: str) -> bool:
        """Return True if `server.tool` is declared safe to repeat; False if it does not exist.

        Raises:
            ToolBusy: the server is unavailable, so what it declares is not known.
        """
        try:
            place, checked = await self._find(tool)
        except ToolFailed:
            return False
        return place.signature(checked).is_repeatable

    async def depends_on_history(self, tool: str) -> bool:
        """Return True if `server.tool` declares that answers depend on the job's earlier calls."""
        try:
            _, checked = await self._find(tool)
        except (ToolFailed, ToolBusy):
            return False  # the call itself reports this error
        return (checked.tool.meta or {}).get(REMEMBERS_KEY) is True

    async def _find(self, name: str) -> tuple[ToolServer, CheckedTool]:
        server, _, tool = name.partition(".")
        place = self._places.get(server)
        if place is None:
            raise ToolFailed(
                self._absence(server) or f"there is no tool {name!r}{self._near(name)}"
            )
        if tool not in place.link.tools:
            await place.link.connected()
        if refusal := self._refusals(place).get(tool):
            raise ToolFailed(refusal)
        if tool not in place.link.tools:
            raise ToolFailed(f"there is no tool {name!r}{self._near(name)}")
        checked = place.tools[tool]
        if checked.fault:
            raise ToolFailed(f"tool {name!r} cannot be called: {checked.fault}")
        return place, checked

    def _absence(self, server: str) -> str:
        """Return why there is no such server: a missing part, or a private job; else empty."""
        if server in self._missing:
            return self._missing[server].reason
        return self._job.server_refusal(server) if self._job else ""

    def _near(self, name: str) -> str:
        names = [
            f"{server}.{tool}"
            for server, place in self._places.items()
            for tool, checked in place.tools.items()
            if checked.fault is None and tool not in self._refusals(place)
        ]
        near = nearest_names(name, names, 3, 0.4) or sorted(names)[:5]
        return f"; near are: {', '.join(near)}" if near else "; no server offers any tool now"
