"""The call ledger: a recorded answer is used, and nothing that came back is paid for twice.

Before a call leaves, its row says `started`, committed. An answer is committed before the next
call leaves: alone, or with what directly follows it. So a worker killed at any point loses at most
the calls in flight, and PostgreSQL commits once where one call follows another.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, LiteralString

from models.base import Frozen
from models.calls import CallKey
from models.completions import Completion, ModelRequest
from models.tools import ReadPassage, ToolAnswer
from storage.constant import Value, as_json
from storage.database import Database

_DONE = "done"
_UNCLEAR = "it was sent before, and no answer came"
_USAGE = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "is_estimated")

SETTLED: LiteralString = """
tool_settled as (
    update tool_calls set response = a.response, is_cut = a.is_cut, repeats = a.repeats,
        status = 'done', finished_at = now(), error = null
    from jsonb_to_record(%(tool_answer)s::jsonb) as a(
        id bigint, response text, is_cut boolean, repeats bigint)
    where tool_calls.id = a.id),
model_settled as (
    update llm_calls set response = a.text, model = a.model, finish = a.finish,
        refusal = a.refusal, input_tokens = a.input_tokens, output_tokens = a.output_tokens,
        cached_tokens = a.cached_tokens, reasoning_tokens = a.reasoning_tokens,
        is_estimated = a.is_estimated, status = 'done', finished_at = now(), error = null
    from jsonb_to_record(%(model_answer)s::jsonb) as a(
        id bigint, text text, model text, finish text, refusal text, input_tokens bigint,
        output_tokens bigint, cached_tokens bigint, reasoning_tokens bigint, is_estimated boolean)
    where llm_calls.id = a.id)
"""
"""Part of a statement: what `Ledger.unsettled` gives is written along with it."""

_SETTLE: LiteralString = "with " + SETTLED + " select 1"

_OPEN_MODEL: LiteralString = (
    "with "
    + SETTLED
    + """
insert into llm_calls
    (job_id, task_id, attempt, part, request_hash, role, model, request, status)
values (%(job_id)s, %(task_id)s, %(attempt)s, %(part)s, %(request_hash)s, %(role)s, %(model)s,
    %(request)s, 'started')
on conflict (job_id, task_id, attempt, role, part, request_hash) do update set
    reused = llm_calls.reused + case when llm_calls.status = 'done' then 1 else 0 end,
    sends = llm_calls.sends + case when llm_calls.status = 'done' then 0 else 1 end,
    status = case when llm_calls.status = 'done' then 'done' else 'started' end,
    error = case when llm_calls.status = 'started' then %(unclear)s else llm_calls.error end
returning id, status, response, model, finish, refusal, input_tokens, output_tokens,
    cached_tokens, reasoning_tokens, is_estimated
"""
)

_OPEN_TOOL: LiteralString = """
with earlier as (
    select id, response from tool_calls
    where job_id = %(job_id)s and request_hash = %(request_hash)s and tool = %(tool)s
        and status = 'done' and repeats is null
    order by id limit 1),
opened as (
    insert into tool_calls (job_id, task_id, attempt, part, request_hash, tool, request, status)
    values (%(job_id)s, %(task_id)s, %(attempt)s, %(part)s, %(request_hash)s, %(tool)s,
        %(request)s, 'started')
    on conflict (job_id, task_id, attempt, tool, part, request_hash) do update set
        reused = tool_calls.reused + case when tool_calls.status = 'done' then 1 else 0 end,
        sends = tool_calls.sends
            + case when tool_calls.status in ('done', 'refused') then 0 else 1 end,
        status = case when tool_calls.status in ('done', 'refused') then tool_calls.status
            else 'started' end,
        error = case when tool_calls.status = 'started' then %(unclear)s else tool_calls.error end
    returning id, status, response, error)
select opened.*, earlier.id as earlier_id, earlier.response as earlier_response
from opened left join earlier on true
"""

_FAIL_TOOL: LiteralString = """
update tool_calls set status = %(status)s, error = %(error)s, finished_at = now()
where id = %(id)s
returning id
"""
_FAIL_MODEL: LiteralString = """
update llm_calls set status = 'failed', error = %(error)s, finished_at = now() where id = %(id)s
returning id
"""


class Opened(Frozen):
    """A row of the ledger, and the answer when the call came back before."""

    row_id: int
    answer: Completion | ToolAnswer | None = None
    is_unclear: bool = False
    """Whether it left before and nobody knows what became of it."""
    refusal: str | None = None
    """The error with which it came back before, when sending it again cannot help."""
    earlier: tuple[int, ToolAnswer] | None = None
    """The job's first call of the same tool with the same arguments, and its answer."""


@dataclass
class Ledger:
    """The calls of one activity.

    Where calls follow one another an answer may wait for the statement that directly follows, be
    it the next call's or the outcome's; who lets answers wait settles them in a `finally`.
    """

    db: Database
    may_wait: bool = False
    _waiting: dict[str, Value] = field(default_factory=dict, init=False)

    async def open_model_call(self, key: CallKey, request: ModelRequest) -> Opened:
        """Announce a model call; carries the recorded completion if there is one."""
        facts = {
            "role": request.role,
            "model": request.model,
            "request": request.model_dump_json(exclude={"answer_schema"}),
            "unclear": _UNCLEAR,
        }
        waiting = self.unsettled()
        row = await self.db.row(_OPEN_MODEL, key.model_dump() | facts | waiting)
        self.settled(waiting)
        return Opened(row_id=row.id, answer=_completion(row) if row.status == _DONE else None)

    async def close_model_call(self, row_id: int, completion: Completion) -> None:
        """Record what came back, with what it cost."""
        await self._keep("model_answer", completion.model_dump() | {"id": row_id})

    async def open_tool_call(self, key: CallKey, tool: str, arguments: dict[str, Any]) -> Opened:
        """Announce a tool call; carries the recorded answer if there is one."""
        request = json.dumps(arguments, ensure_ascii=False)
        facts = {"tool": tool, "request": request, "unclear": _UNCLEAR}
        row = await self.db.row(_OPEN_TOOL, key.model_dump() | facts)
        found = row.earlier_id and (row.earlier_id, _unpacked(row.earlier_response, tool))
        return Opened(
            row_id=row.id,
            answer=_unpacked(row.response, tool) if row.status == _DONE else None,
            is_unclear=row.status == "started" and row.error == _UNCLEAR,
            refusal=row.error if row.status == "refused" else None,
            earlier=found,
        )

    async def close_tool_call(
        self, row_id: int, answer: ToolAnswer, *, repeats: int | None = None
    ) -> None:
        """Record what came back; `repeats` names the earlier call whose answer was taken."""
        facts = {"response": _packed(answer), "is_cut": answer.is_cut, "repeats": repeats}
        await self._keep("tool_answer", facts | {"id": row_id})

    async def fail_tool_call(self, row_id: int, error: str, *, may_repeat: bool) -> None:
        """Record that the call came back with an error, and whether it may be sent again."""
        status = "failed" if may_repeat else "refused"
        await self.db.row(_FAIL_TOOL, {"id": row_id, "error": error[:2000], "status": status})

    async def fail_model_call(self, row_id: int, error: str) -> None:
        """Record that the call came back with an error; it may be sent again."""
        await self.db.row(_FAIL_MODEL, {"id": row_id, "error": error[:2000]})

    async def write_at_once(self) -> None:
        """Let no answer wait from here on, because calls run side by side."""
        self.may_wait = False
        await self.settle()

    async def settle(self) -> None:
        """Write the answers that wait, if any do."""
        if self._waiting:
            waiting = self.unsettled()
            await self.db.row(_SETTLE, waiting)
            self.settled(waiting)

    def unsettled(self) -> dict[str, Value]:
        """The values of a statement with `SETTLED` in it."""
        return {"tool_answer": None, "model_answer": None} | self._waiting

    def settled(self, written: Mapping[str, Value]) -> None:
        """Say that a statement with `SETTLED` in it and these values was committed."""
        for kind in [kind for kind, answer in self._waiting.items() if written[kind] is answer]:
            del self._waiting[kind]

    async def _keep(self, kind: str, answer: dict[str, Any]) -> None:
        while self.may_wait and kind in self._waiting:
            # There is room for one answer of a kind: the second would take the first one's place.
            await self.settle()
        self._waiting[kind] = as_json(answer)
        if not self.may_wait:
            await self.settle()


def _completion(row: Any) -> Completion:  # noqa: ANN401 - a named tuple of columns
    return Completion(
        text=row.response or "",
        model=row.model,
        finish=row.finish or "stop",
        refusal=row.refusal,
        **{name: getattr(row, name) for name in _USAGE},
    )


def _packed(answer: ToolAnswer) -> str:
    """The answer as JSON; a passage that repeats the whole text is left out and put back."""
    is_plain = len(answer.passages) == 1 and answer.passages[0].text == answer.text
    return answer.model_dump_json(exclude={"passages"} if is_plain else None)


def _unpacked(body: str, tool: str) -> ToolAnswer:
    answer = ToolAnswer.model_validate_json(body)
    if answer.passages or not answer.text:
        return answer
    whole = ReadPassage(address=f"tool:{tool}", text=answer.text, end=len(answer.text))
    return answer.model_copy(update={"passages": (whole,)})
