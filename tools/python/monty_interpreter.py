"""Run Python code in Monty, an interpreter in separate processes without files or network."""

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

from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen
from holdfast.tools.python.code_result import (
    MAX_PRINTED_CHARS,
    CodeResult,
    check_code,
    result_as_json,
)
from holdfast.tools.python.statistics_functions import STATISTICS_FUNCTIONS

_LAST_LINES = 12
_OWN_NAME = "<python-input-0>"


class InterpreterLimits(Frozen):
    """The limits of one run."""

    compute_s: float = 20
    wall_s: float = 30
    """Time limit for runs that sleep instead of computing."""
    memory_bytes: int = 256 * 2**20
    recursion: int = 500
    calls: int = 10_000
    """Time limit of the `statistics` functions, which run outside the interpreter."""


class _PrintCapture:
    """Keeps the first printed characters, and whether there were more."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._room = MAX_PRINTED_CHARS
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
    """Runs code; an async context manager. The first run starts its processes."""

    def __init__(self, limits: InterpreterLimits | None = None, *, processes: int = 4) -> None:
        self._limits = limits or InterpreterLimits()
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

    async def run(self, code: str, inputs: Mapping[str, JsonValue]) -> CodeResult:
        """Run the code with the inputs as variables; a cancellation kills its process.

        Raises:
            BadInput: the code fails, exceeds a limit, or returns a value that JSON cannot
                represent; the message is for the author of the code.
        """
        check_code(code, inputs)
        pool = await self._opened()
        printed = _PrintCapture()
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
        result = result_as_json(value)
        if result is None and not printed.text:
            raise BadInput(
                "the code gave no result: end it with an expression, or set the variable `result`"
            )
        return CodeResult(result=result, printed=printed.text, is_cut=printed.is_cut)

    async def _value(
        self, pool: AsyncMonty, code: str, inputs: Mapping[str, JsonValue], printed: _PrintCapture
    ) -> object:
        limits = self._limits
        bounds = ResourceLimits(
            max_feed_duration_secs=limits.compute_s,
            max_memory=limits.memory_bytes,
            max_recursion_depth=limits.recursion,
            max_suspensions=limits.calls,
        )
        modules = {"statistics": ExternalModule(STATISTICS_FUNCTIONS)}
        async with pool.checkout(limits=bounds, external_modules=modules) as session:
            value: object = await session.feed_run(
                code, inputs=dict(inputs), print_callback=printed
            )
            return value if "result" in inputs else await _result_variable(session, value)

    async def _opened(self) -> AsyncMonty:
        async with self._opening:
            if self._pool is None:
                pool = AsyncMonty(
                    min_processes=0,
                    max_processes=self._processes,
                    # A process that has run foreign code is replaced after a while.
                    max_checkouts_per_worker=20,
                )
                self._pool = await self._open.enter_async_context(pool)
            return self._pool


async def _result_variable(session: AsyncMontySession, value: object) -> object:
    """Return the variable `result`; without one, the value of the last expression."""
    try:
        result: object = await session.feed_run("result")
    except MontyRuntimeError:
        return value
    return value if result is None else result


def _last_lines(display: str) -> str:
    lines = display.replace(_OWN_NAME, "code").splitlines()
    return "\n".join(line[:300] for line in lines[-_LAST_LINES:])
