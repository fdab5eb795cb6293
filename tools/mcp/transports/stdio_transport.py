"""Start an MCP server program and exchange JSON-RPC messages over its stdin and stdout.

It replaces the library's transport, with which one server could take the whole worker down: the
library reads a line of any length into memory, in quadratic time, and logs a traceback for each
line that is not a message. Here a line ends at `MAX_MESSAGE_BYTES` and its caller gets an error;
lines that are not messages are dropped, and a server that floods is read slowly.

Servers are stopped as the specification says: https://modelcontextprotocol.io/specification,
lifecycle, shutdown.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import anyio
import structlog
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCMessage

from holdfast.tools.mcp.transports.message_limits import (
    HEAD_BYTES,
    MAX_MESSAGE_BYTES,
    UnreadableMessage,
    error_reply,
    read_message,
    request_id_in,
    too_long,
)
from holdfast.tools.mcp.transports.message_throttle import MessageThrottle
from holdfast.tools.mcp.transports.server_log import ServerLog
from holdfast.tools.sandbox.bubblewrap_command import Launch
from holdfast.tools.sandbox.process_tree_watch import TreeLimits, watch_process_tree

log = structlog.get_logger(__name__)

_CHUNK_BYTES = 2**16
_SHOWN_BYTES = 200
_EXIT_S = 2.0
"""Seconds in which a server must exit by itself, and again after SIGTERM."""
_LOOK_EVERY_S = 0.01

InboundSender = MemoryObjectSendStream[SessionMessage | Exception]
InboundReceiver = MemoryObjectReceiveStream[SessionMessage | Exception]


class ProgramStart(NamedTuple):
    """How to start a program: command, whole environment, working folder, limits of its tree."""

    launch: Launch
    environment: Mapping[str, str]
    cwd: Path | None = None
    limits: TreeLimits | None = None


@asynccontextmanager
async def open_server_program(
    name: str,
    start: ProgramStart,
    server_log: ServerLog | None,
) -> AsyncIterator[tuple[InboundReceiver, MemoryObjectSendStream[SessionMessage]]]:
    """Start the program and yield the streams from and to it.

    Raises:
        OSError: the program cannot be started.
    """
    process = await asyncio.create_subprocess_exec(
        *start.launch.command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE if server_log else asyncio.subprocess.DEVNULL,
        env=start.environment,
        cwd=start.cwd,
        pass_fds=start.launch.descriptors,
        limit=_CHUNK_BYTES,
        start_new_session=True,  # so that its child processes can be stopped as well
    )
    inbound, outbound = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outbox, posted = anyio.create_memory_object_stream[SessionMessage](0)
    reading = asyncio.create_task(_read(name, process, inbound))
    writing = asyncio.create_task(_write(process, posted, inbound))
    logging = asyncio.create_task(_log_errors(name, process, server_log))
    watching = asyncio.create_task(_watch(name, process, start.limits))
    try:
        yield outbound, outbox
    finally:
        outbound.close()
        outbox.close()
        # The caller is often being cancelled, and the program must not outlive the caller.
        with anyio.CancelScope(shield=True):
            await asyncio.wait({writing}, timeout=_EXIT_S)
            await _stop(process)
            await asyncio.wait({logging}, timeout=_EXIT_S)
            tasks = {reading, writing, logging, watching}
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            inbound.close()
            posted.close()


async def _read(name: str, process: asyncio.subprocess.Process, inbound: InboundSender) -> None:
    assert process.stdout is not None, "it was started with a pipe"
    pace, is_noted = MessageThrottle(), False
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
        async with inbound:
            async for message in _messages(process.stdout):
                if not isinstance(message, bytes):
                    await inbound.send(SessionMessage(message))
                    continue
                if not is_noted:
                    shown = message[:_SHOWN_BYTES].decode("utf-8", "replace")
                    log.warning("mcp.no_message", server=name, line=shown)
                    is_noted = True
                await pace.count_message()
    # A program that is writing would wait for a reader instead of stopping.
    while await process.stdout.read(_CHUNK_BYTES):
        pass


async def _log_errors(
    name: str, process: asyncio.subprocess.Process, server_log: ServerLog | None
) -> None:
    """Read stderr to its end; a log that cannot be written does not stop the server."""
    if process.stderr is None or server_log is None:
        return
    try:
        await server_log.keep(process.stderr)
    except OSError as error:
        log.warning("mcp.log_failed", server=name, error=str(error))
        while await process.stderr.read(_CHUNK_BYTES):
            pass


async def _watch(name: str, process: asyncio.subprocess.Process, limits: TreeLimits | None) -> None:
    if limits is not None:
        await watch_process_tree(name, process.pid, limits)


async def _messages(stream: asyncio.StreamReader) -> AsyncIterator[JSONRPCMessage | bytes]:
    """Yield each line; of an oversized line only the first bytes."""
    pieces: list[bytes] = []
    size = 0
    while chunk := await stream.read(_CHUNK_BYTES):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            # Free a long line before its message is passed on.
            line, pieces = [*pieces, end], []
            length, size = size + len(end), 0
            yield await _read_line(line, length)
        size += len(rest)
        if size > MAX_MESSAGE_BYTES:
            pieces = [b"".join(pieces[:1])[:HEAD_BYTES]]
        elif rest:
            pieces.append(rest)


async def _read_line(pieces: list[bytes], size: int) -> JSONRPCMessage | bytes:
    if size > MAX_MESSAGE_BYTES:
        return _error_in_place_of(pieces[0], too_long(MAX_MESSAGE_BYTES))
    line = b"".join(pieces)
    pieces.clear()
    try:
        return await read_message(line)
    except UnreadableMessage as fault:
        is_noise = not line[:HEAD_BYTES].lstrip().startswith(b"{")
        return line[:HEAD_BYTES] if is_noise else _error_in_place_of(line[:HEAD_BYTES], str(fault))


def _error_in_place_of(head: bytes, why: str) -> JSONRPCMessage | bytes:
    """Return an error for the request that the line answers; the line's head if it names none."""
    request_id = request_id_in(head)
    return head if request_id is None else error_reply(request_id, why)


async def _write(
    process: asyncio.subprocess.Process,
    posted: MemoryObjectReceiveStream[SessionMessage],
    inbound: InboundSender,
) -> None:
    assert process.stdin is not None, "it was started with a pipe"
    try:
        async with posted:
            async for item in posted:
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(text.encode("utf-8", "replace") + b"\n")
                await process.stdin.drain()
    except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        # The program may live on without reading: waiting callers must get an error.
        inbound.close()


async def _stop(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None, "it was started with a pipe"
    process.stdin.close()
    if not await _has_ended(process):
        _signal(process, signal.SIGTERM)
        await _has_ended(process)
    # Its child processes are in its process group and end with it.
    _signal(process, signal.SIGKILL)
    await _has_ended(process)
    # Else the transport stays open, with a warning, while a process outside the group holds a pipe.
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()


def _signal(process: asyncio.subprocess.Process, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


async def _has_ended(process: asyncio.subprocess.Process) -> bool:
    """Return True if the program exits in time; `wait` would also wait for holders of its pipes."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_EXIT_S):
            while process.returncode is None:  # noqa: ASYNC110  # nothing tells of it alone
                await asyncio.sleep(_LOOK_EVERY_S)
    return process.returncode is not None
