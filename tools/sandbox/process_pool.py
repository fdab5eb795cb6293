"""Send foreign bytes to a small pool of processes, and kill a process that hangs."""

import asyncio
import json
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from holdfast.tools.sandbox.bubblewrap_command import Grants, bubblewrap_launch
from holdfast.tools.sandbox.own_python import OWN_ENVIRONMENT, own_program
from holdfast.tools.sandbox.process_slots import ProcessSlots, process_slots
from holdfast.tools.sandbox.sandbox_support import find_sandbox

_MAX_PROCESSES = 2
_START_S = 30.0
"""Seconds; more than the start of a process takes on a busy machine."""


class NoAnswer(Exception):
    """The process gave no answer: it was late, it died, or it broke the protocol."""

    def __init__(self, *, is_late: bool) -> None:
        super().__init__("takes too long to read" if is_late else "is unreadable")


class ProcessPool:
    """At most two processes that run one module; the first request starts the first process."""

    def __init__(
        self, module: str, *, patience_s: float, slots: ProcessSlots | None = None
    ) -> None:
        self._module = module
        self._patience_s = patience_s
        self._places = asyncio.Semaphore(_MAX_PROCESSES)
        self._slots = slots or process_slots()
        self._idle: list[Process] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        while self._idle:
            await _end_process(self._idle.pop())

    async def ask(self, request: Mapping[str, str], body: bytes) -> dict[str, Any]:
        """Return the answer of a process to the request about these bytes.

        Raises:
            NoAnswer: the process died or was late.
        """
        async with self._places, self._slots:
            process = await self._process()
            try:
                async with asyncio.timeout(self._patience_s):
                    answer = await _exchange(process, {**request, "size": len(body)}, body)
            except (TimeoutError, OSError, EOFError, ValueError) as error:
                await _end_process(process)
                raise NoAnswer(is_late=isinstance(error, TimeoutError)) from error
            except BaseException:
                await _end_process(process)
                raise
            if answer.pop("is_large"):
                await _end_process(process)
            else:
                self._idle.append(process)
        return answer

    async def _process(self) -> Process:
        while self._idle:
            process = self._idle.pop()
            if process.returncode is None:
                return process
        support = await find_sandbox()
        own = own_program(self._module)
        with bubblewrap_launch(support.bubblewrap, own.command, Grants(read=own.read)) as launch:
            async with asyncio.timeout(_START_S):
                return await asyncio.create_subprocess_exec(
                    *launch.command,
                    stdin=PIPE,
                    stdout=PIPE,
                    stderr=DEVNULL,
                    env=OWN_ENVIRONMENT,
                    cwd="/",
                    pass_fds=launch.descriptors,
                    start_new_session=True,  # an interrupt at the terminal is for the worker only
                )


async def _exchange(process: Process, request: dict[str, Any], body: bytes) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(request).encode() + b"\n" + body)
    await process.stdin.drain()
    size = int(await process.stdout.readline())
    answer: dict[str, Any] = json.loads(await process.stdout.readexactly(size))
    return answer


async def _end_process(process: Process) -> None:
    if process.returncode is None:
        process.kill()
    await process.wait()
    if process.stdin is not None:
        process.stdin.close()
