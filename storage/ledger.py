"""The call ledger: a recorded answer is used, and nothing that came back is paid for twice.

Before a call leaves, its row says `started`; the moment an answer is there it is written, each in
a transaction of its own. So a worker killed at any point loses at most the calls in flight.
"""

import json
from typing import Any

from sqlalchemy import Table, case, func, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from models.base import Frozen
from models.calls import CallKey
from models.completions import Completion, ModelRequest
from models.tables import llm_calls, tool_calls
from models.tools import ReadPassage, ToolAnswer
from planning.values import storable_text
from storage.database import Database

_DONE = "done"
_UNCLEAR = "it was sent before, and no answer came"
_USAGE = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "is_estimated")


class Opened(Frozen):
    """A row of the ledger, and the answer when the call came back before."""

    row_id: int
    answer: Completion | ToolAnswer | None = None
    is_unclear: bool = False
    """Whether it left before and nobody knows what became of it."""


async def open_model_call(db: Database, key: CallKey, request: ModelRequest) -> Opened:
    """Announce a model call; carries the recorded completion if there is one."""
    body = request.model_dump_json(exclude={"answer_schema"})
    facts = {"role": request.role, "model": request.model, "request": body}
    unique = ["job_id", "task_id", "attempt", "role", "part", "request_hash"]
    row = await _announce(db, llm_calls, unique, key.model_dump() | facts)
    if row["status"] != _DONE:
        return Opened(row_id=row["id"])
    usage = {name: row[name] for name in _USAGE}
    completion = Completion(
        text=row["response"] or "",
        model=row["model"],
        finish=row["finish"] or "stop",
        refusal=row["refusal"],
        **usage,
    )
    return Opened(row_id=row["id"], answer=completion)


async def close_model_call(db: Database, row_id: int, completion: Completion) -> None:
    """Record what came back, with what it cost."""
    content = completion.model_dump()
    values = {name: content[name] for name in (*_USAGE, "finish", "refusal", "model")}
    await _close(db, llm_calls, row_id, values | {"response": storable_text(completion.text)})


async def open_tool_call(
    db: Database, key: CallKey, tool: str, arguments: dict[str, Any]
) -> Opened:
    """Announce a tool call; carries the recorded answer if there is one."""
    facts = {"tool": tool, "request": storable_text(json.dumps(arguments, ensure_ascii=False))}
    unique = ["job_id", "task_id", "attempt", "tool", "part", "request_hash"]
    row = await _announce(db, tool_calls, unique, key.model_dump() | facts)
    if row["status"] != _DONE:
        return Opened(row_id=row["id"], is_unclear=row["error"] == _UNCLEAR)
    return Opened(row_id=row["id"], answer=_unpacked(row["response"], tool))


async def close_tool_call(
    db: Database, row_id: int, answer: ToolAnswer, *, repeats: int | None = None
) -> None:
    """Record what came back; `repeats` names the earlier call whose answer was taken."""
    values = {"response": _packed(answer), "is_cut": answer.is_cut, "repeats": repeats}
    await _close(db, tool_calls, row_id, values)


async def fail_call(db: Database, row_id: int, *, is_model: bool, error: str) -> None:
    """Record that the call came back with an error; it may be sent again."""
    table = llm_calls if is_model else tool_calls
    values = {"status": "failed", "error": storable_text(error)[:2000], "finished_at": func.now()}
    async with db.writing() as connection:
        await connection.execute(update(table).where(table.c.id == row_id).values(values))


async def same_tool_call(db: Database, key: CallKey, tool: str) -> tuple[int, ToolAnswer] | None:
    """An earlier call of this job with the same tool and arguments, and its answer."""
    query = (
        select(tool_calls.c.id, tool_calls.c.response)
        .where(
            tool_calls.c.job_id == key.job_id,
            tool_calls.c.request_hash == key.request_hash,
            tool_calls.c.tool == tool,
            tool_calls.c.status == _DONE,
            tool_calls.c.repeats.is_(None),
        )
        .order_by(tool_calls.c.id)
        .limit(1)
    )
    async with db.reading() as connection:
        row = (await connection.execute(query)).one_or_none()
    return None if row is None else (row.id, _unpacked(row.response, tool))


async def _announce(
    db: Database, table: Table, unique: list[str], values: dict[str, Any]
) -> dict[str, Any]:
    """Insert the row, or count a reuse of a finished one, or one more send of an open one."""
    is_done = table.c.status == _DONE
    statement = (
        upsert(table)
        .values(values | {"status": "started"})
        .on_conflict_do_update(
            index_elements=unique,
            set_={
                "reused": table.c.reused + case((is_done, 1), else_=0),
                "sends": table.c.sends + case((is_done, 0), else_=1),
                "status": case((is_done, _DONE), else_="started"),
                "error": case((table.c.status == "started", _UNCLEAR), else_=table.c.error),
            },
        )
        .returning(table)
    )
    async with db.writing() as connection:
        return dict((await connection.execute(statement)).mappings().one())


async def _close(db: Database, table: Table, row_id: int, values: dict[str, Any]) -> None:
    done = {"status": _DONE, "finished_at": func.now(), "error": None}
    async with db.writing() as connection:
        await connection.execute(update(table).where(table.c.id == row_id).values(values | done))


def _packed(answer: ToolAnswer) -> str:
    """The answer as JSON; a passage that repeats the whole text is left out and put back."""
    is_plain = len(answer.passages) == 1 and answer.passages[0].text == answer.text
    return storable_text(answer.model_dump_json(exclude={"passages"} if is_plain else None))


def _unpacked(body: str, tool: str) -> ToolAnswer:
    answer = ToolAnswer.model_validate_json(body)
    if answer.passages or not answer.text:
        return answer
    whole = ReadPassage(address=f"tool:{tool}", text=answer.text, end=len(answer.text))
    return answer.model_copy(update={"passages": (whole,)})
