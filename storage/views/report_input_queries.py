"""Load what the report writer needs: verdicts, open questions and unrecorded calls."""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Table, and_, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from holdfast.models.calls.call_status import CallStatus
from holdfast.models.plans.research_plan import TaskStatus
from holdfast.models.questions.user_questions import QuestionStatus
from holdfast.models.reports.verification_summary import VerificationSummary
from holdfast.models.verification.verification_verdicts import Verification
from holdfast.models.wire.call_places import comparison_label
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.call_tables import model_calls, tool_calls
from holdfast.storage.core.tables.plan_tables import tasks
from holdfast.storage.core.tables.question_tables import questions
from holdfast.storage.core.tables.verification_tables import stop_log, verifications

_ENDED_STATUSES = [status.value for status in TaskStatus if status.is_final]


async def verification_summary_of(db: Database, job_id: str) -> VerificationSummary | None:
    """Return the last verdict on each result; None without any verification."""
    place = and_(tasks.c.job_id == verifications.c.job_id, tasks.c.id == verifications.c.task_id)
    by_round = (
        select(verifications)
        .join(tasks, place)
        .where(verifications.c.job_id == job_id)
        .where(tasks.c.status != TaskStatus.SUPERSEDED.value)
        .order_by(tasks.c.position, verifications.c.round)
    )
    last_round = (
        select(stop_log)
        .where(stop_log.c.job_id == job_id)
        .order_by(stop_log.c.round.desc())
        .limit(1)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(by_round)).mappings().all()
        last = (await connection.execute(last_round)).mappings().one_or_none()
    if not rows and last is None:
        return None
    latest = {row["task_id"]: row for row in rows}
    verdicts = tuple(_verdict(row) for row in latest.values())
    if last is None:
        return VerificationSummary(verdicts=verdicts, total=len(verdicts))
    return VerificationSummary(
        rounds=last["round"],
        complete=last["complete"],
        total=last["total"],
        confidence=last["confidence"],
        stop=last["fired"],
        verdicts=verdicts,
    )


def _verdict(row: Any) -> Verification:  # noqa: ANN401 - a row mapping
    return Verification.model_validate({name: row[name] for name in Verification.model_fields})


async def open_question_numbers(db: Database, job_id: str) -> tuple[int, ...]:
    """Return the numbers of the open questions."""
    query = (
        select(questions.c.id)
        .where(questions.c.job_id == job_id, questions.c.status == QuestionStatus.OPEN.value)
        .order_by(questions.c.id)
    )
    async with db.reading() as connection:
        return tuple((await connection.execute(query)).scalars())


async def searches_of(db: Database, job_id: str) -> tuple[str, ...]:
    """Return what the job's tools were asked for by `query` or `queries`, each once, in order."""
    query = (
        select(tool_calls.c.request).where(tool_calls.c.job_id == job_id).order_by(tool_calls.c.id)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).scalars().all()
    asked = [text for row in rows for text in _search_texts(json.loads(row))]
    return tuple(dict.fromkeys(asked))


def _search_texts(arguments: Mapping[str, Any]) -> list[str]:
    queries = arguments.get("queries")
    listed = queries if isinstance(queries, list) else []
    return [each for each in (arguments.get("query"), *listed) if isinstance(each, str) and each]


async def unrecorded_calls(db: Database, job_id: str, besides: str) -> tuple[str, ...]:
    """Return the calls without a recorded outcome, except those of the task `besides`.

    A call of an ended task is left out: nobody waits for its outcome, and it is marked as unknown
    when the job ends.
    """
    async with db.reading() as connection:
        model = await _unrecorded(connection, model_calls, "role", job_id, besides)
        tool = await _unrecorded(connection, tool_calls, "tool", job_id, besides)
    return (*model, *tool)


async def _unrecorded(
    connection: AsyncConnection, table: Table, name: str, job_id: str, besides: str
) -> list[str]:
    of_task = and_(tasks.c.job_id == table.c.job_id, tasks.c.id == table.c.task_id)
    query = (
        select(table.c[name].label("name"), table.c.task_id)
        .select_from(table.outerjoin(tasks, of_task))
        .where(table.c.job_id == job_id, table.c.task_id != besides)
        .where(table.c.status == CallStatus.STARTED.value)
        # A comparison is made for a reader of an ended job, and never for the job.
        .where(table.c.task_id.not_like(comparison_label("%")))
        .where(or_(tasks.c.status.is_(None), tasks.c.status.not_in(_ENDED_STATUSES)))
        .order_by(table.c.id)
    )
    rows = (await connection.execute(query)).all()
    return [f"{row.name} of {row.task_id}" if row.task_id else str(row.name) for row in rows]
