"""Ask, answer, withdraw and load questions; each question is stored once under its key."""

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, delete, func, insert, select, true, update
from sqlalchemy.dialects.postgresql import insert as upsert

from holdfast.models.errors import NotFound
from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.research_plan import TaskStatus
from holdfast.models.questions.user_questions import (
    AnswerOrigin,
    OpenQuestion,
    QuestionKind,
    QuestionStatus,
    UserQuestion,
)
from holdfast.models.wire.event_kinds import EventKind
from holdfast.storage.core.database import Database, JobTransaction
from holdfast.storage.core.tables.job_tables import events
from holdfast.storage.core.tables.plan_tables import tasks
from holdfast.storage.core.tables.question_tables import guidance, questions

_REFUSE_PLAN_ANSWER = "refuse"


class NewQuestion(Frozen):
    """A question without its number yet; `key` identifies a repeated question."""

    key: str
    kind: QuestionKind
    text: str
    task_id: str = ""
    choices: tuple[str, ...] = ()
    default: str | None = None
    deadline: datetime | None = None
    trail: tuple[str, ...] = ()


async def open_question(write: JobTransaction, new: NewQuestion) -> OpenQuestion | None:
    """Ask the question; return the open question, or None if it was answered before.

    A question that was withdrawn with its job is open again.
    """
    row = _row(write.job_id, new)
    again = (
        update(questions)
        .where(questions.c.job_id == write.job_id, questions.c.key == new.key)
        .where(questions.c.status == QuestionStatus.WITHDRAWN.value)
        .values(status=QuestionStatus.OPEN.value, asked_at=func.now(), deadline=new.deadline)
    )
    added = upsert(questions).values(row).on_conflict_do_nothing().returning(questions.c.id)
    is_new = (await write.connection.execute(added)).scalar_one_or_none() is not None
    if is_new or (await write.connection.execute(again)).rowcount:
        found = await _row_under_key(write, new.key)
        _log_question(write, found)
    else:
        found = await _row_under_key(write, new.key)
    return _open_question_from_row(found) if found.status == QuestionStatus.OPEN else None


async def keep_answered_question(
    write: JobTransaction, new: NewQuestion, answer: str, origin: AnswerOrigin, by: str = ""
) -> None:
    """Store, once, a question that was answered without asking a person."""
    row = _row(write.job_id, new) | _answer(answer, origin, by)
    statement = upsert(questions).values(row).on_conflict_do_nothing().returning(questions.c.id)
    number = (await write.connection.execute(statement)).scalar_one_or_none()
    if number is not None:
        _log_answer(write, number, new.task_id, new.kind, origin, by)


async def answer_question(
    write: JobTransaction, question: UserQuestion, answer: str, origin: AnswerOrigin, by: str
) -> None:
    """Answer an open question; a closed question does not change."""
    statement = (
        update(questions)
        .where(questions.c.job_id == write.job_id, questions.c.id == question.id)
        .where(questions.c.status == QuestionStatus.OPEN.value)
        .values(_answer(answer, origin, by))
    )
    if (await write.connection.execute(statement)).rowcount:
        _log_answer(write, question.id, question.task_id, question.kind, origin, by)


async def withdraw_open_questions(write: JobTransaction) -> None:
    """Withdraw all open questions, because the job has ended."""
    await _withdraw(write, true())


async def withdraw_questions_of_tasks(write: JobTransaction, names: Collection[str]) -> None:
    """Withdraw the questions of these tasks, because the tasks were superseded."""
    if names:
        await _withdraw(write, questions.c.task_id.in_(names))


async def _withdraw(write: JobTransaction, which: ColumnElement[bool]) -> None:
    statement = (
        update(questions)
        .where(
            questions.c.job_id == write.job_id,
            questions.c.status == QuestionStatus.OPEN.value,
            which,
        )
        .values(status=QuestionStatus.WITHDRAWN.value)
        .returning(questions.c.id, questions.c.task_id)
    )
    for row in sorted((await write.connection.execute(statement)).all()):
        write.event(EventKind.QUESTION_WITHDRAWN, row.task_id, question=row.id)


async def reopen_questions(write: JobTransaction) -> None:
    """Reopen the questions that were open when the job ended, and a refused plan approval.

    People have as much time to answer as when the question was first asked. The budget question
    stays closed: reopening the job answers it.
    """
    mine = questions.c.job_id == write.job_id
    last = select(func.max(questions.c.id)).where(mine, questions.c.kind == QuestionKind.APPROVAL)
    replaced = select(tasks.c.id).where(
        tasks.c.job_id == write.job_id, tasks.c.status == TaskStatus.SUPERSEDED.value
    )
    withdrawn = (
        (questions.c.status == QuestionStatus.WITHDRAWN.value)
        & (questions.c.kind != QuestionKind.BUDGET)
        & questions.c.task_id.not_in(replaced)
    )
    is_refused = questions.c.answer.startswith(_REFUSE_PLAN_ANSWER) & (
        questions.c.id == last.scalar_subquery()
    )
    again = {
        "status": QuestionStatus.OPEN.value,
        "answer": None,
        "origin": None,
        "answered_by": "",
        "answered_at": None,
        "asked_at": func.now(),
        "deadline": func.now() + (questions.c.deadline - questions.c.asked_at),
    }
    reopened = (
        update(questions).where(mine, withdrawn | is_refused).values(again).returning(questions)
    )
    for row in sorted(await write.connection.execute(reopened), key=lambda each: each.id):
        _log_question(write, row)


async def load_question(db: Database, job_id: str, number: int) -> UserQuestion:
    """Return the question.

    Raises:
        NotFound: the job has no question of that number.
    """
    found = await _load_questions(db, _questions_of_job(job_id).where(questions.c.id == number))
    if not found:
        raise NotFound(
            f"job {job_id} has no question {number}; `holdfast questions {job_id}` lists them",
            field="question",
        )
    return found[0]


async def find_question(db: Database, job_id: str, key: str) -> UserQuestion | None:
    """Return the question under this key, or None."""
    found = await _load_questions(db, _questions_of_job(job_id).where(questions.c.key == key))
    return found[0] if found else None


async def questions_of(db: Database, job_id: str) -> list[UserQuestion]:
    """Return every question of the job that was not withdrawn, oldest first."""
    return await _load_questions(
        db, _questions_of_job(job_id).where(questions.c.status != QuestionStatus.WITHDRAWN.value)
    )


async def open_questions(db: Database, job_id: str) -> list[UserQuestion]:
    """Return the job's open questions, oldest first."""
    return await _load_questions(
        db, _questions_of_job(job_id).where(questions.c.status == QuestionStatus.OPEN.value)
    )


async def answers_to_task(db: Database, job_id: str, task_id: str) -> list[UserQuestion]:
    """Return the answered questions of the task, oldest first, from any origin."""
    mine = _questions_of_job(job_id).where(
        questions.c.task_id == task_id, questions.c.status == QuestionStatus.ANSWERED.value
    )
    return await _load_questions(db, mine.where(questions.c.kind == QuestionKind.QUESTION))


async def refusal_reason(db: Database, job_id: str, number: int) -> str:
    """Return why the last answer to this question was refused; empty if none was."""
    query = (
        select(events.c.facts["reason"].astext)
        .where(events.c.job_id == job_id, events.c.kind == EventKind.ANSWER_REFUSED)
        .where(events.c.facts["question"].astext == str(number))
        .order_by(events.c.seq.desc())
        .limit(1)
    )
    async with db.reading() as connection:
        return str(await connection.scalar(query) or "")


async def proposed_guidance(db: Database, job_id: str, number: int | None) -> str:
    """Return the text that a person proposed under this number; empty if there is none."""
    query = select(guidance.c.text).where(guidance.c.job_id == job_id, guidance.c.id == number)
    async with db.reading() as connection:
        return str(await connection.scalar(query) or "")


async def delete_guidance(write: JobTransaction, number: int | None) -> None:
    """Delete proposed text that is stored as an answer now."""
    await write.connection.execute(
        delete(guidance).where(guidance.c.job_id == write.job_id, guidance.c.id == number)
    )


async def add_accepted_guidance(write: JobTransaction, words: str, by: str) -> None:
    """Make an answer visible to every later planning as guidance."""
    row = {"job_id": write.job_id, "text": words, "added_by": by, "accepted_at": func.now()}
    await write.connection.execute(insert(guidance).values(row))


async def _row_under_key(write: JobTransaction, key: str) -> Row[Any]:
    query = _questions_of_job(write.job_id).where(questions.c.key == key)
    found: Row[Any] = (await write.connection.execute(query)).one()
    return found


def _questions_of_job(job_id: str) -> Select[Any]:
    return select(questions).where(questions.c.job_id == job_id).order_by(questions.c.id)


async def _load_questions(db: Database, query: Select[Any]) -> list[UserQuestion]:
    async with db.reading() as connection:
        return [_question(row) for row in (await connection.execute(query)).all()]


def _row(job_id: str, new: NewQuestion) -> dict[str, Any]:
    row = new.model_dump() | {"job_id": job_id, "default_answer": new.default}
    row |= {"kind": new.kind.value, "choices": list(new.choices), "trail": list(new.trail)}
    del row["default"]
    return row


def _answer(answer: str, origin: AnswerOrigin, by: str) -> dict[str, Any]:
    return {
        "status": QuestionStatus.ANSWERED.value,
        "answer": answer,
        "origin": origin.value,
        "answered_by": by,
        "answered_at": datetime.now(UTC),
    }


def _log_question(write: JobTransaction, row: Row[Any]) -> None:
    asked = {"kind": row.kind, "deadline": _iso(row.deadline)}
    write.event(EventKind.QUESTION_ASKED, row.task_id, question=row.id, **asked)


def _log_answer(
    write: JobTransaction,
    number: int,
    task_id: str,
    kind: QuestionKind,
    origin: AnswerOrigin,
    by: str,
) -> None:
    facts = {"kind": kind.value, "origin": origin.value, "by": by}
    write.event(EventKind.QUESTION_ANSWERED, task_id, question=number, **facts)


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _open_question_from_row(row: Row[Any]) -> OpenQuestion:
    return OpenQuestion(
        id=row.id, kind=QuestionKind(row.kind), task_id=row.task_id, deadline=row.deadline
    )


def _question(row: Row[Any]) -> UserQuestion:
    return UserQuestion(
        id=row.id,
        job_id=row.job_id,
        task_id=row.task_id,
        kind=QuestionKind(row.kind),
        text=row.text,
        choices=tuple(row.choices),
        default=row.default_answer,
        deadline=row.deadline,
        is_open=row.status == QuestionStatus.OPEN,
        answer=row.answer,
        origin=AnswerOrigin(row.origin) if row.origin else None,
        answered_by=row.answered_by,
        trail=tuple(row.trail),
        asked_at=row.asked_at,
        answered_at=row.answered_at,
    )
