"""Record calls before they are sent and when answered, so that no answer is paid for twice.

Before a call is sent, its row with the status `started` is committed. Its answer is committed
before the next call is sent, alone or with the statement that follows directly. So a worker that
is killed loses at most the calls in flight, and a sequence of calls needs one commit per call. An
answer that arrives while PostgreSQL is unavailable is kept until it can be written.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any, LiteralString

from pydantic import JsonValue
from sqlalchemy import update

from holdfast.models.calls.call_records import CallKey, ReservationRequest
from holdfast.models.calls.call_status import CallStatus
from holdfast.models.calls.model_requests import Completion, ModelRequest
from holdfast.models.calls.tool_signatures import ToolAnswer
from holdfast.models.errors import ModelBusy, ModelPaused, ModelRefused, ModelTurnAwaited
from holdfast.models.frozen_model import Frozen
from holdfast.models.strategies.job_strategy import EXTRACTIVE_MODEL
from holdfast.models.text.message_limits import MessageLimit, cut_message
from holdfast.models.text.storable_text import storable_json
from holdfast.models.wire.event_kinds import EventKind
from holdfast.storage.core.database import Database
from holdfast.storage.core.database_outage import retry_until_available
from holdfast.storage.core.hot_path_pool import StatementValue
from holdfast.storage.core.tables.call_tables import model_calls
from holdfast.storage.ledger.call_statements import (
    CUT_MODEL,
    FAIL_MODEL,
    FAIL_TOOL,
    FAILING_SECONDS,
    FIRST_REQUEST,
    NOTE_RECEIVED,
    OPEN_MODEL,
    OPEN_MODEL_RECOVERED,
    OPEN_TOOL,
    OPEN_TOOL_RECOVERED,
    RECORD_RESPONSE,
    SETTLE,
    STAND_IN_MODELS,
    WITHHOLD_MODEL,
    WITHHOLD_TOOL,
)
from holdfast.storage.ledger.earlier_attempts import EarlierAttempts, answered_key
from holdfast.storage.ledger.figure_rows import SETTLE_WITH_FIGURES, figure_values
from holdfast.storage.ledger.inherited_answers import (
    inherit_model_answer,
    inherit_tool_answer,
    inherited_model_call,
    missing_recording,
    missing_tool_recording,
)
from holdfast.storage.ledger.recorded_answers import (
    recorded_answer,
    recorded_completion,
    tool_answer_json,
)
from holdfast.storage.ledger.recorded_requests import (
    RequestComparison,
    is_never_same,
    recorded_key,
)
from holdfast.storage.ledger.reservation_check import check_reservation, reservation_values
from holdfast.storage.ledger.reservation_statements import (
    LOCK_JOB_ROW,
    OPEN_MODEL_RESERVED,
    OPEN_MODEL_RESERVED_RECOVERED,
)
from holdfast.storage.limits.model_pauses import ModelPause
from holdfast.storage.limits.model_wait_events import note_model_wait

_OUTCOME_UNKNOWN = "it was sent before, and no answer came"
_NO_DEFERRED_ANSWERS: dict[str, StatementValue] = {"tool_answer": None, "model_answer": None}


class LedgerEntry(Frozen):
    """A row of the call ledger, with the recorded answer if there is one."""

    row_id: int
    answer: Completion | ToolAnswer | None = None
    is_outcome_unknown: bool = False
    """True if the call was sent before and its outcome is unknown."""
    unclear: tuple[int, str] | None = None
    """Another identical call of the job that has no answer, and its task; of a tool call."""
    is_unclear_under_way: bool = False
    """True if the task of that call runs, so that its answer may still come."""
    refusal: str | None = None
    """The recorded error of a call that must not be sent again."""
    recorded_arguments: dict[str, Any] | None = None
    """The arguments of the tool call in this place if they are not those that were given now."""
    earlier: tuple[int, ToolAnswer] | None = None
    """The job's last identical call (same tool, same arguments) with its answer.

    None if a person runs the task again, because then the tool is called again.
    """
    failed_before: int = 0
    """The number of the job's identical calls that failed for good."""
    failed_with: str = ""
    """The error of one of these calls."""
    number: int = 1
    """The number of this call among the job's identical calls, from 1."""
    response_id: str | None = None
    """The response in the background that an earlier attempt at the model call began."""
    pause: ModelPause | None = None
    """The pause of the call's model, in force or over; None if there is none."""


@dataclass
class CallLedger:
    """The call ledger of one activity.

    In a sequence of calls, an answer may wait for the next statement, which is the next call's or
    the task's outcome. A caller that defers answers settles them in a `finally`.
    """

    db: Database
    may_wait: bool = False
    recovery: int | None = None
    """The number of the job's recovery in which this activity runs, if any."""
    origins: tuple[str, ...] = ()
    """The jobs whose recorded answers count as well, nearest first; only a fork has some."""
    is_frozen: bool = False
    """True if a call that no origin recorded is refused."""
    earlier_attempts: EarlierAttempts | None = None
    """The earlier attempts at the job whose answers to model calls count as well; None: none."""
    _waiting: dict[str, StatementValue] = field(default_factory=dict, init=False)

    async def open_model_call(
        self,
        key: CallKey,
        request: ModelRequest,
        expense: ReservationRequest | None = None,
        *,
        is_same: RequestComparison = is_never_same,
    ) -> LedgerEntry:
        """Announce a model call; return its entry, with the recorded completion if there is one.

        With an `expense`, the call is announced only if the job's caps have room for it; it holds
        that amount until it is answered. `is_same` compares the recorded requests of the same
        place if none has the hash of this request.

        Raises:
            BudgetHeld: the call does not fit while other calls are in flight; not announced.
            BudgetReached: the call does not fit at all.
            ModelRefused: only recorded answers count, and no origin has one.
        """
        if self.earlier_attempts is not None:
            key = await answered_key(self.db, key, request.role, self.earlier_attempts)
        inherited = await self._inherited(key, request, is_same)
        if inherited is None and self.is_frozen:
            # A repetition finds what the first attempt took from an origin that is gone by now.
            own = (key.job_id,)
            inherited = await inherited_model_call(self.db, own, key, request, is_same)
        if inherited is None and self.is_frozen and request.model != EXTRACTIVE_MODEL:
            raise ModelRefused(await missing_recording(self.db, self.origins, key, request))
        if inherited is not None:
            expense = None
        row = await self._announced(key, request, expense, is_compared=False)
        if row.recorded:
            key = recorded_key(key, row.recorded, is_same)
            row = await self._announced(key, request, expense, is_compared=True)
        if inherited is not None and row.status != CallStatus.DONE:
            row = await inherit_model_answer(self.db, row.id, inherited) or row
        if expense is not None:
            check_reservation(request, row, expense)
        return LedgerEntry(
            row_id=row.id,
            answer=recorded_completion(row) if row.status == CallStatus.DONE else None,
            refusal=row.error if row.status == CallStatus.REFUSED else None,
            response_id=getattr(row, "response_id", None),
            pause=_pause(row),
        )

    async def _inherited(
        self, key: CallKey, request: ModelRequest, is_same: RequestComparison
    ) -> int | None:
        if not self.origins:
            return None
        return await inherited_model_call(self.db, self.origins, key, request, is_same)

    async def _announced(
        self,
        key: CallKey,
        request: ModelRequest,
        expense: ReservationRequest | None,
        *,
        is_compared: bool,
    ) -> Any:  # noqa: ANN401 - a named tuple of columns
        """Return the row of the call; without an id if there are recorded requests to compare."""
        facts: dict[str, StatementValue] = {
            "role": request.role,
            "model": request.model,
            "request": request.model_dump_json(exclude={"answer_schema", "functions"}),
            "unclear": _OUTCOME_UNKNOWN,
            "is_compared": is_compared,
        }
        waiting = self.deferred_values()
        values = facts | waiting
        if expense is None:
            row = await self._opened(OPEN_MODEL, OPEN_MODEL_RECOVERED, key, values)
        else:
            values |= reservation_values(expense)
            row = await self._opened(
                OPEN_MODEL_RESERVED, OPEN_MODEL_RESERVED_RECOVERED, key, values, after=LOCK_JOB_ROW
            )
        self.settled(waiting)
        return row

    async def first_prompt(
        self, job_id: str, task_id: str, attempt: int, role: str, part: str
    ) -> str | None:
        """Return the recorded first prompt of this dialogue as JSON, or None."""
        place: dict[str, StatementValue] = {
            "job_id": job_id,
            "task_id": task_id,
            "attempt": attempt,
            "role": role,
            "part": part,
        }
        row = await self.db.row(FIRST_REQUEST, place)
        if row is None:
            return None
        turns = json.loads(row.request)["messages"]
        return next((str(turn["content"]) for turn in turns if turn["role"] == "user"), None)

    async def close_model_call(
        self, row_id: int, completion: Completion, cost: Decimal | None = None
    ) -> None:
        """Record the completion and its cost; None means an unknown cost."""
        paid = {"id": row_id, "cost": None if cost is None else str(cost)}
        await self._keep("model_answer", completion.model_dump() | paid)

    async def open_tool_call(
        self, key: CallKey, tool: str, arguments: dict[str, Any]
    ) -> LedgerEntry:
        """Announce a tool call; return its entry, with the recorded answer if there is one.

        One attempt at a task makes one call: if another request is recorded in the same place,
        its arguments count, for example because the arguments were replaced by other rules.
        """
        request = json.dumps(arguments, ensure_ascii=False)
        facts: dict[str, StatementValue] = {
            "tool": tool,
            "request": request,
            "unclear": _OUTCOME_UNKNOWN,
        }
        row = await self._opened(OPEN_TOOL, OPEN_TOOL_RECOVERED, key, facts)
        is_as_asked = row.request_hash == key.request_hash
        found = row.earlier_id and (row.earlier_id, recorded_answer(row.earlier_response, tool))
        return LedgerEntry(
            row_id=row.id,
            recorded_arguments=None if is_as_asked else json.loads(row.request),
            answer=recorded_answer(row.response, tool) if row.status == CallStatus.DONE else None,
            is_outcome_unknown=row.status == CallStatus.STARTED and row.error == _OUTCOME_UNKNOWN,
            refusal=row.error if row.status == CallStatus.REFUSED else None,
            earlier=found,
            number=1 + row.identical_before,
            unclear=row.unclear_id and (row.unclear_id, row.unclear_task),
            is_unclear_under_way=bool(row.unclear_is_under_way),
            failed_before=row.failed_before,
            failed_with=row.failed_with or "",
        )

    async def inherit_tool_call(self, key: CallKey, row_id: int, tool: str) -> ToolAnswer | None:
        """Return the answer that an origin of the fork recorded, or None; it is copied."""
        if not self.origins:
            return None
        return await inherit_tool_answer(self.db, self.origins, row_id, tool, key.request_hash)

    async def missing_tool_recording(self, tool: str, arguments: dict[str, Any]) -> str:
        """Return that no origin of the fork answered such a call, with the nearest recorded one."""
        return await missing_tool_recording(self.db, self.origins, tool, arguments)

    async def close_tool_call(
        self, row_id: int, answer: ToolAnswer, *, repeated_call_id: int | None = None
    ) -> None:
        """Record the answer; `repeated_call_id` names the earlier call whose answer was used."""
        facts: dict[str, JsonValue] = {
            "response": tool_answer_json(answer),
            "is_cut": answer.is_cut,
            "repeated_call_id": repeated_call_id,
        }
        if any(each.data for each in answer.figures):
            # Written alone: the statement that follows may run more than once.
            values = _NO_DEFERRED_ANSWERS | {"tool_answer": storable_json(facts | {"id": row_id})}
            await self._write(SETTLE_WITH_FIGURES, values | figure_values(row_id, answer.figures))
            return
        await self._keep("tool_answer", facts | {"id": row_id})

    async def fail_tool_call(
        self,
        row_id: int,
        error: str,
        *,
        may_repeat: bool | None,
        repeated_call_id: int | None = None,
    ) -> None:
        """Record that the call failed, and whether it may be sent again; None: nobody knows.

        `repeated_call_id` is the earlier identical call because of which this call was not sent.
        """
        status = CallStatus.UNKNOWN
        if may_repeat is not None:
            status = CallStatus.FAILED if may_repeat else CallStatus.REFUSED
        facts: dict[str, StatementValue] = {
            "error": cut_message(error, MessageLimit.ENTRY),
            "status": status.value,
            "repeated_call_id": repeated_call_id,
        }
        await self._write(FAIL_TOOL, facts | {"id": row_id})

    async def withhold_tool_call(
        self,
        row_id: int,
        error: str,
        *,
        status: CallStatus = CallStatus.REFUSED,
        repeated_call_id: int | None = None,
    ) -> None:
        """Record that an announced call is not sent, because that would not be safe.

        `status` is unknown if it was sent before, and failed if it may be sent later.
        `repeated_call_id` is the earlier identical call because of which this call is not sent.
        """
        values: dict[str, StatementValue] = {
            "id": row_id,
            "recovery": self.recovery,
            "status": status.value,
            "repeated_call_id": repeated_call_id,
        }
        await self._write(WITHHOLD_TOOL, values | {"error": cut_message(error, MessageLimit.ENTRY)})

    async def withhold_model_call(
        self,
        key: CallKey,
        row_id: int,
        epoch: int,
        model: str,
        wait: ModelTurnAwaited | ModelPaused,
    ) -> None:
        """Record that an announced model call was not sent, because it waits.

        The job's log gets an entry for the model, one until the wait is over.

        Raises:
            StaleEpoch: a newer run has taken over.
        """
        paused = wait if isinstance(wait, ModelPaused) else None
        values: dict[str, StatementValue] = {
            "id": row_id,
            "error": cut_message(str(wait), MessageLimit.ENTRY),
            "wait_s": 0.0 if wait.after is None else wait.after.total_seconds(),
            # The kind of a refusal of the call itself, so that both are one time of failing.
            "kind": ModelBusy.__name__ if paused else None,
            "since": paused.since.isoformat() if paused else None,
        }
        row = await self._write(WITHHOLD_MODEL, values)
        if row is not None and row.is_first:
            await note_model_wait(
                self.db,
                key.job_id,
                epoch,
                key.task_id,
                model=model,
                why=str(wait),
                until=row.waits_until,
            )

    async def record_response(
        self, row_id: int, response_id: str | None, *, is_sent_again: bool
    ) -> None:
        """Record the response in the background that a call waits for, or None if there is none.

        `is_sent_again` counts the request once more, because the endpoint lost its response.
        """
        values: dict[str, StatementValue] = {
            "id": row_id,
            "response_id": response_id,
            "is_sent_again": is_sent_again,
            "recovery": self.recovery,
        }
        await self._write(RECORD_RESPONSE, values)

    async def note_received(self, row_id: int, characters: int) -> None:
        """Record how much of the reply to a call has come so far.

        Raises:
            StorageAway: PostgreSQL does not answer.
        """
        await self.db.row(NOTE_RECEIVED, {"id": row_id, "characters": characters})

    async def fail_model_call(
        self, row_id: int, error: str, *, kind: str = "", is_malformed: bool = False
    ) -> int:
        """Record that the call failed; return how many malformed replies it got so far."""
        row = await self._write(
            FAIL_MODEL,
            {
                "id": row_id,
                "error": cut_message(error, MessageLimit.ENTRY),
                "kind": kind,
                "is_malformed": is_malformed,
            },
        )
        return 0 if row is None else int(row.malformed_replies)

    async def cut_model_call(self, row_id: int) -> None:
        """Record that the call was cut off before its answer came; it may be sent again."""
        await self._write(CUT_MODEL, {"id": row_id, "error": _OUTCOME_UNKNOWN})

    async def failing_duration(self, row_id: int) -> timedelta:
        """Return the time for which a model call has failed with errors of one kind."""
        row = await self.db.row(FAILING_SECONDS, {"id": row_id})
        return timedelta(seconds=row.failing_s)

    async def record_fallback(
        self, key: CallKey, row_id: int, epoch: int, facts: dict[str, JsonValue]
    ) -> None:
        """Record that a failed model call is not sent again, because the fallback model is called.

        The event in the job's log, with these facts, is written once.

        Raises:
            StaleEpoch: a newer run has taken over.
        """
        of_call = (model_calls.c.id == row_id, model_calls.c.status == CallStatus.FAILED.value)
        async with self.db.job(key.job_id, epoch) as write:
            statement = update(model_calls).where(*of_call).values(status=CallStatus.REFUSED.value)
            if (await write.connection.execute(statement)).rowcount:
                write.event(EventKind.MODEL_FALLBACK_USED, key.task_id, **facts)

    async def stand_in_models(self, job_id: str) -> tuple[str, ...]:
        """Return the models that answered the job's calls if a fallback was used; else none."""
        row = await self.db.row(STAND_IN_MODELS, {"job_id": job_id})
        return tuple(row.models or ())

    async def disable_deferral(self) -> None:
        """Stop deferring answers, because several calls now run at the same time."""
        self.may_wait = False
        await self.settle()

    async def settle(self) -> None:
        """Write the deferred answers."""
        if self._waiting:
            waiting = self.deferred_values()
            await self._write(SETTLE, waiting)
            self.settled(waiting)

    def deferred_values(self) -> dict[str, StatementValue]:
        """Return the values of the deferred answers for a statement with `SETTLED`."""
        return _NO_DEFERRED_ANSWERS | self._waiting

    def settled(self, written: Mapping[str, StatementValue]) -> None:
        """Note that a statement with `SETTLED` and these values was committed."""
        for kind in [kind for kind, answer in self._waiting.items() if written[kind] is answer]:
            del self._waiting[kind]

    async def _opened(
        self,
        statement: LiteralString,
        under_recovery: LiteralString,
        key: CallKey,
        facts: dict[str, StatementValue],
        *,
        after: LiteralString = "",
    ) -> Any:  # noqa: ANN401 - a named tuple of columns
        values = key.model_dump() | facts
        if self.recovery is None:
            return await self.db.row(statement, values, after=after)
        values |= {"recovery": self.recovery}
        return await self.db.row(under_recovery, values, after=after)

    async def _keep(self, kind: str, answer: dict[str, Any]) -> None:
        if not self.may_wait:
            await self._write(SETTLE, _NO_DEFERRED_ANSWERS | {kind: storable_json(answer)})
            return
        while kind in self._waiting:
            # Only one answer of each kind can be deferred: write the first one now.
            await self.settle()
        self._waiting[kind] = storable_json(answer)

    async def _write(self, statement: LiteralString, values: Mapping[str, StatementValue]) -> Any:  # noqa: ANN401 - a named tuple of columns
        """Write the outcome, also after an outage of PostgreSQL; return the statement's row."""
        return await retry_until_available(lambda: self.db.row(statement, values))


def _pause(row: Any) -> ModelPause | None:  # noqa: ANN401 - a named tuple of columns
    if getattr(row, "paused_since", None) is None:
        return None  # no pause, or an answer that was inherited
    return ModelPause(since=row.paused_since, left=timedelta(seconds=row.pause_left_s))
