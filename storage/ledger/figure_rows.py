"""Store the figures of a tool answer with the answer; read figures for a report or by hash."""

import base64
from collections.abc import Iterable
from typing import LiteralString

from pydantic import JsonValue
from sqlalchemy import RowMapping, and_, func, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.orm import aliased

from holdfast.models.calls.call_status import CallStatus
from holdfast.models.calls.tool_figures import FigureForm, ReportFigure, StoredFigure, ToolFigure
from holdfast.models.plans.research_plan import TaskStatus
from holdfast.models.text.storable_text import storable_json
from holdfast.storage.core.database import Database
from holdfast.storage.core.hot_path_pool import StatementValue
from holdfast.storage.core.tables.call_tables import figures, tool_calls
from holdfast.storage.core.tables.plan_tables import tasks
from holdfast.storage.ledger.call_statements import SETTLED

_ID_CHARS = 12
_DISCARDED = [status.value for status in TaskStatus if status.is_discarded]

# In the transaction of the answer: a recorded answer has its figures.
SETTLE_WITH_FIGURES: LiteralString = (
    "with "  # noqa: S608 - constants, both
    + SETTLED
    + """,
drawn as (
    insert into figures (job_id, call_id, sha256, media_type, title, caption, data)
    select called.job_id, called.id, f.sha256, f.media_type, f.title, f.caption,
        decode(f.data, 'base64')
    from tool_calls as called, jsonb_to_recordset(%(figures)s::jsonb) as f(
        sha256 text, media_type text, title text, caption text, data text)
    where called.id = %(call)s and called.status <> 'done'
    on conflict do nothing)
select 1
"""
)


def figure_values(call_id: int, drawn: Iterable[ToolFigure]) -> dict[str, StatementValue]:
    """Return the figure values of `SETTLE_WITH_FIGURES`."""
    rows: list[JsonValue] = [
        each.model_dump() | {"data": base64.b64encode(each.data).decode("ascii")} for each in drawn
    ]
    return {"call": call_id, "figures": storable_json(rows)}


async def figures_of(connection: AsyncConnection, job_id: str) -> tuple[ReportFigure, ...]:
    """Return the figures of the job's finished tasks in order of the plan, each once."""
    parent, calls = aliased(tasks), tool_calls
    of_task = and_(tasks.c.job_id == calls.c.job_id, tasks.c.id == calls.c.task_id)
    of_parent = and_(parent.c.job_id == tasks.c.job_id, parent.c.id == tasks.c.parent)
    # A reused answer has its figures at the earlier call.
    given = figures.c.call_id == func.coalesce(calls.c.repeated_call_id, calls.c.id)
    query = (
        select(
            figures.c.call_id,
            figures.c.sha256,
            figures.c.media_type,
            figures.c.title,
            figures.c.caption,
            calls.c.task_id,
            calls.c.tool,
        )
        .join(calls, and_(given, calls.c.job_id == figures.c.job_id))
        .join(tasks, of_task)
        .outerjoin(parent, of_parent)
        .where(figures.c.job_id == job_id, calls.c.status == CallStatus.DONE.value)
        .where(tasks.c.status == TaskStatus.DONE.value, tasks.c.attempt == calls.c.attempt)
        .where(or_(parent.c.status.is_(None), parent.c.status.not_in(_DISCARDED)))
        .order_by(tasks.c.position, calls.c.id, figures.c.id)
    )
    return _report_figures((await connection.execute(query)).mappings().all())


def _report_figures(rows: Iterable[RowMapping]) -> tuple[ReportFigure, ...]:
    by_title: dict[tuple[int, str], list[RowMapping]] = {}
    seen: set[tuple[int, str, str]] = set()
    for row in rows:
        one = (row["call_id"], row["title"], row["sha256"])
        if one not in seen:
            seen.add(one)
            by_title.setdefault(one[:2], []).append(row)
    return tuple(_figure(forms) for forms in by_title.values())


def _figure(forms: list[RowMapping]) -> ReportFigure:
    first = forms[0]
    return ReportFigure(
        id=first["sha256"][:_ID_CHARS],
        title=first["title"],
        caption=first["caption"],
        task=first["task_id"],
        tool=first["tool"],
        forms=tuple(
            FigureForm(media_type=each["media_type"], sha256=each["sha256"]) for each in forms
        ),
    )


async def load_figure(db: Database, job_id: str, sha256: str) -> StoredFigure | None:
    """Return the job's figure whose bytes have this hash, or None."""
    query = (
        select(figures.c.media_type, figures.c.title, figures.c.data, tool_calls.c.tool)
        .join(tool_calls, tool_calls.c.id == figures.c.call_id)
        .where(figures.c.job_id == job_id, figures.c.sha256 == sha256)
        .order_by(figures.c.id)
        .limit(1)
    )
    async with db.reading() as connection:
        row = (await connection.execute(query)).mappings().one_or_none()
    return None if row is None else StoredFigure.model_validate(dict(row))
