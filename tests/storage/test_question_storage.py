"""Tests that questions are asked once and answered once, and that the consequences of an answer
are stored with it."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, update

from holdfast.activities.lifecycle.answer_activities import AnswerActivities
from holdfast.models.errors import NotFound, StaleEpoch
from holdfast.models.jobs.activity_orders import AnswerOrder
from holdfast.models.jobs.job_record import JobRequest, JobStatus, StopReason
from holdfast.models.plans.plan_change import PlanChange
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.research_plan import Plan, TaskStatus
from holdfast.models.questions.user_questions import AnswerOrigin, QuestionKind
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.question_tables import guidance, questions
from holdfast.storage.jobs import job_control_rows, job_rows
from holdfast.storage.plans import plan_change_rows, task_queries
from holdfast.storage.questions import question_rows
from holdfast.storage.questions.question_rows import NewQuestion
from holdfast.storage.views import job_queries
from tests.support.jobs.database_services import database_services
from tests.support.jobs.plan_builders import final_task, lookup_task, plan

pytestmark = pytest.mark.slow

JOB = "job-1"
_HALF_AN_HOUR = timedelta(minutes=30)
ASKED = NewQuestion(key="k", kind=QuestionKind.QUESTION, task_id="T1", text="Which?", default="so")
APPROVAL = NewQuestion(key="approval:1", kind=QuestionKind.APPROVAL, text="This plan?")
DOUBT = NewQuestion(key="d", kind=QuestionKind.ESCALATION, task_id="T1", text="?", default="accept")


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url)
    request = JobRequest(question="?", preset="kpi-chain", model="m", strategy=Strategy())
    await job_rows.submit_job(database, JOB, request, None)
    known = plan(lookup_task("T1"), final_task("T2", "T1"))
    async with database.job(JOB) as write:
        first = PlanChange(cause=PlanChangeCause.PLANNED, added=known.tasks)
        await plan_change_rows.store_change(write, Plan(), first)
    await job_rows.begin_job_run(database, JOB, "run-1")
    yield database
    await database.close()


@pytest.fixture
def answering(db: Database) -> AnswerActivities:
    return AnswerActivities(database_services(db))


async def ask(db: Database, new: NewQuestion) -> int:
    async with db.job(JOB) as write:
        asked = await question_rows.open_question(write, new)
    assert asked is not None
    return asked.id


async def order(
    db: Database, question: int, choice: str = "", words: str = "", key: str = "answer-1"
) -> AnswerOrder:
    number = await job_control_rows.propose_guidance(db, JOB, words, "dana") if words else None
    return AnswerOrder(
        job_id=JOB, epoch=1, key=key, question=question, by="dana", choice=choice, words=number
    )


async def log(db: Database) -> list[str]:
    return [e.kind for e in await job_queries.events_after(db, JOB, 0) if "question" in e.kind]


async def test_asking_twice_asks_once_and_a_new_run_finds_it_open(db: Database) -> None:
    first, again = await ask(db, ASKED), await ask(db, ASKED)

    assert first == again
    assert await log(db) == ["question.asked"]
    [waits] = (await job_queries.job_counts(db, JOB)).questions
    assert (waits.id, waits.task_id, waits.kind) == (first, "T1", QuestionKind.QUESTION)


async def test_an_answered_question_is_not_asked_again(
    db: Database, answering: AnswerActivities
) -> None:
    number = await ask(db, ASKED)
    await answering.record_answer(await order(db, number, words="that one"))

    async with db.job(JOB) as write:
        assert await question_rows.open_question(write, ASKED) is None
        await question_rows.keep_answered_question(write, ASKED, "another", AnswerOrigin.MEMORY)

    [kept] = await question_rows.answers_to_task(db, JOB, "T1")
    assert (kept.answer, kept.origin, kept.answered_by) == ("that one", AnswerOrigin.USER, "dana")


async def test_an_answer_is_recorded_once_and_its_words_are_kept_with_it_alone(
    db: Database, answering: AnswerActivities
) -> None:
    number = await ask(db, DOUBT)
    given = await order(db, number, words="Ask elsewhere.")

    first = await answering.record_answer(given)
    again = await answering.record_answer(given)
    late = await answering.record_answer(await order(db, number, "accept", key="answer-2"))

    assert first == again == late
    assert await log(db) == ["question.asked", "question.answered"]
    assert await job_control_rows.guidance_of(db, JOB) == ("T1: Ask elsewhere.",)
    assert (await question_rows.load_question(db, JOB, number)).answer == "Ask elsewhere."


async def test_a_run_that_was_cut_off_cannot_answer(
    db: Database, answering: AnswerActivities
) -> None:
    number = await ask(db, ASKED)
    given = await order(db, number, words="late")
    await job_rows.begin_job_run(db, JOB, "run-2")

    with pytest.raises(StaleEpoch):
        await answering.record_answer(given)

    assert (await question_rows.load_question(db, JOB, number)).is_open


async def test_the_default_of_a_question_without_one_says_that_nobody_answered(
    db: Database, answering: AnswerActivities
) -> None:
    number = await ask(db, ASKED.model_copy(update={"default": None}))
    given = AnswerOrder(
        job_id=JOB, epoch=1, key="default", question=number, by="holdfast", by_default=True
    )

    await answering.record_answer(given)

    [kept] = await question_rows.answers_to_task(db, JOB, "T1")
    assert kept.origin is AnswerOrigin.DEFAULT
    assert "Nobody answered" in (kept.answer or "")


@pytest.mark.conformance("VMAO-16")
async def test_a_refused_plan_is_known_by_a_run_that_comes_after(
    db: Database, answering: AnswerActivities
) -> None:
    """The answer is stored with the reason to end, so a crash in between loses neither."""
    number = await ask(db, APPROVAL)

    receipt = await answering.record_answer(await order(db, number, "refuse", "No."))

    job = await job_rows.load_job(db, JOB)
    assert receipt.ending is not None
    assert (receipt.ending.status, receipt.ending.message) == (JobStatus.CANCELLED, "No.")
    assert (job.stop_reason, job.message) == (StopReason.PLAN_REFUSED, "No.")


async def test_a_plan_to_be_made_again_is_set_aside_in_one_transaction(
    db: Database, answering: AnswerActivities
) -> None:
    number = await ask(db, APPROVAL)

    receipt = await answering.record_answer(await order(db, number, "revise", "Otherwise."))

    assert receipt.restarts_run
    assert not (await job_queries.job_counts(db, JOB)).has_plan
    assert {t.status for t in (await task_queries.load_plan(db, JOB)).tasks} == {
        TaskStatus.SUPERSEDED
    }
    async with db.reading() as connection:
        assert list((await connection.execute(select(guidance.c.text))).scalars()) == ["Otherwise."]


async def test_ending_withdraws_what_is_open_and_reopening_asks_it_again(db: Database) -> None:
    asked = await ask(db, ASKED)
    deadline = datetime.now(UTC) + timedelta(hours=1)
    budget = NewQuestion(key="b", kind=QuestionKind.BUDGET, text="?", deadline=deadline)
    await ask(db, budget)

    async with db.job(JOB) as write:
        await job_rows.store_job_end(write, JobStatus.CANCELLED, StopReason.CANCELLED, "")
    withdrawn = await question_rows.open_questions(db, JOB)
    async with db.job(JOB) as write:
        await job_control_rows.reopen_job(write)

    assert withdrawn == []
    assert [each.id for each in await question_rows.open_questions(db, JOB)] == [asked]


async def test_people_have_the_whole_time_again_for_a_question_of_a_reopened_job(
    db: Database,
) -> None:
    asked = await ask(db, ASKED.model_copy(update={"deadline": datetime.now(UTC) + _HALF_AN_HOUR}))
    an_hour_ago = {
        each.name: each - timedelta(hours=1)
        for each in (questions.c.asked_at, questions.c.deadline)
    }
    async with db.job(JOB) as write:
        await job_rows.store_job_end(write, JobStatus.CANCELLED, StopReason.CANCELLED, "")
        await write.connection.execute(update(questions).values(an_hour_ago))

    for _ in range(2):  # a job may end and be reopened more than once
        async with db.job(JOB) as write:
            await job_control_rows.reopen_job(write)
        [again] = await question_rows.open_questions(db, JOB)
        assert again.id == asked
        assert again.deadline is not None
        left = again.deadline - datetime.now(UTC)
        assert _HALF_AN_HOUR - timedelta(minutes=1) < left <= _HALF_AN_HOUR
        assert (await log(db))[-1] == "question.asked"
        async with db.job(JOB) as write:
            await job_rows.store_job_end(write, JobStatus.CANCELLED, StopReason.CANCELLED, "")


async def test_what_concerned_a_replaced_task_is_asked_no_longer(db: Database) -> None:
    await ask(db, ASKED)
    known = await task_queries.load_plan(db, JOB)
    change = PlanChange(cause=PlanChangeCause.REPLANNED, failed_task="T1", superseded=("T1",))
    async with db.job(JOB) as write:
        await plan_change_rows.store_change(write, known, change)
        await job_rows.store_job_end(write, JobStatus.CANCELLED, StopReason.CANCELLED, "")
        await job_control_rows.reopen_job(write)

    assert await question_rows.open_questions(db, JOB) == []
    assert (await log(db))[-1] == "question.withdrawn"


async def test_a_question_that_was_never_asked_is_not_there(db: Database) -> None:
    with pytest.raises(NotFound, match="no question 7"):
        await question_rows.load_question(db, JOB, 7)
