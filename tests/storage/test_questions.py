"""Questions are asked once, answered once, and what an answer means is stored with it."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from activities.parts import Requests
from activities.questions import Answering
from models.errors import NotFound, StaleEpoch
from models.jobs import JobRequest, JobStatus, StopReason
from models.orders import AnswerOrder
from models.plan import TaskStatus
from models.questions import Origin, QuestionKind
from models.strategy import Strategy
from models.tables import guidance
from storage import control, jobs, plans, questions, views
from storage.database import Database
from storage.plans import Revision
from storage.questions import NewQuestion
from tests.support.plans import final, plan, tool
from tools.hub import Hub

JOB = "job-1"
ASKED = NewQuestion(key="k", kind=QuestionKind.QUESTION, task_id="T1", text="Which?", default="so")
APPROVAL = NewQuestion(key="approval:1", kind=QuestionKind.APPROVAL, text="This plan?")
DOUBT = NewQuestion(key="d", kind=QuestionKind.ESCALATION, task_id="T1", text="?", default="accept")


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url)
    request = JobRequest(question="?", preset="kpi-chain", model="m", strategy=Strategy())
    await jobs.submit(database, JOB, request, None)
    known = plan(tool("T1"), final("T2", "T1"))
    async with database.job(JOB) as write:
        first = Revision(revision=0, cause="planned", added=("T1", "T2"))
        await plans.store_revision(write, known, first, {"T1": "T1", "T2": "T2"})
    await jobs.begin(database, JOB, "run-1")
    yield database
    await database.close()


@pytest.fixture
async def answering(db: Database) -> AsyncIterator[Answering]:
    async with Hub({}, {}) as hub:
        yield Answering(db, Requests(db), hub)


async def ask(db: Database, new: NewQuestion) -> int:
    async with db.job(JOB) as write:
        asked = await questions.open_question(write, new)
    assert asked is not None
    return asked.id


async def order(
    db: Database, question: int, choice: str = "", words: str = "", key: str = "answer-1"
) -> AnswerOrder:
    number = await control.give_guidance(db, JOB, words, "dana") if words else None
    return AnswerOrder(
        job_id=JOB, epoch=1, key=key, question=question, by="dana", choice=choice, words=number
    )


async def log(db: Database) -> list[str]:
    return [e.kind for e in await views.events_after(db, JOB, 0) if "question" in e.kind]


async def test_asking_twice_asks_once_and_a_new_run_finds_it_open(db: Database) -> None:
    first, again = await ask(db, ASKED), await ask(db, ASKED)

    assert first == again
    assert await log(db) == ["question.asked"]
    [waits] = (await views.counts(db, JOB)).questions
    assert (waits.id, waits.task_id, waits.kind) == (first, "T1", QuestionKind.QUESTION)


async def test_an_answered_question_is_not_asked_again(db: Database, answering: Answering) -> None:
    number = await ask(db, ASKED)
    await answering.record_answer(await order(db, number, words="that one"))

    async with db.job(JOB) as write:
        assert await questions.open_question(write, ASKED) is None
        await questions.keep_answered(write, ASKED, "another", Origin.MEMORY)

    [kept] = await questions.answers_of(db, JOB, "T1")
    assert (kept.answer, kept.origin, kept.answered_by) == ("that one", Origin.USER, "dana")


async def test_an_answer_is_recorded_once_and_its_words_are_kept_with_it_alone(
    db: Database, answering: Answering
) -> None:
    number = await ask(db, DOUBT)
    given = await order(db, number, words="Ask elsewhere.")

    first = await answering.record_answer(given)
    again = await answering.record_answer(given)
    late = await answering.record_answer(await order(db, number, "accept", key="answer-2"))

    assert first == again == late
    assert await log(db) == ["question.asked", "question.answered"]
    assert await control.guidance_of(db, JOB) == ("T1: Ask elsewhere.",)
    assert (await questions.load(db, JOB, number)).answer == "Ask elsewhere."


async def test_a_run_that_was_cut_off_cannot_answer(db: Database, answering: Answering) -> None:
    number = await ask(db, ASKED)
    given = await order(db, number, words="late")
    await jobs.begin(db, JOB, "run-2")

    with pytest.raises(StaleEpoch):
        await answering.record_answer(given)

    assert (await questions.load(db, JOB, number)).is_open


async def test_the_default_of_a_question_without_one_says_that_nobody_answered(
    db: Database, answering: Answering
) -> None:
    number = await ask(db, ASKED.model_copy(update={"default": None}))
    given = AnswerOrder(
        job_id=JOB, epoch=1, key="default", question=number, by="holdfast", by_default=True
    )

    await answering.record_answer(given)

    [kept] = await questions.answers_of(db, JOB, "T1")
    assert kept.origin is Origin.DEFAULT
    assert "Nobody answered" in (kept.answer or "")


@pytest.mark.conformance("VMAO-16")
async def test_a_refused_plan_is_known_by_a_run_that_comes_after(
    db: Database, answering: Answering
) -> None:
    """The answer is stored with the reason to end, so a crash in between loses neither."""
    number = await ask(db, APPROVAL)

    receipt = await answering.record_answer(await order(db, number, "refuse", "No."))

    job = await jobs.load(db, JOB)
    assert receipt.ends is not None
    assert (receipt.ends.status, receipt.ends.message) == (JobStatus.CANCELLED, "No.")
    assert (job.stop_reason, job.message) == (StopReason.PLAN_REFUSED, "No.")


async def test_a_plan_to_be_made_anew_is_set_aside_in_one_transaction(
    db: Database, answering: Answering
) -> None:
    number = await ask(db, APPROVAL)

    receipt = await answering.record_answer(await order(db, number, "revise", "Otherwise."))

    assert receipt.begins_anew
    assert not (await views.counts(db, JOB)).has_plan
    assert {t.status for t in (await plans.load_plan(db, JOB)).tasks} == {TaskStatus.SUPERSEDED}
    async with db.reading() as connection:
        assert list((await connection.execute(select(guidance.c.text))).scalars()) == ["Otherwise."]


async def test_ending_withdraws_what_is_open_and_reopening_asks_it_again(db: Database) -> None:
    asked = await ask(db, ASKED)
    deadline = datetime.now(UTC) + timedelta(hours=1)
    budget = NewQuestion(key="b", kind=QuestionKind.BUDGET, text="?", deadline=deadline)
    await ask(db, budget)

    async with db.job(JOB) as write:
        await jobs.end(write, JobStatus.CANCELLED, StopReason.CANCELLED, "")
    withdrawn = await questions.open_questions(db, JOB)
    async with db.job(JOB) as write:
        await control.reopen(write)

    assert withdrawn == []
    assert [each.id for each in await questions.open_questions(db, JOB)] == [asked]


async def test_what_concerned_a_replaced_task_is_asked_no_longer(db: Database) -> None:
    await ask(db, ASKED)
    known = await plans.load_plan(db, JOB)
    change = Revision(revision=0, cause="replanned", failed_task="T1", superseded=("T1",))
    async with db.job(JOB) as write:
        await plans.store_revision(write, known, change, {})
        await jobs.end(write, JobStatus.CANCELLED, StopReason.CANCELLED, "")
        await control.reopen(write)

    assert await questions.open_questions(db, JOB) == []
    assert (await log(db))[-1] == "question.withdrawn"


async def test_a_question_that_was_never_asked_is_not_there(db: Database) -> None:
    with pytest.raises(NotFound, match="no question 7"):
        await questions.load(db, JOB, 7)
