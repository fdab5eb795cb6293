"""Keep one long-lived connection to an MCP server and reconnect when the connection breaks."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import suppress
from datetime import timedelta
from http import HTTPStatus
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

from holdfast.models.calls.retry_pause import retry_pause
from holdfast.models.errors import BadConfiguration, OutcomeUnknown, ToolBusy, ToolFailed
from holdfast.models.text.storable_text import storable_text
from holdfast.tools.mcp.tool_schema_checks import CheckedTool
from holdfast.tools.mcp.transports.request_trace import RequestTrace, current_trace
from holdfast.tools.mcp.transports.server_transports import (
    Connect,
    OpenConnection,
    describe_http_status,
)
from holdfast.tools.mcp.transports.tool_listing import MAX_PAGES, ToolListing

CONNECT_TIMEOUT = timedelta(seconds=20)
"""How long a server may take to start and to list its tools."""
_RECONNECT_PAUSES_S = (0.4, 12.8)
"""Seconds of pause after the first failed connection, and the maximum."""
_GRACE_S = 2.0
"""Extra time in which the library itself may cancel the call and inform the server."""
_TRIES = 3
"""After this many failed connections in a row, callers stop waiting."""
_REFUSED = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND})
_OVERLOADED = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
_GATEWAYS = frozenset({HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT})
_HOPELESS = (BadConfiguration, FileNotFoundError, NotADirectoryError, PermissionError)
_STAND_INS = frozenset({"Server returned an error response", "Not Found", "Session terminated"})
"""Errors of the library that hide the server's HTTP status."""
_UNSAFE = "and the tool is not declared safe to repeat: look whether it took effect"

T = TypeVar("T")


class _ConnectionLost(Exception):
    """The connection broke during a call; `left` is true if the server may have received it."""

    def __init__(self, why: str, *, left: bool) -> None:
        super().__init__(why)
        self.left = left


class ServerConnection:
    """A connection that one owner task opens, keeps and reopens; callers only await results.

    A failing transport cancels the task that opened it, so callers must not open transports.
    """

    def __init__(
        self, name: str, connect: Connect, *, concurrency: int = 8, patience: timedelta
    ) -> None:
        self.name = name
        self.tools: Mapping[str, CheckedTool] = {}
        self.listing = ToolListing()
        self._connect = connect
        self._patience_s = patience.total_seconds()
        self._call_slots = asyncio.Semaphore(concurrency)
        self._settled, self._broken = asyncio.Event(), asyncio.Event()
        self._client: Client | None = None
        self._absence: tuple[type[ToolBusy | ToolFailed], str] = (ToolBusy, "it is still starting")
        self._failures = 0
        self._owner: asyncio.Task[None] | None = None
        self._is_stopping = False

    def start(self) -> None:
        self._owner = asyncio.create_task(self._keep_connected(), name=f"mcp:{self.name}")

    async def stop(self) -> None:
        # The library can swallow a cancellation while it connects, so the owner looks here too.
        self._is_stopping = True
        if self._owner is not None:
            self._owner.cancel()
            await asyncio.wait({self._owner})

    async def connected(self) -> Client:
        """Return the open client; wait for it at most `patience`.

        Raises:
            ToolBusy: the server is unavailable.
            ToolFailed: the server cannot be reached until someone corrects the configuration.
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
        """Return the tool's answer; a repeatable call whose answer was lost is repeated once.

        Raises:
            ToolBusy: the call was not sent, or the server rejected it unread.
            ToolFailed: the answer is late, is a refusal, or breaks the protocol.
            OutcomeUnknown: a call that is not repeatable was sent, and its answer was late or lost.
        """
        try:
            async with asyncio.timeout(seconds):
                await self._call_slots.acquire()
        except TimeoutError:
            raise ToolBusy(f"server {self.name!r} was busy for {seconds:g} s") from None
        try:
            return await self._call_until_answered(tool, arguments, seconds, is_repeatable)
        finally:
            self._call_slots.release()

    async def _call_until_answered(
        self, tool: str, arguments: dict[str, Any], seconds: float, is_repeatable: bool
    ) -> CallToolResult:
        deadline = asyncio.get_running_loop().time() + self._patience_s
        times_lost = 0
        while True:
            try:
                return await self._sent(tool, arguments, seconds, is_repeatable)
            except _ConnectionLost as lost:
                times_lost += lost.left
                if lost.left and (not is_repeatable or times_lost > 1):
                    raise self._lost_call_error(tool, lost, is_repeatable) from lost
                if asyncio.get_running_loop().time() > deadline:
                    raise ToolBusy(f"server {self.name!r} is unavailable: {lost}") from lost
            await asyncio.sleep(0.2)

    def _lost_call_error(
        self, tool: str, lost: _ConnectionLost, is_repeatable: bool
    ) -> ToolFailed | OutcomeUnknown:
        name = f"{self.name}.{tool}"
        if is_repeatable:
            return ToolFailed(f"{name} was sent twice and the connection broke both times: {lost}")
        return OutcomeUnknown(
            f"{name} was sent, the connection broke before an answer ({lost}), {_UNSAFE}"
        )

    async def _sent(
        self, tool: str, arguments: dict[str, Any], seconds: float, is_repeatable: bool
    ) -> CallToolResult:
        client = await self.connected()
        current_trace.set(trace := RequestTrace())
        call = client.call_tool(tool, arguments, read_timeout_seconds=seconds)
        try:
            return await _within(seconds + _GRACE_S, call)
        except TimeoutError:
            raise self._late(tool, seconds, is_repeatable) from None
        except MCPError as error:
            if error.code == REQUEST_TIMEOUT:
                raise self._late(tool, seconds, is_repeatable) from None
            raise self._call_error(tool, error, trace, client) from error
        except (RuntimeError, ValidationError) as error:
            # The library has no error type for an answer that breaks the output schema.
            raise ToolFailed(
                f"{self.name}.{tool} broke its output schema: {storable_text(str(error)[:500])}"
            ) from None

    def _late(self, tool: str, seconds: float, is_repeatable: bool) -> ToolFailed | OutcomeUnknown:
        late = f"{self.name}.{tool} gave no answer within {seconds:g} s"
        return ToolFailed(late) if is_repeatable else OutcomeUnknown(f"{late}, {_UNSAFE}")

    def _call_error(
        self, tool: str, error: MCPError, trace: RequestTrace, client: Client
    ) -> Exception:
        """Translate an error of the library into the outcome of this call."""
        is_dead = error.code == CONNECTION_CLOSED and error.message == "Connection closed"
        is_forgotten = error.code == INVALID_REQUEST and "session" in error.message.lower()
        if is_dead or (is_forgotten and client.session.initialize_result is not None):
            self._drop_client(client)
            return _ConnectionLost(error.message, left=is_dead and trace.left)
        if trace.lost is not None:
            return _ConnectionLost(trace.lost, left=trace.left)
        if trace.status is not None and error.message in _STAND_INS:
            return self._status_error(tool, trace, trace.status)
        # Any other -32000 is an answer: servers use this code for their own errors.
        if error.message.startswith("SSE stream ended"):
            return _ConnectionLost(error.message, left=True)
        return ToolFailed(f"{self.name}.{tool} failed: {storable_text(error.message[:500])}")

    def _status_error(self, tool: str, trace: RequestTrace, status: int) -> Exception:
        status_text = describe_http_status(status)
        if status in _OVERLOADED:
            return ToolBusy(
                f"server {self.name!r} turned the call away: {status_text}", after=trace.after
            )
        if status in _GATEWAYS:
            return _ConnectionLost(status_text, left=True)
        return ToolFailed(f"{self.name}.{tool} failed: {status_text}")

    def _drop_client(self, client: Client) -> None:
        if client is self._client:
            self._client = None
            self._absence = (ToolBusy, "its connection broke and is being reopened")
            self._settled.clear()
            self._broken.set()

    async def _keep_connected(self) -> None:
        while not self._is_stopping:
            try:
                await self._serve()
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is None or task.cancelling():
                    raise
                self._note(ConnectionError("the connection broke"))
            except Exception as error:  # the owner task survives every error of a server
                self._note(error)
            if self._is_stopping:
                return
            pause = retry_pause(*_RECONNECT_PAUSES_S, self._failures)
            await asyncio.sleep(pause.total_seconds())

    async def _serve(self) -> None:
        """Open the connection and keep it until a caller reports that it is broken."""
        current_trace.set(RequestTrace())
        try:
            async with (
                asyncio.timeout(CONNECT_TIMEOUT.total_seconds()) as limit,
                self._connect() as connection,
            ):
                tools = await _checked_tools(connection)
                limit.reschedule(None)
                if self._is_stopping:
                    return
                self.tools, self.listing = tools, connection.listing
                self._client, self._failures = connection.client, 0
                self._broken.clear()
                self._settled.set()
                await self._broken.wait()
        finally:
            self._client = None
            self._settled.clear()

    def _note(self, error: BaseException) -> None:
        self._failures += 1
        cause, status = _first_leaf_error(error), current_trace.get().status
        is_hopeless = isinstance(cause, _HOPELESS) or status in _REFUSED
        why = current_trace.get().lost or (
            describe_http_status(status) if status else _describe_error(cause)
        )
        self._absence = (ToolFailed if is_hopeless else ToolBusy, why)
        if is_hopeless or self._failures >= _TRIES:
            self._settled.set()


async def _within(seconds: float, call: Coroutine[Any, Any, T]) -> T:
    """Return the call's result; raise TimeoutError even if the call ignores cancellation.

    An in-process tool that runs in a thread ignores cancellation; it is abandoned.
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


async def _checked_tools(connection: OpenConnection) -> dict[str, CheckedTool]:
    """Return the tools of the server by name; checking one is all that is done in one turn."""
    checked: dict[str, CheckedTool] = {}
    async for tool in _listed_tools(connection):
        promise = connection.listing.output_schemas.get(tool.name)
        checked[tool.name] = CheckedTool(
            tool if promise is None else tool.model_copy(update={"output_schema": promise})
        )
        await asyncio.sleep(0)
    return checked


async def _listed_tools(connection: OpenConnection) -> AsyncIterator[Tool]:
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await connection.client.list_tools(cursor=cursor, cache_mode="refresh")
        for tool in page.tools:
            yield tool
        cursor = page.next_cursor
        if cursor is None or connection.listing.fault:
            return
    connection.listing.fault = f"its listing has over {MAX_PAGES} pages; the rest was left out"


def _first_leaf_error(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _describe_error(error: BaseException) -> str:
    match error:
        case FileNotFoundError():
            return f"there is no {error.filename!r}; install it or correct holdfast.toml"
        case TimeoutError():
            return f"it did not answer within {CONNECT_TIMEOUT.total_seconds():g} s"
        case BadConfiguration():
            return str(error)
        case MCPError(code=code) if code == CONNECTION_CLOSED:
            return f"{error.message} (it may have exited; see its log)"
        case _:
            return f"{type(error).__name__}: {str(error)[:500]}"
