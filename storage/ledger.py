"""The call ledger: a recorded answer is used, and nothing that came back is paid for twice.

Before a call leaves, its row says `started`, committed. An answer is committed before the next
call leaves: alone, or with what directly follows it. So a worker killed at any point loses at most
the calls in flight, and PostgreSQL commits once where one call follows another. An answer that
comes back while PostgreSQL is away is kept until it can be written.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any, LiteralString

from pydantic import JsonValue
from sqlalchemy import update

from models.base import Frozen
from models.calls import CallKey, Expense
from models.completions import Completion, ModelRequest
from models.tables import llm_calls
from models.tools import ReadPassage, ToolAnswer
from storage.constant import Value, as_json
from storage.database import Database
from storage.figures import SETTLE_WITH_FIGURES, figure_values
from storage.gate import check_room, priced
from storage.gate_statements import LOCK, OPEN_MODEL_WITHIN, OPEN_MODEL_WITHIN_RECOVERED
from storage.ledger_statements import (
    FAIL_MODEL,
    FAIL_TOOL,
    FAILING_FOR,
    FIRST_REQUEST,
    MODELS_BESIDE,
    OPEN_MODEL,
    OPEN_MODEL_RECOVERED,
    OPEN_TOOL,
    OPEN_TOOL_RECOVERED,
    SETTLE,
    WITHHOLD_TOOL,
)
from storage.patience import until_back

_DONE = "done"
_REFUSED = "refused"
_UNCLEAR = "it was sent before, and no answer came"
_USAGE = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "is_estimated")
_NONE_WAITS: dict[str, Value] = {"tool_answer": None, "model_answer": None}


class Opened(Frozen):
    """A row of the ledger, and the answer when the call came back before."""

    row_id: int
    answer: Completion | ToolAnswer | None = None
    is_unclear: bool = False
    """Whether it left before and nobody knows what became of it."""
    refusal: str | None = None
    """The error with which it came back before, when it is not to be sent again."""
    earlier: tuple[int, ToolAnswer] | None = None
    """The job's last call of the same tool with the same arguments, and its answer.

    A person who has a task run again wants its tool called again: then there is none.
    """
    failed_before: int = 0
    """How many of the job's identical calls came back with an error that stays."""
    failed_with: str = ""
    """The error of one of them."""
    number: int = 1
    """The how many-th of the job's calls of this tool with these arguments it is."""


@dataclass
class Ledger:
    """The calls of one activity.

    Where calls follow one another an answer may wait for the statement that directly follows, be
    it the next call's or the outcome's; who lets answers wait settles them in a `finally`.
    """

    db: Database
    may_wait: bool = False
    recovery: int | None = None
    """Under which of the job's recoveries this activity goes on, if it does under one."""
    _waiting: dict[str, Value] = field(default_factory=dict, init=False)

    async def open_model_call(
        self, key: CallKey, request: ModelRequest, expense: Expense | None = None
    ) -> Opened:
        """Announce a model call; carries the recorded completion if there is one.

        With an `expense`, the call is announced only where the job's caps leave room for it: then
        it holds that much of them until it is back.

        Raises:
            BudgetHeld: it does not fit beside the calls under way, and was not announced.
            BudgetReached: it does not fit at all.
        """
        facts: dict[str, Value] = {
            "role": request.role,
            "model": request.model,
            "request": request.model_dump_json(exclude={"answer_schema"}),
            "unclear": _UNCLEAR,
        }
        waiting = self.unsettled()
        values = facts | waiting
        if expense is None:
            row = await self._opened(OPEN_MODEL, OPEN_MODEL_RECOVERED, key, values)
        else:
            values |= priced(expense)
            row = await self._opened(
                OPEN_MODEL_WITHIN, OPEN_MODEL_WITHIN_RECOVERED, key, values, after=LOCK
            )
        self.settled(waiting)
        if expense is not None:
            check_room(key, request, row, expense)
        return Opened(
            row_id=row.id,
            answer=_completion(row) if row.status == _DONE else None,
            refusal=row.error if row.status == _REFUSED else None,
        )

    async def first_words(
        self, job_id: str, task_id: str, attempt: int, role: str, part: str
    ) -> str | None:
        """The typed task with which this dialogue began, as JSON, if it has begun."""
        place: dict[str, Value] = {
            "job_id": job_id, "task_id": task_id, "attempt": attempt, "role": role,
            "part": part,
        }  # fmt: skip
        row = await self.db.row(FIRST_REQUEST, place)
        if row is None:
            return None
        turns = json.loads(row.request)["messages"]
        return next((str(turn["content"]) for turn in turns if turn["role"] == "user"), None)

    async def close_model_call(
        self, row_id: int, completion: Completion, cost: Decimal | None = None
    ) -> None:
        """Record what came back, with what it cost; None is: nobody knows."""
        paid = {"id": row_id, "cost": None if cost is None else str(cost)}
        await self._keep("model_answer", completion.model_dump() | paid)

    async def open_tool_call(self, key: CallKey, tool: str, arguments: dict[str, Any]) -> Opened:
        """Announce a tool call; carries the recorded answer if there is one."""
        request = json.dumps(arguments, ensure_ascii=False)
        facts: dict[str, Value] = {"tool": tool, "request": request, "unclear": _UNCLEAR}
        row = await self._opened(OPEN_TOOL, OPEN_TOOL_RECOVERED, key, facts)
        found = row.earlier_id and (row.earlier_id, recorded_answer(row.earlier_response, tool))
        return Opened(
            row_id=row.id,
            answer=recorded_answer(row.response, tool) if row.status == _DONE else None,
            is_unclear=row.status == "started" and row.error == _UNCLEAR,
            refusal=row.error if row.status == _REFUSED else None,
            earlier=found,
            number=1 + row.identical_before,
            failed_before=row.failed_before,
            failed_with=row.failed_with or "",
        )

    async def close_tool_call(
        self, row_id: int, answer: ToolAnswer, *, repeats: int | None = None
    ) -> None:
        """Record what came back; `repeats` names the earlier call whose answer was taken."""
        facts: dict[str, JsonValue] = {
            "response": _packed(answer), "is_cut": answer.is_cut, "repeats": repeats
        }  # fmt: skip
        if any(each.data for each in answer.figures):
            # Not along with what follows: that may be written more than once.
            values = _NONE_WAITS | {"tool_answer": as_json(facts | {"id": row_id})}
            await self._write(SETTLE_WITH_FIGURES, values | figure_values(row_id, answer.figures))
            return
        await self._keep("tool_answer", facts | {"id": row_id})

    async def fail_tool_call(
        self, row_id: int, error: str, *, may_repeat: bool, repeats: int | None = None
    ) -> None:
        """Record that the call came back with an error, and whether it may be sent again.

        `repeats` names the earlier identical call for whose sake it was not sent at all.
        """
        status = "failed" if may_repeat else _REFUSED
        facts: dict[str, Value] = {"error": error[:2000], "status": status, "repeats": repeats}
        await self._write(FAIL_TOOL, facts | {"id": row_id})

    async def withhold_tool_call(self, row_id: int, error: str) -> None:
        """Record that an announced call is never sent, because that would not be safe."""
        values: dict[str, Value] = {"id": row_id, "recovery": self.recovery}
        await self._write(WITHHOLD_TOOL, values | {"error": error[:2000]})

    async def fail_model_call(self, row_id: int, error: str, *, kind: str = "") -> None:
        """Record that the call came back with an error; it may be sent again."""
        await self._write(FAIL_MODEL, {"id": row_id, "error": error[:2000], "kind": kind})

    async def failing_for(self, row_id: int) -> timedelta:
        """Since when a model call fails with errors of one kind, whoever sent it."""
        row = await self.db.row(FAILING_FOR, {"id": row_id})
        return timedelta(seconds=row.failing_s)

    async def fall_back(
        self, key: CallKey, row_id: int, epoch: int, facts: dict[str, JsonValue]
    ) -> None:
        """Record that a failed model call is not sent again, because another model is asked.

        Its entry in the job's log, with these facts, is written once.

        Raises:
            StaleEpoch: a newer run has taken over.
        """
        of_call = (llm_calls.c.id == row_id, llm_calls.c.status == "failed")
        async with self.db.job(key.job_id, epoch) as write:
            statement = update(llm_calls).where(*of_call).values(status=_REFUSED)
            if (await write.connection.execute(statement)).rowcount:
                write.event("model.fell_back", key.task_id, **facts)

    async def models_beside(self, job_id: str) -> tuple[str, ...]:
        """The models that answered the job's calls, if one of them stood in; else none."""
        row = await self.db.row(MODELS_BESIDE, {"job_id": job_id})
        return tuple(row.models or ())

    async def write_at_once(self) -> None:
        """Let no answer wait from here on, because calls run side by side."""
        self.may_wait = False
        await self.settle()

    async def settle(self) -> None:
        """Write the answers that wait, if any do."""
        if self._waiting:
            waiting = self.unsettled()
            await self._write(SETTLE, waiting)
            self.settled(waiting)

    def unsettled(self) -> dict[str, Value]:
        """The values of a statement with `SETTLED` in it."""
        return _NONE_WAITS | self._waiting

    def settled(self, written: Mapping[str, Value]) -> None:
        """Say that a statement with `SETTLED` in it and these values was committed."""
        for kind in [kind for kind, answer in self._waiting.items() if written[kind] is answer]:
            del self._waiting[kind]

    async def _opened(
        self,
        statement: LiteralString,
        under_recovery: LiteralString,
        key: CallKey,
        facts: dict[str, Value],
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
            await self._write(SETTLE, _NONE_WAITS | {kind: as_json(answer)})
            return
        while kind in self._waiting:
            # There is room for one answer of a kind: the second would take the first one's place.
            await self.settle()
        self._waiting[kind] = as_json(answer)

    async def _write(self, statement: LiteralString, values: Mapping[str, Value]) -> None:
        """Write what came back, however long PostgreSQL is away."""
        await until_back(lambda: self.db.row(statement, values))


def _completion(row: Any) -> Completion:  # noqa: ANN401 - a named tuple of columns
    return Completion(
        text=row.response or "",
        model=row.model,
        finish=row.finish or "stop",
        refusal=row.refusal,
        **{name: getattr(row, name) for name in _USAGE},
    )


def _packed(answer: ToolAnswer) -> str:
    """The answer as JSON; a passage that is the whole text is written without it."""
    is_plain = len(answer.passages) == 1 and answer.passages[0].text == answer.text
    left_out: dict[str, Any] = {} if answer.figures else {"figures": True}
    if is_plain:
        left_out["passages"] = {0: {"text"}}
    return answer.model_dump_json(exclude=left_out)


def recorded_answer(body: str, tool: str) -> ToolAnswer:
    """The answer of a call of this tool as the ledger has it."""
    content = json.loads(body)
    text = content["text"]
    for passage in content.get("passages", ()):
        passage.setdefault("text", text)
    answer = ToolAnswer.model_validate(content)
    if "passages" in content or not text:
        return answer
    # Earlier releases left the passage of a whole answer out.
    whole = ReadPassage(address=f"tool:{tool}", text=text, end=len(text))
    return answer.model_copy(update={"passages": (whole,)})
