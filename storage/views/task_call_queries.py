"""Read what the tools were asked for a task, and what they answered."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic import JsonValue
from sqlalchemy import select

from holdfast.models.calls.tool_signatures import ToolAnswer
from holdfast.models.frozen_model import Frozen
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.call_tables import tool_calls
from holdfast.storage.ledger.recorded_answers import recorded_answer


class ToolUse(Frozen):
    """One call of a tool: what it was asked, and what it answered."""

    task: str
    attempt: int
    tool: str
    arguments: dict[str, JsonValue]
    status: str
    error: str | None
    sends: int
    """Times the request was sent."""
    reused: int
    """Times the recorded answer was used in place of a new call."""
    started_at: datetime
    answer: ToolAnswer
    """Empty if there is none."""


async def tool_uses_of(
    db: Database, job_id: str, task_ids: Sequence[str], limit: int
) -> tuple[ToolUse, ...]:
    """Return the first calls of tools for these tasks, the oldest first."""
    query = (
        select(tool_calls)
        .where(tool_calls.c.job_id == job_id, tool_calls.c.task_id.in_(task_ids))
        .order_by(tool_calls.c.id)
        .limit(limit)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).mappings().all()
    return tuple(_tool_use(row) for row in rows)


def _tool_use(row: Any) -> ToolUse:  # noqa: ANN401 - a row mapping
    return ToolUse(
        task=row["task_id"],
        arguments=json.loads(row["request"]),
        answer=recorded_answer(row["response"], row["tool"]),
        **{name: row[name] for name in ("attempt", "tool", "status", "error", "sends", "reused")},
        started_at=row["started_at"],
    )
