"""Calling a tool through the ledger: answers are kept, identical calls are not made twice."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from models.calls import CallKey
from models.completions import canonical_hash
from models.errors import HoldfastError, OutcomeUnknown
from models.tools import ToolAnswer, ToolSignature
from storage import ledger
from storage.database import Database
from tools.hub import Hub


@dataclass(frozen=True)
class Called:
    """A tool's answer, with a note when it is one that was recorded for another task."""

    answer: ToolAnswer
    note: str = ""


@dataclass(frozen=True)
class Bench:
    """Where one task calls its tool from."""

    db: Database
    hub: Hub
    job_id: str
    task_id: str
    attempt: int
    facts: dict[str, str]
    timeout: timedelta

    async def call(self, tool: str, arguments: dict[str, Any]) -> Called:
        """The tool's answer to these arguments.

        Raises:
            ToolBusy: the server is away, and the call never left.
            ToolFailed: the tool answered with an error.
            OutcomeUnknown: it left before, nobody knows what became of it, and it is not safe to
                repeat.
        """
        key = CallKey(
            job_id=self.job_id,
            task_id=self.task_id,
            attempt=self.attempt,
            request_hash=canonical_hash({"tool": tool, "arguments": arguments}),
        )
        earlier = await ledger.same_tool_call(self.db, key, tool)
        opened = await ledger.open_tool_call(self.db, key, tool, arguments)
        if isinstance(opened.answer, ToolAnswer):
            return Called(opened.answer)
        if earlier is not None:
            row, answer = earlier
            await ledger.close_tool_call(self.db, opened.row_id, answer, repeats=row)
            return Called(answer, f"{tool} was called with these arguments before in this job")
        if opened.is_unclear and not await self._is_repeatable(tool):
            raise OutcomeUnknown(
                f"{tool} was called before, no answer came, and it is not declared safe to repeat"
            )
        return Called(await self._call(opened.row_id, tool, arguments))

    async def _call(self, row_id: int, tool: str, arguments: dict[str, Any]) -> ToolAnswer:
        try:
            answer = await self.hub.call(tool, arguments, timeout=self.timeout, facts=self.facts)
        except HoldfastError as error:
            await ledger.fail_call(self.db, row_id, is_model=False, error=str(error))
            raise
        await ledger.close_tool_call(self.db, row_id, answer)
        return answer

    async def _is_repeatable(self, tool: str) -> bool:
        return signature(await self.hub.signatures(), tool).is_repeatable


def signature(signatures: tuple[ToolSignature, ...], tool: str) -> ToolSignature:
    """The tool's signature; one that is not there counts as not repeatable."""
    return next((each for each in signatures if each.name == tool), ToolSignature(name=tool))
