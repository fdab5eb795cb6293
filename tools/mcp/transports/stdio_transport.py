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
import re
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TextIO

import anyio
import structlog
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp.types import (
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    jsonrpc_message_adapter,
)
from pydantic_core import from_json

from holdfast.tools.mcp.transports.message_streams import MAX_MESSAGE_BYTES, MessageThrottle

log = structlog.get_logger(__name__)

_CHUNK_BYTES = 2**16
_HEAD_BYTES = 2**12
"""The first bytes of an oversized message, in which its id is looked for."""
_SHOWN_BYTES = 200
_EXIT_S = 2.0
"""Seconds in which a server must exit by itself, and again after SIGTERM."""
_LOOK_EVERY_S = 0.01
_ID = re.compile(rb'"id"\s*:\s*(?:(\d{1,18})|"([^"\\]{1,200})")')

InboundSender = MemoryObjectSendStream[SessionMessage | Exception]
InboundReceiver = MemoryObjectReceiveStream[SessionMessage | Exception]


@asynccontextmanager
async def open_server_program(
    name: str, command: Sequence[str], env: Mapping[str, str], cwd: Path | None, errors: TextIO
) -> AsyncIterator[tuple[InboundReceiver, MemoryObjectSendStream[SessionMessage]]]:
    """Start the program and yield the streams from and to it.

    Raises:
        OSError: the program cannot be started.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=errors,
        env=get_default_environment() | dict(env),
        cwd=cwd,
        limit=_CHUNK_BYTES,
        start_new_session=True,  # so that its child processes can be stopped as well
    )
    inbound, outbound = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outbox, posted = anyio.create_memory_object_stream[SessionMessage](0)
    reading = asyncio.create_task(_read(name, process, inbound))
    writing = asyncio.create_task(_write(process, posted, inbound))
    try:
        yield outbound, outbox
    finally:
        outbound.close()
        outbox.close()
        # The caller is often being cancelled, and the program must not outlive the caller.
        with anyio.CancelScope(shield=True):
            await asyncio.wait({writing}, timeout=_EXIT_S)
            await _stop(process)
            for task in (reading, writing):
                task.cancel()
            await asyncio.wait({reading, writing})
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


async def _messages(stream: asyncio.StreamReader) -> AsyncIterator[JSONRPCMessage | bytes]:
    """Yield each line; of an oversized line only the first bytes."""
    pieces: list[bytes] = []
    size = 0
    while chunk := await stream.read(_CHUNK_BYTES):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            # Free a long line before its message is passed on.
            read, pieces = _read_line([*pieces, end], size + len(end)), []
            size = 0
            yield read
        size += len(rest)
        if size > MAX_MESSAGE_BYTES:
            pieces = [b"".join(pieces[:1])[:_HEAD_BYTES]]
        elif rest:
            pieces.append(rest)


def _read_line(pieces: list[bytes], size: int) -> JSONRPCMessage | bytes:
    if size > MAX_MESSAGE_BYTES:
        return _oversize_error(pieces[0]) or pieces[0]
    line = b"".join(pieces)
    pieces.clear()
    with suppress(ValueError):
        return _parsed(line)
    with suppress(ValueError):  # bytes that are not UTF-8 affect only their own characters
        return _parsed(line.decode("utf-8", "replace"))
    return line[:_HEAD_BYTES]


def _parsed(line: bytes | str) -> JSONRPCMessage:
    # Not `validate_json`: it would copy the message for each kind of message that it tries.
    return jsonrpc_message_adapter.validate_python(from_json(line), by_name=False)


def _oversize_error(head: bytes) -> JSONRPCError | None:
    """Build a JSON-RPC error for an oversized message; None if its id cannot be read."""
    match = _ID.search(head[:_HEAD_BYTES])
    if match is None:
        return None
    request_id = int(match[1]) if match[1] else match[2].decode("utf-8", "replace")
    why = ErrorData(
        code=INTERNAL_ERROR,
        message=f"the answer is over {MAX_MESSAGE_BYTES} bytes and was not read",
    )
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=why)


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
