"""Questions and their answers: asked once under a key, open until answered or withdrawn."""

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, delete, func, insert, select, true, update
from sqlalchemy.dialects.postgresql import insert as upsert

from models.base import Frozen
from models.errors import NotFound
from models.plan import TaskStatus
from models.questions import OpenQuestion, Origin, Question, QuestionKind
from models.tables import events, guidance, questions, tasks
from storage.database import Database, JobWrite

_OPEN, _ANSWERED, _WITHDRAWN = "open", "answered", "withdrawn"
_PLAN_REFUSED = "refuse"
REFUSED = "answer.refused"
"""The entry in the log for an answer that was not taken."""


class NewQuestion(Frozen):
    """A question before it has its number; `key` tells asking twice apart from asking again."""

    key: str
    kind: QuestionKind
    text: str
    task_id: str = ""
    choices: tuple[str, ...] = ()
    default: str | None = None
    deadline: datetime | None = None
    trail: tuple[str, ...] = ()


async def open_question(write: JobWrite, new: NewQuestion) -> OpenQuestion | None:
    """Ask; gives the open question, or none where it has been answered before.

    One that was withdrawn with its job is open again.
    """
    row = _row(write.job_id, new)
    again = (
        update(questions)
        .where(questions.c.job_id == write.job_id, questions.c.key == new.key)
        .where(questions.c.status == _WITHDRAWN)
        .values(status=_OPEN, deadline=new.deadline)
    )
    added = upsert(questions).values(row).on_conflict_do_nothing().returning(questions.c.id)
    is_new = (await write.connection.execute(added)).scalar_one_or_none() is not None
    if is_new or (await write.connection.execute(again)).rowcount:
        asked = {"asks": new.kind.value, "deadline": _iso(new.deadline)}
        found = await _under(write, new.key)
        write.event("question.asked", new.task_id, question=found.id, **asked)
    else:
        found = await _under(write, new.key)
    return _waiting(found) if found.status == _OPEN else None


async def keep_answered(
    write: JobWrite, new: NewQuestion, answer: str, origin: Origin, by: str = ""
) -> None:
    """Keep a question that was answered without asking anybody, once."""
    row = _row(write.job_id, new) | _answer(answer, origin, by)
    statement = upsert(questions).values(row).on_conflict_do_nothing().returning(questions.c.id)
    number = (await write.connection.execute(statement)).scalar_one_or_none()
    if number is not None:
        _note(write, number, new.task_id, new.kind, origin, by)


async def answer_question(
    write: JobWrite, question: Question, answer: str, origin: Origin, by: str
) -> None:
    """Answer an open question; one that is open no more stays as it is."""
    statement = (
        update(questions)
        .where(questions.c.job_id == write.job_id, questions.c.id == question.id)
        .where(questions.c.status == _OPEN)
        .values(_answer(answer, origin, by))
    )
    if (await write.connection.execute(statement)).rowcount:
        _note(write, question.id, question.task_id, question.kind, origin, by)


async def withdraw_open(write: JobWrite) -> None:
    """Ask no longer: the job has ended."""
    await _withdraw(write, true())


async def withdraw_of(write: JobWrite, names: Collection[str]) -> None:
    """Ask no longer what only concerned these tasks: they were replaced."""
    if names:
        await _withdraw(write, questions.c.task_id.in_(names))


async def _withdraw(write: JobWrite, which: ColumnElement[bool]) -> None:
    statement = (
        update(questions)
        .where(questions.c.job_id == write.job_id, questions.c.status == _OPEN, which)
        .values(status=_WITHDRAWN)
        .returning(questions.c.id, questions.c.task_id)
    )
    for row in sorted((await write.connection.execute(statement)).all()):
        write.event("question.withdrawn", row.task_id, question=row.id)


async def ask_again(write: JobWrite) -> None:
    """What a reopened job had asked when it ended is asked again, and a plan refused before.

    Not what became of a budget: whoever reopens the job has said so.
    """
    mine = questions.c.job_id == write.job_id
    last = select(func.max(questions.c.id)).where(mine, questions.c.kind == QuestionKind.APPROVAL)
    replaced = select(tasks.c.id).where(
        tasks.c.job_id == write.job_id, tasks.c.status == TaskStatus.SUPERSEDED.value
    )
    withdrawn = (
        (questions.c.status == _WITHDRAWN)
        & (questions.c.kind != QuestionKind.BUDGET)
        & questions.c.task_id.not_in(replaced)
    )
    is_refused = questions.c.answer.startswith(_PLAN_REFUSED) & (
        questions.c.id == last.scalar_subquery()
    )
    anew = {
        "status": _OPEN, "answer": None, "origin": None, "answered_by": "", "answered_at": None,
    }  # fmt: skip
    await write.connection.execute(
        update(questions).where(mine, withdrawn | is_refused).values(anew)
    )


async def load(db: Database, job_id: str, number: int) -> Question:
    """The question.

    Raises:
        NotFound: the job asked none of that number.
    """
    found = await _read(db, _of(job_id).where(questions.c.id == number))
    if not found:
        raise NotFound(f"job {job_id} has no question {number}; `holdfast questions {job_id}`")
    return found[0]


async def find(db: Database, job_id: str, key: str) -> Question | None:
    """The question that was asked under this key, if it was."""
    found = await _read(db, _of(job_id).where(questions.c.key == key))
    return found[0] if found else None


async def questions_of(db: Database, job_id: str) -> list[Question]:
    """Every question of the job, oldest first; those withdrawn are left out."""
    return await _read(db, _of(job_id).where(questions.c.status != _WITHDRAWN))


async def open_questions(db: Database, job_id: str) -> list[Question]:
    """The job's questions that wait, oldest first."""
    return await _read(db, _of(job_id).where(questions.c.status == _OPEN))


async def answers_of(db: Database, job_id: str, task_id: str) -> list[Question]:
    """What the task asked and was answered, oldest first, wherever the answers came from."""
    mine = _of(job_id).where(questions.c.task_id == task_id, questions.c.status == _ANSWERED)
    return await _read(db, mine.where(questions.c.kind == QuestionKind.QUESTION))


async def refused_because(db: Database, job_id: str, number: int) -> str:
    """Why the last answer to this question was not taken, with every fault; empty if none was."""
    query = (
        select(events.c.facts["why"].astext)
        .where(events.c.job_id == job_id, events.c.kind == REFUSED)
        .where(events.c.facts["question"].astext == str(number))
        .order_by(events.c.seq.desc())
        .limit(1)
    )
    async with db.reading() as connection:
        return str(await connection.scalar(query) or "")


async def read_words(db: Database, job_id: str, number: int | None) -> str:
    """Words that somebody proposed under this number; empty where there are none."""
    query = select(guidance.c.text).where(guidance.c.job_id == job_id, guidance.c.id == number)
    async with db.reading() as connection:
        return str(await connection.scalar(query) or "")


async def drop_words(write: JobWrite, number: int | None) -> None:
    """The words are kept as an answer now."""
    await write.connection.execute(
        delete(guidance).where(guidance.c.job_id == write.job_id, guidance.c.id == number)
    )


async def tell_planning(write: JobWrite, words: str, by: str) -> None:
    """Let every later planning see what an answer said."""
    row = {"job_id": write.job_id, "text": words, "given_by": by, "accepted_at": func.now()}
    await write.connection.execute(insert(guidance).values(row))


async def _under(write: JobWrite, key: str) -> Row[Any]:
    query = _of(write.job_id).where(questions.c.key == key)
    found: Row[Any] = (await write.connection.execute(query)).one()
    return found


def _of(job_id: str) -> Select[Any]:
    return select(questions).where(questions.c.job_id == job_id).order_by(questions.c.id)


async def _read(db: Database, query: Select[Any]) -> list[Question]:
    async with db.reading() as connection:
        return [_question(row) for row in (await connection.execute(query)).all()]


def _row(job_id: str, new: NewQuestion) -> dict[str, Any]:
    row = new.model_dump() | {"job_id": job_id, "default_answer": new.default}
    row |= {"kind": new.kind.value, "choices": list(new.choices), "trail": list(new.trail)}
    del row["default"]
    return row


def _answer(answer: str, origin: Origin, by: str) -> dict[str, Any]:
    return {
        "status": _ANSWERED, "answer": answer, "origin": origin.value, "answered_by": by,
        "answered_at": datetime.now(UTC),
    }  # fmt: skip


def _note(
    write: JobWrite, number: int, task_id: str, kind: QuestionKind, origin: Origin, by: str
) -> None:
    facts = {"asks": kind.value, "origin": origin.value, "by": by}
    write.event("question.answered", task_id, question=number, **facts)


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _waiting(row: Row[Any]) -> OpenQuestion:
    return OpenQuestion(
        id=row.id, kind=QuestionKind(row.kind), task_id=row.task_id, deadline=row.deadline
    )


def _question(row: Row[Any]) -> Question:
    return Question(
        id=row.id,
        job_id=row.job_id,
        task_id=row.task_id,
        kind=QuestionKind(row.kind),
        text=row.text,
        choices=tuple(row.choices),
        default=row.default_answer,
        deadline=row.deadline,
        is_open=row.status == _OPEN,
        answer=row.answer,
        origin=Origin(row.origin) if row.origin else None,
        answered_by=row.answered_by,
        trail=tuple(row.trail),
        asked_at=row.asked_at,
        answered_at=row.answered_at,
    )
