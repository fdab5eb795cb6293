"""Ask and withdraw the question about a job's budget; at most one is open per job."""

from collections.abc import Sequence

from sqlalchemy import func, select, update

from holdfast.models.questions.user_questions import OpenQuestion, QuestionKind, QuestionStatus
from holdfast.models.wire import stored_keys
from holdfast.storage.core.database import JobTransaction
from holdfast.storage.core.tables.question_tables import questions
from holdfast.storage.questions.question_rows import NewQuestion, open_question

_BUDGET = questions.c.kind == QuestionKind.BUDGET.value
_IS_OPEN = questions.c.status == QuestionStatus.OPEN.value


async def ask_budget_question(
    write: JobTransaction, key: str, text: str, choices: Sequence[str], default: str
) -> OpenQuestion:
    """Open the budget question, which has no deadline.

    Returns the open question if there is one; several calls may reach the cap at once.
    """
    is_open = (questions.c.job_id == write.job_id) & _BUDGET & _IS_OPEN
    there = await write.connection.scalar(select(func.max(questions.c.id)).where(is_open))
    if there is not None:
        return OpenQuestion(id=there, kind=QuestionKind.BUDGET)
    new = NewQuestion(
        key=stored_keys.budget_question(key),
        kind=QuestionKind.BUDGET,
        text=text,
        choices=tuple(choices),
        default=default,
    )
    asked = await open_question(write, new)
    assert asked is not None, "a pause has a key of its own"
    return asked


async def withdraw_budget_questions(write: JobTransaction) -> None:
    """Withdraw the budget question, because the job was resumed."""
    await write.connection.execute(
        update(questions)
        .where(questions.c.job_id == write.job_id, _BUDGET, _IS_OPEN)
        .values(status=QuestionStatus.WITHDRAWN.value, answered_at=func.now())
    )
