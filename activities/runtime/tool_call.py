"""Call a tool through the call ledger: answers are recorded, identical calls are not repeated."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from holdfast.activities.runtime.interceptors.lost_attempt_interceptor import end_if_given_up
from holdfast.models.calls.call_records import CallKey
from holdfast.models.calls.call_status import CallStatus
from holdfast.models.calls.model_requests import canonical_hash
from holdfast.models.calls.tool_signatures import ToolAnswer
from holdfast.models.errors import CallAwaited, HoldfastError, OutcomeUnknown, Passing, ToolFailed
from holdfast.models.text.terminal_text import shorten_text
from holdfast.storage.ledger.call_ledger import CallLedger, LedgerEntry
from holdfast.tools.mcp.tool_hub import Hub

_SHOWN = 400  # characters of the recorded answer
_AWAITED_AFTER = timedelta(seconds=3)


@dataclass(frozen=True)
class ToolCallResult:
    """A tool's answer with notes, such as that another call's answer was reused."""

    answer: ToolAnswer
    arguments: dict[str, Any]
    """The arguments that the tool was called with."""
    note: str = ""

    def with_note(self, more: str) -> "ToolCallResult":
        """Return the result with one more note."""
        return replace(self, note="; ".join(each for each in (self.note, more) if each))


@dataclass(frozen=True)
class ToolCaller:
    """The tool calls of one task."""

    ledger: CallLedger
    hub: Hub
    job_id: str
    task_id: str
    attempt: int
    facts: dict[str, str]
    timeout: timedelta
    max_identical_calls: int | None = None
    """The maximum of identical calls in the job; None or 0: no limit."""
    refuses_repeats: bool = True
    """False: a recorded answer is given any number of times, as it costs nothing. A loop must read
    what another agent found, and stops by its own rule when it learns nothing new."""

    async def call(self, tool: str, arguments: dict[str, Any]) -> ToolCallResult:
        """Return the tool's answer to these arguments.

        Raises:
            ToolBusy: the server is unavailable, or reports a passing error.
            CallAwaited: another task makes the same call now, and repeating is not safe.
            ToolFailed: the tool answered with an error, or the same call was made too often.
            OutcomeUnknown: this call, or an identical one of another task or attempt of the job,
                was sent, its outcome is unknown, and repeating is not safe.
            CancelledError: Temporal has given the attempt up.
        """
        end_if_given_up()
        key = CallKey(
            job_id=self.job_id,
            task_id=self.task_id,
            attempt=self.attempt,
            request_hash=canonical_hash({"tool": tool, "arguments": arguments}),
        )
        opened = await self.ledger.open_tool_call(key, tool, arguments)
        if opened.recorded_arguments is not None:
            arguments = opened.recorded_arguments
        answer, note = await self._answer(key, opened, tool, arguments)
        return ToolCallResult(answer, arguments, note)

    async def _answer(
        self, key: CallKey, opened: LedgerEntry, tool: str, arguments: dict[str, Any]
    ) -> tuple[ToolAnswer, str]:
        """Return the recorded answer, or the tool's, with a note."""
        if isinstance(opened.answer, ToolAnswer):
            return opened.answer, ""
        if opened.refusal is not None:
            raise ToolFailed(opened.refusal)
        if opened.earlier is not None and not await self.hub.depends_on_history(tool):
            return await self._reuse_answer(opened, *opened.earlier, tool)
        if (inherited := await self._inherit_answer(key, opened, tool)) is not None:
            return inherited, ""
        if self.ledger.is_frozen and not await self.hub.depends_on_history(tool):
            unrecorded = ToolFailed(await self.ledger.missing_tool_recording(tool, arguments))
            await self.ledger.withhold_tool_call(opened.row_id, str(unrecorded))
            raise unrecorded
        is_unclear = opened.is_outcome_unknown or opened.unclear is not None
        if is_unclear and not await self.hub.is_repeatable(tool):
            raise await self._refuse_unclear_call(opened, tool)
        if self.max_identical_calls and opened.failed_before >= self.max_identical_calls:
            raise await self._refuse_failing_call(opened, tool)
        return await self._call(opened.row_id, tool, arguments), ""

    async def _inherit_answer(
        self, key: CallKey, opened: LedgerEntry, tool: str
    ) -> ToolAnswer | None:
        """Return the answer that an origin of the fork recorded; None without one."""
        if not self.ledger.origins or await self.hub.depends_on_history(tool):
            return None
        return await self.ledger.inherit_tool_call(key, opened.row_id, tool)

    async def _reuse_answer(
        self, opened: LedgerEntry, earlier: int, answer: ToolAnswer, tool: str
    ) -> tuple[ToolAnswer, str]:
        """Return the recorded answer with a warning; beyond the limit, raise an error."""
        is_over = self.max_identical_calls and opened.number > self.max_identical_calls
        if is_over and self.refuses_repeats:
            error = ToolFailed(_repeated_call_message(tool, opened.number - 1, answer))
            await self.ledger.fail_tool_call(
                opened.row_id, str(error), may_repeat=False, repeated_call_id=earlier
            )
            raise error
        await self.ledger.close_tool_call(opened.row_id, answer, repeated_call_id=earlier)
        times = f" ({opened.number - 1} times)" if opened.number > 2 else ""
        return answer, f"{tool} was called with these arguments before in this job{times}"

    async def _await_other_call(self, opened: LedgerEntry, tool: str) -> CallAwaited:
        """Withhold a call until an identical one of another task has its outcome."""
        _, of_task = opened.unclear or (None, "")
        error = CallAwaited(
            f"{tool} is under way in {of_task} with these arguments, and is not declared safe to "
            "repeat: its answer is awaited",
            after=_AWAITED_AFTER,
        )
        await self.ledger.withhold_tool_call(opened.row_id, str(error), status=CallStatus.FAILED)
        return error

    async def _refuse_unclear_call(
        self, opened: LedgerEntry, tool: str
    ) -> OutcomeUnknown | CallAwaited:
        """Refuse a call because it, or an identical one of the job, may have taken effect."""
        if opened.is_unclear_under_way and not opened.is_outcome_unknown:
            return await self._await_other_call(opened, tool)
        other, of_task = opened.unclear or (None, "")
        by = f" by {of_task}" if other and not opened.is_outcome_unknown else ""
        error = OutcomeUnknown(
            f"{tool} was called before with these arguments{by}, no answer came, and it is not "
            "declared safe to repeat: look whether it took effect; "
            f"it is called again once a person runs {self.task_id.partition('.')[0]} again"
        )
        await self.ledger.withhold_tool_call(
            opened.row_id,
            str(error),
            status=CallStatus.UNKNOWN if opened.is_outcome_unknown else CallStatus.REFUSED,
            repeated_call_id=other,
        )
        return error

    async def _refuse_failing_call(self, opened: LedgerEntry, tool: str) -> ToolFailed:
        """Refuse a call whose identical calls failed too often."""
        error = ToolFailed(
            f"{tool} was called with these arguments {opened.failed_before} times in this job, "
            "failed each time, and is not called again. Change something: other arguments, or "
            f"another tool.\nIt had failed with: {shorten_text(opened.failed_with, _SHOWN)}"
        )
        await self.ledger.fail_tool_call(
            opened.row_id, str(error), may_repeat=False, repeated_call_id=opened.row_id
        )
        return error

    async def _call(self, row_id: int, tool: str, arguments: dict[str, Any]) -> ToolAnswer:
        try:
            answer = await self.hub.call(tool, arguments, timeout=self.timeout, facts=self.facts)
        except HoldfastError as error:
            is_unclear = isinstance(error, OutcomeUnknown)
            may_repeat = None if is_unclear else isinstance(error, Passing)
            await self.ledger.fail_tool_call(row_id, str(error), may_repeat=may_repeat)
            raise
        await self.ledger.close_tool_call(row_id, answer)
        return answer


def _repeated_call_message(tool: str, before: int, answer: ToolAnswer) -> str:
    # The answer follows the first line, because only the first line goes to lists and histories.
    shown = shorten_text(" ".join(answer.text.split()), _SHOWN)
    return (
        f"{tool} was called with these arguments {before} times in this job and is not called "
        "again. Change something: other arguments, or another tool.\n"
        f"What it answered begins: {shown}"
    )
