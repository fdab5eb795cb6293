"""Tests for finding earlier jobs' plans for a question (HZN-08)."""

from collections.abc import AsyncIterator, Sequence

import pytest
from sqlalchemy import insert, text

from holdfast.models.jobs.job_record import StopReason
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.job_tables import jobs as job_rows
from holdfast.storage.plans.plan_example_queries import SIMILAR_QUESTIONS, find_similar_plans
from tests.support.jobs.earlier_jobs import earlier_request, store_ended_job
from tests.support.jobs.plan_builders import final_task, lookup_task, plan

pytestmark = pytest.mark.slow

TWO_STEPS = plan(lookup_task("T1", query="keeper of the tower"), final_task("T2", "T1"))


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url)
    yield database
    await database.close()


async def found(db: Database, question: str, limit: int = 10, **request: object) -> list[str]:
    ours = earlier_request(question, **request)
    return [each.job_id for each in await find_similar_plans(db, "new", ours, limit)]


async def all_in_order(questions: Sequence[str]) -> Sequence[int]:
    return range(len(questions))


async def store_many(db: Database) -> None:
    """400 answered jobs, each with a plan of one task."""
    row = {
        "preset": "p",
        "model": "m",
        "strategy": {"extraction": True},
        "config_hash": "h",
        "request_hash": "h",
        "status": "done",
        "stop_reason": "answered",
    }
    rows = [
        row | {"id": f"j{n}", "question": f"Which keeper number {n} was born in parish {n % 7}?"}
        for n in range(400)
    ]
    async with db.writing() as connection:
        await connection.execute(insert(job_rows), rows)
        await connection.execute(
            text("""
            insert into tasks (job_id, id, position, kind, description, inputs, expects, depends_on,
                               priority, include_context, status, root, added_by_change)
            select id, 'T1', 1, 'reasoning', question, '[]', '[{"name": "final_answer"}]', '{}',
                   5, false, 'done', 'T1', 1 from jobs
            """)
        )


@pytest.mark.conformance("HZN-08")
async def test_the_most_similar_questions_of_hundreds_come_first(db: Database) -> None:
    await store_many(db)

    best = await found(db, "Where was keeper 123 born, and in parish 4?", limit=3)

    assert best[0] == "j123", "a rare word that is shared counts for more than common ones"
    assert all(int(name[1:]) % 7 == 4 for name in best)
    assert len(await found(db, "Which keeper?", limit=10)) == 10
    assert await found(db, "Qualcosa di tutt'altro") == []


@pytest.mark.conformance("HZN-08")
async def test_only_answered_jobs_of_the_same_owner_and_kind_count(db: Database) -> None:
    question = "Who kept the tower?"
    mine = earlier_request(question, owner="ada")
    await store_ended_job(db, "same", mine, TWO_STEPS)
    await store_ended_job(db, "other-owner", earlier_request(question, owner="bob"), TWO_STEPS)
    await store_ended_job(db, "no-owner", earlier_request(question), TWO_STEPS)
    await store_ended_job(
        db, "other-kind", earlier_request(question, owner="ada", extraction=False), TWO_STEPS
    )
    for reason in (StopReason.ANSWERED_WITH_GAPS, StopReason.REPLANS_EXHAUSTED):
        await store_ended_job(db, reason.value, mine, TWO_STEPS, reason=reason)
    await store_ended_job(db, "new", mine, TWO_STEPS)

    assert await found(db, question, owner="ada") == ["same"], "never the job itself"
    assert await found(db, question, owner="ada", extraction=False) == ["other-kind"]
    assert await found(db, question) == ["no-owner"]
    assert await found(db, question, owner="eve") == []
    ours = earlier_request("Qualcosa", owner="ada")
    near = await find_similar_plans(db, "new", ours, 10, all_in_order)
    assert [each.job_id for each in near] == ["same"], "nor where the meaning alone is near"


async def test_a_question_counts_once_with_the_plan_that_needed_fewest_replans(
    db: Database,
) -> None:
    await store_ended_job(db, "twice", earlier_request("Who kept the tower?"), TWO_STEPS, replans=2)
    await store_ended_job(db, "never", earlier_request("Who kept the tower?"), TWO_STEPS)
    await store_ended_job(db, "once", earlier_request("Who kept a tower?"), TWO_STEPS, replans=1)
    await store_ended_job(db, "farther", earlier_request("Who kept the harbour?"), TWO_STEPS)

    assert await found(db, "Who kept this tower?") == ["never", "once", "farther"]


async def test_the_plan_is_the_one_that_worked_without_what_was_replaced(db: Database) -> None:
    tried = plan(lookup_task("T1"), lookup_task("T2"), final_task("T3", "T2"))
    await store_ended_job(
        db, "old", earlier_request("Who kept it?"), tried, replans=1, superseded=("T1",)
    )

    (each,) = await find_similar_plans(db, "new", earlier_request("Who kept this?"), 10)

    assert (each.question, [task.id for task in each.plan.tasks]) == ("Who kept it?", ["T2", "T3"])
    assert each.plan.tasks[0].inputs == tried.tasks[1].inputs


async def test_a_plan_with_a_hole_is_left_out(db: Database) -> None:
    await store_ended_job(
        db, "old", earlier_request("Who kept it?"), TWO_STEPS, replans=1, superseded=("T1",)
    )

    assert await found(db, "Who kept it?") == []


async def test_any_question_will_do(db: Database) -> None:
    await store_ended_job(db, "old", earlier_request("Who kept the tower?"), TWO_STEPS)

    for question in (
        "",
        "the of and",
        "it's \\ 'quoted' & ! | (",
        "\x00 \ud800",
        "a" * 20_000,
        ":*",
    ):
        ours = earlier_request("?").model_copy(update={"question": question})

        assert await find_similar_plans(db, "new", ours, 10) == (), ascii(question[:40])


async def test_the_search_goes_through_its_index(db: Database) -> None:
    await store_many(db)
    asked_for = {
        "job_id": "new",
        "question": "Which keeper?",
        "owner": "",
        "extraction": True,
        "limit": 9,
    }

    async with db.reading() as connection:
        await connection.execute(text("analyze jobs"))
        explained = await connection.execute(text(f"explain {SIMILAR_QUESTIONS.text}"), asked_for)
        lines = explained.scalars().all()

    assert any("ix_jobs_question_words" in line for line in lines)
