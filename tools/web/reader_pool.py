"""Send untrusted bytes to a small pool of reading processes, and kill a process that hangs."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from types import TracebackType
from typing import Any, Self

from holdfast.models.errors import ToolFailed
from holdfast.tools.web.content_types import BodyKind
from holdfast.tools.web.page_text import PageText

_MAX_PROCESSES = 2
_START_S = 30.0
"""Seconds; more than the start of a process takes on a busy machine."""


class ReaderPool:
    """At most two reading processes; the first page starts the first process."""

    def __init__(self, patience_s: float = 30) -> None:
        self._patience_s = patience_s
        self._places = asyncio.Semaphore(_MAX_PROCESSES)
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

    async def read(self, kind: BodyKind, address: str, charset: str, body: bytes) -> PageText:
        """Parse the body in a reading process.

        Raises:
            ToolFailed: the body cannot be read, or not in time.
        """
        async with self._places:
            process = await self._process()
            try:
                async with asyncio.timeout(self._patience_s):
                    answer = await _exchange_with_process(process, kind, address, charset, body)
            except (TimeoutError, OSError, EOFError, ValueError) as error:
                await _end_process(process)
                what = (
                    "takes too long to read" if isinstance(error, TimeoutError) else "is unreadable"
                )
                raise ToolFailed(f"{address[:300]} {what}: use another source") from error
            except BaseException:
                await _end_process(process)
                raise
            self._idle.append(process)
        if "page" not in answer:
            raise ToolFailed(str(answer["wrong"]))
        return PageText.model_validate(answer["page"])

    async def _process(self) -> Process:
        while self._idle:
            process = self._idle.pop()
            if process.returncode is None:
                return process
        async with asyncio.timeout(_START_S):
            return await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",  # -P: a folder `tools` in the worker's working folder is not ours
                "-m",
                "holdfast.tools.web.reader_process",
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                # Nothing of the worker's environment, which contains secrets.
                env={"PYTHONPATH": os.pathsep.join(sys.path), "LANG": "C.UTF-8"},
                start_new_session=True,  # an interrupt at the terminal concerns only the worker
            )


async def _exchange_with_process(
    process: Process, kind: BodyKind, address: str, charset: str, body: bytes
) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    asked = {"kind": kind, "address": address, "charset": charset, "size": len(body)}
    process.stdin.write(json.dumps(asked).encode() + b"\n" + body)
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
