"""The question about a job's budget, as PostgreSQL keeps it: one is open at a time."""

from collections.abc import Sequence

from sqlalchemy import func, select, update

from models.questions import QuestionKind
from models.tables import questions
from storage.database import JobWrite
from storage.questions import NewQuestion, open_question

_BUDGET = questions.c.kind == QuestionKind.BUDGET.value


async def ask_about_budget(
    write: JobWrite, key: str, text: str, choices: Sequence[str], default: str
) -> int:
    """Open the question, which waits for somebody without end; gives its number.

    Where one is open already, that one; several calls may meet the cap at once.
    """
    is_open = (questions.c.job_id == write.job_id) & _BUDGET & (questions.c.status == "open")
    there = await write.connection.scalar(select(func.max(questions.c.id)).where(is_open))
    if there is not None:
        return int(there)
    new = NewQuestion(
        key=f"budget:{key}", kind=QuestionKind.BUDGET, text=text, choices=tuple(choices),
        default=default,
    )  # fmt: skip
    asked = await open_question(write, new)
    assert asked is not None, "a pause has a key of its own"
    return asked.id


async def withdraw_budget_questions(write: JobWrite) -> None:
    """Let nobody answer what is settled: the job was resumed, perhaps with a higher cap."""
    await write.connection.execute(
        update(questions)
        .where(questions.c.job_id == write.job_id, _BUDGET, questions.c.status == "open")
        .values(status="withdrawn", answered_at=func.now())
    )
