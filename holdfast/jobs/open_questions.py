"""Find the open questions of a job, each with the command that answers the question."""

import asyncio

from holdfast.client import Holdfast
from holdfast.models.errors import BadInput
from holdfast.models.questions.user_questions import QuestionKind, UserQuestion
from holdfast.models.views.status_views import WaitingQuestion
from holdfast.storage.core.database import Database
from holdfast.storage.jobs import job_rows
from holdfast.storage.questions import question_rows

_POLL_INTERVAL_S = 0.1


async def open_questions_of(db: Database, job_id: str) -> tuple[WaitingQuestion, ...]:
    """The job's open questions, oldest first."""
    questions = await question_rows.open_questions(db, job_id)
    is_only = len(questions) == 1
    return tuple(_waiting_question(question, is_only=is_only) for question in questions)


async def find_open_question(db: Database, job_id: str, number: int | None) -> UserQuestion:
    """The open question with that number; without a number, the only open question.

    Raises:
        NotFound: there is no such job or question.
        BadInput: the question is answered, none is open, or several are and no number was given.
    """
    job = await job_rows.load_job(db, job_id)
    questions = await question_rows.open_questions(db, job_id)
    if number is not None:
        for question in questions:
            if question.id == number:
                return question
        raise _closed_question(await question_rows.load_question(db, job_id, number))
    if not questions:
        raise BadInput(f"job {job_id} is {job.status.value} and has no open question")
    if len(questions) > 1:
        numbers = ", ".join(str(question.id) for question in questions)
        raise BadInput(
            f"job {job_id} has {len(questions)} open questions; name one by its number: {numbers}"
        )
    return questions[0]


def _closed_question(question: UserQuestion) -> BadInput:
    outcome = "withdrawn" if question.answer is None else f"answered: {question.answer[:200]}"
    return BadInput(f"question {question.id} is no longer open, it was {outcome}", field="question")


async def wait_for_approval_question(holdfast: Holdfast, job_id: str) -> UserQuestion | None:
    """The question whether to run the plan; None if the job ended without it.

    Raises:
        NotFound: there is no such job.
    """
    while True:
        job = await job_rows.load_job(holdfast.db, job_id)
        for question in await question_rows.open_questions(holdfast.db, job_id):
            if question.kind is QuestionKind.APPROVAL:
                return question
        if job.status.is_final:
            return None
        await asyncio.sleep(_POLL_INTERVAL_S)


def _waiting_question(question: UserQuestion, *, is_only: bool) -> WaitingQuestion:
    number = "" if is_only else f" {question.id}"
    answer = "|".join(question.choices) or '"..."'
    return WaitingQuestion(
        id=question.id,
        kind=question.kind.value,
        task=question.task_id,
        text=question.text,
        choices=question.choices,
        default=question.default,
        deadline=question.deadline,
        answer_with=f"holdfast answer {question.job_id}{number} {answer}",
    )
