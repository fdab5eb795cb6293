"""Ask a person about a result that the verifier cannot judge, and load the rulings."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import select

from holdfast.models.frozen_model import Frozen
from holdfast.models.questions.user_questions import OpenQuestion, QuestionKind, QuestionStatus
from holdfast.models.verification.verification_verdicts import Verification
from holdfast.models.wire import stored_keys
from holdfast.storage.core.database import Database, JobTransaction
from holdfast.storage.core.tables.question_tables import questions
from holdfast.storage.questions.question_rows import NewQuestion, open_question

ACCEPT, RETRY = "accept", "retry"


class Ruling(Frozen):
    """A person's answer about one attempt at a task."""

    attempt: int
    answer: str

    @property
    def accepts(self) -> bool:
        """True if the person accepts the result."""
        return self.answer == ACCEPT

    @property
    def hint(self) -> str:
        """Return the free text of the answer, as a hint for the next attempt."""
        return "" if self.answer in (ACCEPT, RETRY) else self.answer


async def ask_escalation(
    write: JobTransaction, verdict: Verification, sub_question: str, deadline: datetime
) -> OpenQuestion | None:
    """Ask what to do with a result; the default is a retry. None: it was answered before."""
    lacks = "; ".join(verdict.missing) or "nothing that it names"
    text = (
        f"The verifier cannot judge {verdict.task_id}: {sub_question}\n"
        f"Completeness {verdict.completeness:.2f}; missing: {lacks}.\n"
        f"Answer `{ACCEPT}` to let it count as it is, `{RETRY}` to run it again, or say "
        "what the next attempt should do differently."
    )
    new = NewQuestion(
        key=stored_keys.escalation_question(verdict.task_id, verdict.attempt),
        kind=QuestionKind.ESCALATION,
        task_id=verdict.task_id,
        text=text,
        choices=(ACCEPT, RETRY),
        default=RETRY,
        deadline=deadline,
    )
    return await open_question(write, new)


async def rulings_of(db: Database, job_id: str) -> Mapping[str, Ruling]:
    """Return the last answer about each escalated task."""
    query = (
        select(questions.c.task_id, questions.c.key, questions.c.answer)
        .where(questions.c.job_id == job_id)
        .where(questions.c.status == QuestionStatus.ANSWERED.value)
        .where(questions.c.kind == QuestionKind.ESCALATION.value)
        .order_by(questions.c.id)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).all()
    return {
        row.task_id: Ruling(
            attempt=stored_keys.escalated_attempt(row.key), answer=(row.answer or "").strip()
        )
        for row in rows
    }
