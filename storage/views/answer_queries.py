"""Read how sure the answers of jobs are, and how many questions of the jobs wait for a person."""

from collections.abc import Collection

from sqlalchemy import Float, cast, func, select

from holdfast.models.frozen_model import Frozen
from holdfast.models.questions.user_questions import QuestionStatus
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.job_tables import jobs, reports
from holdfast.storage.core.tables.question_tables import questions


class AnswerState(Frozen):
    """What a list says of a job besides its status."""

    confidence: float | None = None
    """The confidence of the answer, 0 to 1; None without a report, or if it is unknown."""
    open_questions: int = 0
    """Questions that wait for a person."""


async def load_answer_states(db: Database, job_ids: Collection[str]) -> dict[str, AnswerState]:
    """Return the state of each of the jobs' answers, by the job's id."""
    waiting = (
        select(func.count())
        .where(questions.c.job_id == jobs.c.id, questions.c.status == QuestionStatus.OPEN.value)
        .scalar_subquery()
    )
    confidence = cast(reports.c.body["confidence"].astext, Float)
    query = (
        select(jobs.c.id, confidence.label("confidence"), waiting.label("open_questions"))
        .join_from(jobs, reports, reports.c.job_id == jobs.c.id, isouter=True)
        .where(jobs.c.id.in_(job_ids))
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).all()
    return {
        row.id: AnswerState(confidence=row.confidence, open_questions=row.open_questions)
        for row in rows
    }
