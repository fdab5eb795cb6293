"""Hands foreign bytes to reading processes: started when needed, killed when they hang."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from types import TracebackType
from typing import Any, Self

from models.errors import ToolFailed
from tools.web.kinds import Kind
from tools.web.readable import Readable

_MOST = 2
_START_S = 30.0
"""More than a start takes on a machine that does much else."""


class Readers:
    """At most two reading processes; none until the first page is read."""

    def __init__(self, patience_s: float = 30) -> None:
        self._patience_s = patience_s
        self._places = asyncio.Semaphore(_MOST)
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
            await _ended(self._idle.pop())

    async def read(self, kind: Kind, address: str, charset: str, body: bytes) -> Readable:
        """The page that the body is.

        Raises:
            ToolFailed: it cannot be read, or not in time.
        """
        async with self._places:
            process = await self._process()
            try:
                async with asyncio.timeout(self._patience_s):
                    answer = await _exchanged(process, kind, address, charset, body)
            except (TimeoutError, OSError, EOFError, ValueError) as error:
                await _ended(process)
                what = (
                    "takes too long to read" if isinstance(error, TimeoutError) else "is unreadable"
                )
                raise ToolFailed(f"{address[:300]} {what}: use another source") from error
            except BaseException:
                await _ended(process)
                raise
            self._idle.append(process)
        if "page" not in answer:
            raise ToolFailed(str(answer["wrong"]))
        return Readable.model_validate(answer["page"])

    async def _process(self) -> Process:
        while self._idle:
            process = self._idle.pop()
            if process.returncode is None:
                return process
        async with asyncio.timeout(_START_S):
            return await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",  # a folder `tools` where the worker was started is not ours
                "-m",
                "tools.web.reading",
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                # None of the worker's environment, as secrets live there.
                env={"PYTHONPATH": os.pathsep.join(sys.path), "LANG": "C.UTF-8"},
                start_new_session=True,  # an interrupt at the terminal is for the worker alone
            )


async def _exchanged(
    process: Process, kind: Kind, address: str, charset: str, body: bytes
) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    asked = {"kind": kind, "address": address, "charset": charset, "size": len(body)}
    process.stdin.write(json.dumps(asked).encode() + b"\n" + body)
    await process.stdin.drain()
    size = int(await process.stdout.readline())
    answer: dict[str, Any] = json.loads(await process.stdout.readexactly(size))
    return answer


async def _ended(process: Process) -> None:
    if process.returncode is None:
        process.kill()
    await process.wait()
    if process.stdin is not None:
        process.stdin.close()
