"""One long-lived connection to an MCP server, which comes back by itself when it breaks."""

import asyncio
import random
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from http import HTTPStatus
from itertools import islice
from typing import Any, TypeVar

from mcp import Client, MCPError
from mcp.types import (
    CONNECTION_CLOSED,
    INVALID_REQUEST,
    REQUEST_TIMEOUT,
    CallToolResult,
    Tool,
)
from pydantic import ValidationError

from models.errors import BadConfiguration, OutcomeUnknown, ToolBusy, ToolFailed
from tools.plain import plain_text
from tools.streams import Trip, Withheld, current_trip
from tools.wires import Connect, status_words

_CONNECT_S = 20.0
_GRACE_S = 2.0
"""How much longer than a call's time the library gets to give up by itself and tell the server."""
_MOST_TOOLS = 1_000
"""A planner reads them all, and each is checked."""
_TRIES = 3
"""After so many failed connects in a row callers no longer wait for the next one."""
_REFUSED = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND})
_OVERLOADED = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
_GATEWAYS = frozenset({HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT})
_HOPELESS = (BadConfiguration, FileNotFoundError, NotADirectoryError, PermissionError)
_STAND_INS = frozenset({"Server returned an error response", "Not Found", "Session terminated"})
"""What the library says where a server's HTTP status said more."""

T = TypeVar("T")


class _Lost(Exception):
    """The connection broke under a call; `left` says whether the server may have seen it."""

    def __init__(self, why: str, *, left: bool) -> None:
        super().__init__(why)
        self.left = left


class ServerLink:
    """A connection that one owner task opens, keeps and opens again; callers only await results.

    The transports cancel the task that entered them when they fail, so no caller may be that task.
    """

    def __init__(
        self, name: str, connect: Connect, *, concurrency: int = 8, patience: timedelta
    ) -> None:
        self.name = name
        self.tools: Mapping[str, Tool] = {}
        self.refused: Mapping[str, str] = {}
        self._connect = connect
        self._patience_s = patience.total_seconds()
        self._seats = asyncio.Semaphore(concurrency)
        self._settled, self._broken = asyncio.Event(), asyncio.Event()
        self._client: Client | None = None
        self._absence: tuple[type[ToolBusy | ToolFailed], str] = (ToolBusy, "it is still starting")
        self._failures = 0
        self._owner: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._owner = asyncio.create_task(self._own(), name=f"mcp:{self.name}")

    async def stop(self) -> None:
        if self._owner is not None:
            self._owner.cancel()
            await asyncio.wait({self._owner})

    async def connected(self) -> Client:
        """The open client, waiting for it within the link's patience.

        Raises:
            ToolBusy: the server is away.
            ToolFailed: it cannot be reached before someone changes something.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience_s):
                await self._settled.wait()
        if self._client is None:
            kind, why = self._absence
            raise kind(f"server {self.name!r} cannot be reached: {why}")
        return self._client

    async def call(
        self, tool: str, arguments: dict[str, Any], *, seconds: float, is_repeatable: bool
    ) -> CallToolResult:
        """What the tool answered; a repeatable call whose answer was lost is sent once more.

        Raises:
            ToolBusy: the call never left, or was turned away unread.
            ToolFailed: no answer in time, a refusal, or an answer that breaks the protocol.
            OutcomeUnknown: the call left, and the connection broke before an answer.
        """
        try:
            async with asyncio.timeout(seconds):
                await self._seats.acquire()
        except TimeoutError:
            raise ToolBusy(f"server {self.name!r} was busy for {seconds:g} s") from None
        try:
            return await self._delivered(tool, arguments, seconds, is_repeatable)
        finally:
            self._seats.release()

    async def _delivered(
        self, tool: str, arguments: dict[str, Any], seconds: float, is_repeatable: bool
    ) -> CallToolResult:
        deadline = asyncio.get_running_loop().time() + self._patience_s
        times_lost = 0
        while True:
            try:
                return await self._sent(tool, arguments, seconds)
            except _Lost as lost:
                times_lost += lost.left
                if lost.left and (not is_repeatable or times_lost > 1):
                    raise self._giving_up(tool, lost, is_repeatable) from lost
                if asyncio.get_running_loop().time() > deadline:
                    raise ToolBusy(f"server {self.name!r} is away: {lost}") from lost
            await asyncio.sleep(0.2)

    def _giving_up(
        self, tool: str, lost: _Lost, is_repeatable: bool
    ) -> ToolFailed | OutcomeUnknown:
        name = f"{self.name}.{tool}"
        if is_repeatable:
            return ToolFailed(f"{name} was sent twice and the connection broke both times: {lost}")
        return OutcomeUnknown(
            f"{name} was sent, the connection broke before an answer ({lost}), and the tool is"
            " not declared safe to repeat: look whether it took effect"
        )

    async def _sent(self, tool: str, arguments: dict[str, Any], seconds: float) -> CallToolResult:
        client = await self.connected()
        current_trip.set(trip := Trip())
        call = client.call_tool(tool, arguments, read_timeout_seconds=seconds)
        try:
            return await _within(seconds + _GRACE_S, call)
        except TimeoutError:
            raise self._late(tool, seconds) from None
        except MCPError as error:
            if error.code == REQUEST_TIMEOUT:
                raise self._late(tool, seconds) from None
            raise self._meaning(tool, error, trip, client) from error
        except (RuntimeError, ValidationError) as error:
            # The library has no type of its own for an answer that breaks the output schema.
            raise ToolFailed(
                f"{self.name}.{tool} broke its promise: {plain_text(str(error)[:500])}"
            ) from None

    def _late(self, tool: str, seconds: float) -> ToolFailed:
        return ToolFailed(f"{self.name}.{tool} gave no answer within {seconds:g} s")

    def _meaning(self, tool: str, error: MCPError, trip: Trip, client: Client) -> Exception:
        """What an error of the library says about this call."""
        is_dead = error.code == CONNECTION_CLOSED and error.message == "Connection closed"
        is_forgotten = error.code == INVALID_REQUEST and "session" in error.message.lower()
        if is_dead or (is_forgotten and client.session.initialize_result is not None):
            self._retire(client)
            return _Lost(error.message, left=is_dead and trip.left)
        if trip.lost is not None:
            return _Lost(trip.lost, left=trip.left)
        if trip.status is not None and error.message in _STAND_INS:
            return self._status_meaning(tool, trip, trip.status)
        # Any other -32000 is an answer: servers use it for errors of their own.
        if error.message.startswith("SSE stream ended"):
            return _Lost(error.message, left=True)
        return ToolFailed(f"{self.name}.{tool} failed: {plain_text(error.message[:500])}")

    def _status_meaning(self, tool: str, trip: Trip, status: int) -> Exception:
        said = status_words(status)
        if status in _OVERLOADED:
            return ToolBusy(f"server {self.name!r} turned the call away: {said}", after=trip.after)
        if status in _GATEWAYS:
            return _Lost(said, left=True)
        return ToolFailed(f"{self.name}.{tool} failed: {said}")

    def _retire(self, client: Client) -> None:
        if client is self._client:
            self._client = None
            self._absence = (ToolBusy, "its connection broke, and is being made anew")
            self._settled.clear()
            self._broken.set()

    async def _own(self) -> None:
        while True:
            try:
                await self._serve()
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is None or task.cancelling():
                    raise
                self._note(ConnectionError("the connection broke"))
            except Exception as error:  # whatever a server does, the link outlives it
                self._note(error)
            await asyncio.sleep(0.2 * 2 ** min(self._failures, 6) * random.uniform(0.8, 1))  # noqa: S311

    async def _serve(self) -> None:
        """Open the connection and keep it until someone finds it broken."""
        current_trip.set(Trip())
        try:
            async with asyncio.timeout(_CONNECT_S) as limit, self._connect() as wire:
                found = await _all_tools(wire.client)
                limit.reschedule(None)
                self.tools = {
                    name: _promising(each, wire.withheld) for name, each in _first_of(found)
                }
                self.refused = dict(wire.withheld.refused) | _beyond(found)
                self._client, self._failures = wire.client, 0
                self._broken.clear()
                self._settled.set()
                await self._broken.wait()
        finally:
            self._client = None
            self._settled.clear()

    def _note(self, error: BaseException) -> None:
        self._failures += 1
        cause, status = _first(error), current_trip.get().status
        is_hopeless = isinstance(cause, _HOPELESS) or status in _REFUSED
        why = current_trip.get().lost or (status_words(status) if status else _why(cause))
        self._absence = (ToolFailed if is_hopeless else ToolBusy, why)
        if is_hopeless or self._failures >= _TRIES:
            self._settled.set()


async def _within(seconds: float, call: Coroutine[Any, Any, T]) -> T:
    """The result of the call, or TimeoutError even if the call does not react to a cancel.

    An in-process tool that sits in a thread does not; it is left behind.
    """
    task = asyncio.create_task(call)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        finished, _ = await asyncio.wait({task}, timeout=seconds)
    finally:
        task.cancel()
    if not finished:
        raise TimeoutError
    return task.result()


async def _all_tools(client: Client) -> dict[str, Tool]:
    tools: dict[str, Tool] = {}
    cursor: str | None = None
    while True:
        page = await client.list_tools(cursor=cursor, cache_mode="refresh")
        tools |= {tool.name: tool for tool in page.tools}
        cursor = page.next_cursor
        if cursor is None or len(tools) > _MOST_TOOLS:
            return tools


def _first_of(found: Mapping[str, Tool]) -> Iterator[tuple[str, Tool]]:
    return islice(found.items(), _MOST_TOOLS)


def _beyond(found: Mapping[str, Tool]) -> dict[str, str]:
    """Why the first of those that are too many is left out, with all after it."""
    why = f"the server lists more than {_MOST_TOOLS} tools; this and all after it are not taken"
    return dict.fromkeys(islice(found, _MOST_TOOLS, _MOST_TOOLS + 1), why)


def _promising(tool: Tool, withheld: Withheld) -> Tool:
    promise = withheld.promises.get(tool.name)
    return tool if promise is None else tool.model_copy(update={"output_schema": promise})


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _why(error: BaseException) -> str:
    match error:
        case FileNotFoundError():
            return f"there is no {error.filename!r}; install it or correct holdfast.toml"
        case TimeoutError():
            return f"it did not answer within {_CONNECT_S:g} s"
        case BadConfiguration():
            return str(error)
        case MCPError(code=code) if code == CONNECTION_CLOSED:
            return f"{error.message} (it may have exited; see its log)"
        case _:
            return f"{type(error).__name__}: {str(error)[:500]}"
