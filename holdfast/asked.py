"""The open questions of a job, each with the command that answers it."""

import asyncio

from holdfast.client import Holdfast
from models.errors import BadInput
from models.jobs import FINAL
from models.questions import Question, QuestionKind
from models.status import Waits
from storage import jobs, questions
from storage.database import Database

_LOOK_EVERY_S = 0.1


async def asked_of(db: Database, job_id: str) -> tuple[Waits, ...]:
    """The job's open questions, oldest first."""
    found = await questions.open_questions(db, job_id)
    return tuple(_waits(each, is_only=len(found) == 1) for each in found)


async def the_question(db: Database, job_id: str, number: int | None) -> Question:
    """The open question of that number; without one, the only one that is open.

    Raises:
        NotFound: there is no such job or question.
        BadInput: it is answered, none is open, or several are and no number was given.
    """
    job = await jobs.load(db, job_id)
    found = await questions.open_questions(db, job_id)
    if number is not None:
        asked = next((each for each in found if each.id == number), None)
        return asked or _not_open(await questions.load(db, job_id, number))
    if not found:
        raise BadInput(f"job {job_id} is {job.status.value} and asks nothing")
    if len(found) > 1:
        numbers = ", ".join(str(each.id) for each in found)
        raise BadInput(f"job {job_id} asks {len(found)} questions; say which: {numbers}")
    return found[0]


def _not_open(asked: Question) -> Question:
    what = "withdrawn" if asked.answer is None else f"answered: {asked.answer[:200]}"
    raise BadInput(f"question {asked.id} is open no more, it was {what}")


async def until_planned(holdfast: Holdfast, job_id: str) -> Question | None:
    """The question whether the plan is to be worked; none where the job ended without one.

    Raises:
        NotFound: there is no such job.
    """
    while True:
        job = await jobs.load(holdfast.db, job_id)
        for asked in await questions.open_questions(holdfast.db, job_id):
            if asked.kind is QuestionKind.APPROVAL:
                return asked
        if job.status in FINAL:
            return None
        await asyncio.sleep(_LOOK_EVERY_S)


def _waits(asked: Question, *, is_only: bool) -> Waits:
    number = "" if is_only else f" {asked.id}"
    what = "|".join(asked.choices) or '"..."'
    return Waits(
        id=asked.id,
        kind=asked.kind.value,
        task=asked.task_id,
        text=asked.text,
        choices=asked.choices,
        default=asked.default,
        deadline=asked.deadline,
        answer_with=f"holdfast answer {asked.job_id}{number} {what}",
    )
