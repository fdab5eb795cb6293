"""A process that is given one document and answers one; late or cancelled, it is killed."""

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from models.errors import BadInput

_PIECE = 65_536


class Said(NamedTuple):
    """What a process wrote to its two outputs (of the second the first part), and its status."""

    output: bytes
    errors: bytes
    status: int


async def spoken_to(
    command: Sequence[str],
    given: bytes,
    *,
    within_s: float,
    most_bytes: int,
    late: str,
    user: int | None = None,
) -> Said:
    """What the command answers; it gets no variable of this process, and a session of its own.

    Raises:
        BadInput: it took longer, with `late` as the message; or it wrote more than `most_bytes`.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
        cwd="/",
        env={"LANG": "C.UTF-8"},
        user=user,
        group=user,
        extra_groups=None if user is None else [],
    )
    try:
        async with asyncio.timeout(within_s):
            async with asyncio.TaskGroup() as group:
                group.create_task(_feed(process.stdin, given))
                errors = group.create_task(_all_of(process.stderr))
                output = group.create_task(_first_of(process, most_bytes))
            status = await process.wait()
    except TimeoutError:
        raise BadInput(late) from None
    finally:
        _kill(process)
        # A process counts as ended once its outputs are, so that they are read to their end.
        await asyncio.gather(_all_of(process.stdout), _all_of(process.stderr))
        await process.wait()
    if len(output.result()) > most_bytes:
        raise BadInput("it gave back more than can be handed on; give back less")
    return Said(output.result(), errors.result(), status)


def _kill(process: asyncio.subprocess.Process) -> None:
    """End it; bubblewrap takes all that is in its namespaces with it."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


async def _first_of(process: asyncio.subprocess.Process, most_bytes: int) -> bytes:
    """What it writes to its output; one that writes more than it may is ended."""
    assert process.stdout is not None
    found = bytearray()
    while piece := await process.stdout.read(_PIECE):
        found += piece
        if len(found) > most_bytes:
            _kill(process)
            break
    return bytes(found)


async def _all_of(stream: asyncio.StreamReader | None) -> bytes:
    """The first of what comes, once all has come."""
    assert stream is not None
    found = b""
    while piece := await stream.read(_PIECE):
        found = (found + piece)[:_PIECE]
    return found


async def _feed(stream: asyncio.StreamWriter | None, given: bytes) -> None:
    assert stream is not None
    with suppress(BrokenPipeError, ConnectionResetError):
        stream.write(given)
        await stream.drain()
        stream.close()
        await stream.wait_closed()
