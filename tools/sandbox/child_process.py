"""Run a child process that reads and writes one document; kill it on timeout or cancellation."""

import asyncio
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from holdfast.models.errors import BadInput
from holdfast.tools.sandbox.bubblewrap_command import Launch
from holdfast.tools.sandbox.own_python import OWN_ENVIRONMENT

_PIECE = 65_536
_BUBBLEWRAP_SAYS = b"bwrap: "
_FAULT_CHARS = 300


class ProcessOutput(NamedTuple):
    """The stdout of a process, the first part of its stderr, and its exit status."""

    output: bytes
    errors: bytes
    status: int


async def run_child_process(
    launch: Launch,
    document: bytes,
    *,
    within_s: float,
    max_bytes: int,
    late: str,
    environment: Mapping[str, str] | None = None,
    user: int | None = None,
) -> ProcessOutput:
    """Return the command's output; it runs without our environment, in its own session.

    Raises:
        BadInput: the command took too long (`late` is the message), wrote more than
            `max_bytes`, or its sandbox did not start.
    """
    process = await asyncio.create_subprocess_exec(
        *launch.command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
        cwd="/",
        env=OWN_ENVIRONMENT if environment is None else dict(environment),
        pass_fds=launch.descriptors,
        user=user,
        group=user,
        extra_groups=None if user is None else [],
    )
    try:
        async with asyncio.timeout(within_s):
            async with asyncio.TaskGroup() as group:
                group.create_task(_feed(process.stdin, document))
                errors = group.create_task(_all_of(process.stderr))
                output = group.create_task(_first_of(process, max_bytes))
            status = await process.wait()
    except TimeoutError:
        raise BadInput(late) from None
    finally:
        _kill(process)
        # The process counts as ended when both outputs end, so that both are read completely.
        await asyncio.gather(_all_of(process.stdout), _all_of(process.stderr))
        await process.wait()
    if len(output.result()) > max_bytes:
        raise BadInput("it gave back more than can be handed on; give back less")
    if status != 0 and errors.result().startswith(_BUBBLEWRAP_SAYS):
        why = errors.result().decode(errors="replace").splitlines()[0][:_FAULT_CHARS]
        raise BadInput(f"its sandbox did not start: {why}")
    return ProcessOutput(output.result(), errors.result(), status)


def _kill(process: asyncio.subprocess.Process) -> None:
    """Kill the process; bubblewrap then kills all processes in its namespaces."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


async def _first_of(process: asyncio.subprocess.Process, max_bytes: int) -> bytes:
    """Return the output of the process; kill it if it writes too much."""
    assert process.stdout is not None
    output = bytearray()
    while piece := await process.stdout.read(_PIECE):
        output += piece
        if len(output) > max_bytes:
            _kill(process)
            break
    return bytes(output)


async def _all_of(stream: asyncio.StreamReader | None) -> bytes:
    """Read the stream to its end and return its first part."""
    assert stream is not None
    start = b""
    while piece := await stream.read(_PIECE):
        start = (start + piece)[:_PIECE]
    return start


async def _feed(stream: asyncio.StreamWriter | None, document: bytes) -> None:
    assert stream is not None
    with suppress(BrokenPipeError, ConnectionResetError):
        stream.write(document)
        await stream.drain()
        stream.close()
        await stream.wait_closed()
