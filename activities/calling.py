"""Calling a tool through the ledger: answers are kept, identical calls are not made twice."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from models.calls import CallKey
from models.completions import canonical_hash
from models.errors import HoldfastError, OutcomeUnknown, Passing, ToolFailed
from models.text import shortened
from models.tools import ToolAnswer, ToolSignature
from storage.ledger import Ledger, Opened
from tools.hub import Hub

_SHOWN = 400  # characters of the recorded answer


@dataclass(frozen=True)
class Called:
    """A tool's answer, with a note: it was recorded for another task, or asked in other words."""

    answer: ToolAnswer
    note: str = ""

    def noting(self, more: str) -> "Called":
        """The same with one more note."""
        return replace(self, note="; ".join(each for each in (self.note, more) if each))


@dataclass(frozen=True)
class Bench:
    """Where one task calls its tool from."""

    ledger: Ledger
    hub: Hub
    job_id: str
    task_id: str
    attempt: int
    facts: dict[str, str]
    timeout: timedelta
    most_identical: int | None = None
    """How often the job may ask a tool the same; none or 0: without end."""

    async def call(self, tool: str, arguments: dict[str, Any]) -> Called:
        """The tool's answer to these arguments.

        Raises:
            ToolBusy: the server is away, or says that its error passes.
            ToolFailed: the tool answered with an error, or was asked the same too often.
            OutcomeUnknown: it left before, nobody knows what became of it, and it is not safe to
                repeat.
        """
        key = CallKey(
            job_id=self.job_id,
            task_id=self.task_id,
            attempt=self.attempt,
            request_hash=canonical_hash({"tool": tool, "arguments": arguments}),
        )
        opened = await self.ledger.open_tool_call(key, tool, arguments)
        if isinstance(opened.answer, ToolAnswer):
            return Called(opened.answer)
        if opened.refusal is not None:
            raise ToolFailed(opened.refusal)
        if opened.earlier is not None and not await self.hub.remembers(tool):
            return await self._repeated(opened, *opened.earlier, tool)
        if self.most_identical and opened.failed_before >= self.most_identical:
            raise await self._hopeless(opened, tool)
        if opened.is_unclear and not await self._is_repeatable(tool):
            error = OutcomeUnknown(
                f"{tool} was called before, no answer came, and it is not declared safe to repeat"
            )
            await self.ledger.withhold_tool_call(opened.row_id, str(error))
            raise error
        return Called(await self._call(opened.row_id, tool, arguments))

    async def _repeated(
        self, opened: Opened, earlier: int, answer: ToolAnswer, tool: str
    ) -> Called:
        """The recorded answer with a warning; beyond the limit, the same as an error."""
        if self.most_identical and opened.number > self.most_identical:
            error = ToolFailed(_too_often(tool, opened.number - 1, answer))
            await self.ledger.fail_tool_call(
                opened.row_id, str(error), may_repeat=False, repeats=earlier
            )
            raise error
        await self.ledger.close_tool_call(opened.row_id, answer, repeats=earlier)
        times = f" ({opened.number - 1} times)" if opened.number > 2 else ""
        return Called(answer, f"{tool} was called with these arguments before in this job{times}")

    async def _hopeless(self, opened: Opened, tool: str) -> ToolFailed:
        """A call that failed as often as it may be made: it is not made again."""
        error = ToolFailed(
            f"{tool} was called with these arguments {opened.failed_before} times in this job, "
            "failed each time, and is not called again. Change something: other arguments, or "
            f"another tool.\nIt had failed with: {shortened(opened.failed_with, _SHOWN)}"
        )
        await self.ledger.fail_tool_call(
            opened.row_id, str(error), may_repeat=False, repeats=opened.row_id
        )
        return error

    async def _call(self, row_id: int, tool: str, arguments: dict[str, Any]) -> ToolAnswer:
        try:
            answer = await self.hub.call(tool, arguments, timeout=self.timeout, facts=self.facts)
        except HoldfastError as error:
            may_repeat = isinstance(error, Passing)
            await self.ledger.fail_tool_call(row_id, str(error), may_repeat=may_repeat)
            raise
        await self.ledger.close_tool_call(row_id, answer)
        return answer

    async def _is_repeatable(self, tool: str) -> bool:
        return signature(await self.hub.signatures(), tool).is_repeatable


def _too_often(tool: str, before: int, answer: ToolAnswer) -> str:
    # The answer stands below the first line: that alone goes to lists and into Temporal's history.
    shown = shortened(" ".join(answer.text.split()), _SHOWN)
    return (
        f"{tool} was called with these arguments {before} times in this job and is not called "
        "again. Change something: other arguments, or another tool.\n"
        f"What it answered begins: {shown}"
    )


def signature(signatures: tuple[ToolSignature, ...], tool: str) -> ToolSignature:
    """The tool's signature; one that is not there counts as not repeatable."""
    return next((each for each in signatures if each.name == tool), ToolSignature(name=tool))
