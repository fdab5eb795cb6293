"""What the verifier cannot judge by itself: asked of a person, and what that person said."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import select

from models.base import Frozen
from models.questions import OpenQuestion, QuestionKind
from models.tables import questions
from models.verification import Verification
from storage.database import Database, JobWrite
from storage.questions import NewQuestion, open_question

ACCEPT, RETRY = "accept", "retry"
_PREFIX = "escalate:"


class Ruling(Frozen):
    """What a person said about one attempt at a task."""

    attempt: int
    answer: str

    @property
    def accepts(self) -> bool:
        """Whether the result counts as it is."""
        return self.answer == ACCEPT

    @property
    def hint(self) -> str:
        """Free words are for the next attempt."""
        return "" if self.answer in (ACCEPT, RETRY) else self.answer


async def escalate(
    write: JobWrite, verdict: Verification, sub_question: str, deadline: datetime
) -> OpenQuestion | None:
    """Ask what is to become of a result; silence has it worked again. None: it was said before."""
    lacks = "; ".join(verdict.missing) or "nothing that it names"
    text = (
        f"The verifier cannot judge {verdict.task_id}: {sub_question}\n"
        f"Completeness {verdict.completeness:.2f}; missing: {lacks}.\n"
        f"Answer `{ACCEPT}` to let it count as it is, `{RETRY}` to have it worked again, or say "
        "what the next attempt should heed."
    )
    new = NewQuestion(
        key=f"{_PREFIX}{verdict.task_id}#{verdict.attempt}",
        kind=QuestionKind.ESCALATION,
        task_id=verdict.task_id,
        text=text,
        choices=(ACCEPT, RETRY),
        default=RETRY,
        deadline=deadline,
    )
    return await open_question(write, new)


async def rulings_of(db: Database, job_id: str) -> Mapping[str, Ruling]:
    """The last answer about each task that was escalated."""
    query = (
        select(questions.c.task_id, questions.c.key, questions.c.answer)
        .where(questions.c.job_id == job_id, questions.c.status == "answered")
        .where(questions.c.kind == QuestionKind.ESCALATION.value)
        .order_by(questions.c.id)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).all()
    return {
        row.task_id: Ruling(
            attempt=int(row.key.rpartition("#")[2]), answer=(row.answer or "").strip()
        )
        for row in rows
    }
