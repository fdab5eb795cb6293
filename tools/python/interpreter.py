"""Monty: an interpreter of Python in processes of its own, which have no files and no network."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Literal, Self

from pydantic import JsonValue
from pydantic_monty import (
    AsyncMonty,
    AsyncMontySession,
    ExternalModule,
    MontyCrashedError,
    MontyError,
    MontyRuntimeError,
    MontySyntaxError,
    ResourceLimits,
)

from models.base import Frozen
from models.errors import BadInput
from tools.python.averages import AVERAGES
from tools.python.ran import MOST_PRINTED_CHARS, Ran, check_run, checked_result

_LAST_LINES = 12
_OWN_NAME = "<python-input-0>"


class Limits(Frozen):
    """What one run may take."""

    compute_s: float = 20
    wall_s: float = 30
    """A run that sleeps computes nothing: this ends it."""
    memory_bytes: int = 256 * 2**20
    recursion: int = 500
    calls: int = 10_000
    """Of the functions of `statistics`, which are not of the interpreter."""


class _Printed:
    """The first characters that were printed, and whether there were more."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._room = MOST_PRINTED_CHARS
        self.is_cut = False

    def __call__(self, _: Literal["stdout", "stderr"], text: str) -> None:
        self.is_cut = self.is_cut or len(text) > self._room
        kept = text[: self._room]
        if kept:
            self._pieces.append(kept)
            self._room -= len(kept)

    @property
    def text(self) -> str:
        return "".join(self._pieces)


class Interpreter:
    """Runs code, from entering to leaving; its processes are started at the first run."""

    def __init__(self, limits: Limits | None = None, *, processes: int = 4) -> None:
        self._limits = limits or Limits()
        self._processes = processes
        self._opening = asyncio.Lock()
        self._open = AsyncExitStack()
        self._pool: AsyncMonty | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pool = None
        await self._open.aclose()

    async def run(self, code: str, inputs: Mapping[str, JsonValue]) -> Ran:
        """What the code came to with the inputs as variables; cancelled, its process is killed.

        Raises:
            BadInput: the code is wrong, took too much, or gave nothing that can be handed on; the
                message is for who wrote it.
        """
        check_run(code, inputs)
        pool = await self._opened()
        printed = _Printed()
        try:
            async with asyncio.timeout(self._limits.wall_s):
                value = await self._value(pool, code, inputs, printed)
        except TimeoutError:
            raise BadInput(f"the code ran for {self._limits.wall_s:g} s and was ended") from None
        except MontyCrashedError as crash:
            raise BadInput("the interpreter died of this code: use less memory") from crash
        except (MontyRuntimeError, MontySyntaxError) as fault:
            raise BadInput(_last_lines(fault.display())) from fault
        except MontyError as fault:
            raise BadInput(_last_lines(str(fault))) from fault
        result = checked_result(value)
        if result is None and not printed.text:
            raise BadInput(
                "the code gave no result: end it with an expression, or set the variable `result`"
            )
        return Ran(result=result, printed=printed.text, is_cut=printed.is_cut)

    async def _value(
        self, pool: AsyncMonty, code: str, inputs: Mapping[str, JsonValue], printed: _Printed
    ) -> object:
        limits = self._limits
        bounds = ResourceLimits(
            max_feed_duration_secs=limits.compute_s,
            max_memory=limits.memory_bytes,
            max_recursion_depth=limits.recursion,
            max_suspensions=limits.calls,
        )
        modules = {"statistics": ExternalModule(AVERAGES)}
        async with pool.checkout(limits=bounds, external_modules=modules) as session:
            value: object = await session.feed_run(
                code, inputs=dict(inputs), print_callback=printed
            )
            return value if "result" in inputs else await _named(session, value)

    async def _opened(self) -> AsyncMonty:
        async with self._opening:
            if self._pool is None:
                pool = AsyncMonty(
                    min_processes=0,
                    max_processes=self._processes,
                    # A process that served somebody else's code is not trusted for long.
                    max_checkouts_per_worker=20,
                )
                self._pool = await self._open.enter_async_context(pool)
            return self._pool


async def _named(session: AsyncMontySession, value: object) -> object:
    """The variable `result`; the value of the last expression where there is none."""
    try:
        found: object = await session.feed_run("result")
    except MontyRuntimeError:
        return value
    return value if found is None else found


def _last_lines(display: str) -> str:
    lines = display.replace(_OWN_NAME, "code").splitlines()
    return "\n".join(line[:300] for line in lines[-_LAST_LINES:])
