"""A connection to a server that is a program: a JSON-RPC message on each line of stdin and stdout.

In the place of the library's own, because one server could take the whole worker down with it: the
library reads a line of any length into memory, in time that grows with its square, and logs a
traceback for each line that is no message. Here a line ends at `LARGEST_BYTES`, and whoever waits
for it is told; other lines are dropped, and a server that floods is read slowly.

How a server is stopped is the specification's: https://modelcontextprotocol.io/specification,
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

from tools.streams import LARGEST_BYTES, Pace

log = structlog.get_logger(__name__)

_CHUNK_BYTES = 2**16
_HEAD_BYTES = 2**12
"""Where the id of a message that is not kept is looked for."""
_SHOWN_BYTES = 200
_EXIT_S = 2.0
"""How long a server has to leave by itself, and then once more after SIGTERM."""
_LOOK_EVERY_S = 0.01
_ID = re.compile(rb'"id"\s*:\s*(?:(\d{1,18})|"([^"\\]{1,200})")')

Said = MemoryObjectSendStream[SessionMessage | Exception]
Heard = MemoryObjectReceiveStream[SessionMessage | Exception]


@asynccontextmanager
async def program(
    name: str, command: Sequence[str], env: Mapping[str, str], cwd: Path | None, errors: TextIO
) -> AsyncIterator[tuple[Heard, MemoryObjectSendStream[SessionMessage]]]:
    """Start the program and connect to it; gives the streams from it and to it.

    Raises:
        OSError: it cannot be started.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=errors,
        env=get_default_environment() | dict(env),
        cwd=cwd,
        limit=_CHUNK_BYTES,
        start_new_session=True,  # so that it can be stopped with all that it started
    )
    said, heard = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outbox, posted = anyio.create_memory_object_stream[SessionMessage](0)
    reading = asyncio.create_task(_read(name, process, said))
    writing = asyncio.create_task(_write(process, posted, said))
    try:
        yield heard, outbox
    finally:
        heard.close()
        outbox.close()
        # The caller is often being cancelled, and the program must not outlive it.
        with anyio.CancelScope(shield=True):
            await asyncio.wait({writing}, timeout=_EXIT_S)
            await _stop(process)
            for task in (reading, writing):
                task.cancel()
            await asyncio.wait({reading, writing})
            said.close()
            posted.close()


async def _read(name: str, process: asyncio.subprocess.Process, said: Said) -> None:
    assert process.stdout is not None, "it was started with a pipe"
    pace, is_noted = Pace(), False
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
        async with said:
            async for message in _messages(process.stdout):
                if not isinstance(message, bytes):
                    await said.send(SessionMessage(message))
                    continue
                if not is_noted:
                    shown = message[:_SHOWN_BYTES].decode("utf-8", "replace")
                    log.warning("mcp.no_message", server=name, line=shown)
                    is_noted = True
                await pace.beat()
    # Whoever is stopped while it writes would wait for a reader.
    while await process.stdout.read(_CHUNK_BYTES):
        pass


async def _messages(stream: asyncio.StreamReader) -> AsyncIterator[JSONRPCMessage | bytes]:
    """What each line says; of one that is no message, its head."""
    pieces: list[bytes] = []
    size = 0
    while chunk := await stream.read(_CHUNK_BYTES):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            # Nothing of a long line is kept while its message is passed on.
            read, pieces = _read_line([*pieces, end], size + len(end)), []
            size = 0
            yield read
        size += len(rest)
        if size > LARGEST_BYTES:
            pieces = [b"".join(pieces[:1])[:_HEAD_BYTES]]
        elif rest:
            pieces.append(rest)


def _read_line(pieces: list[bytes], size: int) -> JSONRPCMessage | bytes:
    if size > LARGEST_BYTES:
        return _too_long(pieces[0]) or pieces[0]
    line = b"".join(pieces)
    pieces.clear()
    with suppress(ValueError):
        return _parsed(line)
    with suppress(ValueError):  # bytes that are not UTF-8 spoil their characters alone
        return _parsed(line.decode("utf-8", "replace"))
    return line[:_HEAD_BYTES]


def _parsed(line: bytes | str) -> JSONRPCMessage:
    # Not `validate_json`: trying each kind of message it holds the whole of it several times.
    return jsonrpc_message_adapter.validate_python(from_json(line), by_name=False)


def _too_long(head: bytes) -> JSONRPCError | None:
    """The error that its caller is told; none where nobody can tell whom the line answers."""
    found = _ID.search(head[:_HEAD_BYTES])
    if found is None:
        return None
    asked = int(found[1]) if found[1] else found[2].decode("utf-8", "replace")
    why = ErrorData(
        code=INTERNAL_ERROR, message=f"the answer is over {LARGEST_BYTES} bytes and was not read"
    )
    return JSONRPCError(jsonrpc="2.0", id=asked, error=why)


async def _write(
    process: asyncio.subprocess.Process,
    posted: MemoryObjectReceiveStream[SessionMessage],
    said: Said,
) -> None:
    assert process.stdin is not None, "it was started with a pipe"
    try:
        async with posted:
            async for each in posted:
                text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(text.encode("utf-8", "replace") + b"\n")
                await process.stdin.drain()
    except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        # It may live on without ears: whoever waits for it has to know.
        said.close()


async def _stop(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None, "it was started with a pipe"
    process.stdin.close()
    if not await _has_ended(process):
        _signal(process, signal.SIGTERM)
        await _has_ended(process)
    # What it had started itself is in its group, and goes with it.
    _signal(process, signal.SIGKILL)
    await _has_ended(process)
    # Otherwise open, with a warning, as long as somebody who left the group holds a pipe's end.
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()


def _signal(process: asyncio.subprocess.Process, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


async def _has_ended(process: asyncio.subprocess.Process) -> bool:
    """Whether it ends within its time; `wait` would also wait for all who hold its pipes."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_EXIT_S):
            while process.returncode is None:  # noqa: ASYNC110  # nothing tells of it alone
                await asyncio.sleep(_LOOK_EVERY_S)
    return process.returncode is not None
