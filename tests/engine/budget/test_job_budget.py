"""Tests for the budget of a job: the job stops at its cap, asks, and always delivers a report."""

import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from temporalio.client import Client

from holdfast.activities.lifecycle.budget_cap_question import settle_budget
from holdfast.cli.render.job_lines import job_lines
from holdfast.cli.render.status_lines import status_lines
from holdfast.jobs.current_status import status_of
from holdfast.jobs.job_controller import JobController
from holdfast.models.errors import BadInput
from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.jobs.job_state import AnswerReceipt
from holdfast.models.questions.user_questions import QuestionKind
from holdfast.planning.strategies.strategy_presets import with_settings
from holdfast.roles.planning.planner import PLANNER
from holdfast.roles.reports.synthesiser import SYNTHESISER
from holdfast.roles.tasks.extractor import EXTRACTOR
from holdfast.storage.core.database import Database
from holdfast.storage.evidence.evidence_rows import load_report
from holdfast.storage.jobs import job_rows
from holdfast.storage.views import job_queries
from holdfast.storage.views import statistics_queries as statistics
from holdfast.temporal.workflow_start import start_workflow
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine, running_engine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.conformance("BEY-06")]

PRICES = """
[prices]
currency = "EUR"
[prices.scripted]
input = 1.0
output = 10.0
"""
PLAN = plan(
    lookup_task("T1", query="a"),
    lookup_task("T2", "T1", query="b"),
    lookup_task("T3", "T2", query="c"),
    final_task("T4", "T3"),
)
_CALL = {"prompt_tokens": 900, "completion_tokens": 100, "total_tokens": 1000}
"""What each call takes in these tests, whatever it says: 0.0019 EUR."""
CALL_COST = Decimal("0.0019")
LAB = ("lab",)
"""The servers of these jobs: with more tools a planner is told more, and takes more tokens."""


@pytest.fixture
async def engine(
    temporal: Client, database_url: str, tmp_path: Path, model: ScriptedModel, tools: ScriptedTools
) -> AsyncIterator[RunningEngine]:
    """A worker whose model has a price."""
    async with running_engine(
        temporal, database_url, tmp_path, model_url=model.url, tools_url=tools.url, toml=PRICES
    ) as engine:
        yield engine


@pytest.fixture(autouse=True)
def script(players: ScriptedRoles, tools: ScriptedTools) -> None:
    players.plan, tools.answers = PLAN, lambda argument: f"found {argument}"
    for name in ("planner", "extractor", "reasoner", "synthesiser"):
        players.parts[name] = counted(players, name)


def counted(players: ScriptedRoles, name: str) -> Any:
    def part(asked: ReceivedRequest) -> ScriptedReply:
        said = ScriptedReply.of(getattr(players, f"_{name}")(asked))
        return ScriptedReply(content=said.content, usage=_CALL)

    return part


async def paused(engine: RunningEngine, **settings: Any) -> str:
    """A job that has paused by itself: of its six calls it could make three or so."""
    job_id = await engine.submit("Who?", slots="1", servers=LAB, **settings)
    job = await engine.holdfast.wait(job_id, or_paused=True)
    assert job.status is JobStatus.PAUSED
    return job_id


async def questions(db: Database, job_id: str) -> list[Any]:
    query = text("select * from questions where job_id = :job order by id")
    async with db.reading() as connection:
        return list((await connection.execute(query, {"job": job_id})).all())


async def answered(engine: RunningEngine, job_id: str, words: str) -> AnswerReceipt:
    async with engine.db.job(job_id) as write:
        return await settle_budget(write, words, "dana")


async def started_anew(engine: RunningEngine, job_id: str) -> None:
    """As if Temporal had lost the job, so that all it knows of the answer is in PostgreSQL."""
    await engine.temporal.get_workflow_handle(job_id).terminate("lost")
    queue = engine.holdfast.settings.task_queue
    request = (await job_rows.load_job(engine.db, job_id)).request
    await start_workflow(engine.temporal, queue, job_id, request)
    await engine.holdfast.wait(job_id)


@pytest.mark.conformance("VMAO-13")
async def test_at_the_cap_the_job_pauses_and_asks_and_a_higher_cap_lets_it_go_on(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job_id = await paused(engine, max_tokens=4000, report_reserve=0)

    (asked,) = await questions(engine.db, job_id)
    before = await engine.holdfast.show(job_id)
    status = await status_of(engine.holdfast, job_id)
    strategy = (await job_rows.load_job(engine.db, job_id)).request.strategy
    await JobController(engine.holdfast, "dana").resume(
        job_id,
        with_settings(strategy, {"max_tokens": 50_000}),
    )
    await engine.holdfast.wait(job_id)

    assert before.tokens.input + before.tokens.output <= 4000
    assert "the budget has no room for it" in before.message
    assert (asked.kind, asked.status, asked.choices) == (
        "budget",
        "open",
        ["raise", "report", "stop"],
    )
    assert "  plan: 1,000 tokens, cost 0.0019" in asked.text.splitlines()
    spent = before.tokens.input + before.tokens.output
    assert f"{spent:,} of 4,000 tokens" in asked.text
    allowance = next(each for each in status.allowances if each.what == "tokens")
    assert (allowance.used, allowance.limit, allowance.left) == (spent, 4000, 4000 - spent)
    assert f"; `holdfast resume {job_id}` tries the same again" in status.blocked_by[0]
    assert status.blocked_by[-1].endswith(f"`holdfast answer {job_id} raise|report|stop`")
    printed = list(status_lines(status))
    assert any(f"{spent} of 4000 tokens ({4000 - spent} left)" in line for line in printed)
    assert any("`raise N` sets the cap to N" in line for line in printed)
    job = await engine.holdfast.show(job_id)
    assert (job.status, job.stop_reason) == ("done", "answered")
    assert players.count(PLANNER) == 1, "nothing was paid for twice"
    assert [each.status for each in await questions(engine.db, job_id)] == ["withdrawn"]


async def test_a_cap_on_money_is_kept_and_status_shows_what_is_left_of_it(
    engine: RunningEngine,
) -> None:
    job_id = await paused(engine, max_cost=0.018)

    job, status = await engine.holdfast.show(job_id), await status_of(engine.holdfast, job_id)

    assert job.cost is not None
    assert 0 < job.cost <= Decimal("0.018") * Decimal("0.85")
    assert job.cost == job.calls.model * CALL_COST
    left = next(each for each in status.allowances if each.what == "EUR")
    assert left.limit == 0.018
    assert left.left == pytest.approx(0.018 - float(job.cost))


async def test_an_answer_that_raises_the_cap_changes_the_job_and_lets_it_go_on(
    engine: RunningEngine,
) -> None:
    job_id = await paused(engine, max_cost=0.018)
    with pytest.raises(BadInput, match="is no more"):
        await answered(engine, job_id, "raise 0.01")

    receipt = await answered(engine, job_id, "raise 2.50")
    async with engine.db.job(job_id) as write:  # as whoever records the answer does
        await write.connection.execute(text("update questions set status = 'answered'"))
    await started_anew(engine, job_id)

    assert receipt == AnswerReceipt()
    job = await job_rows.load_job(engine.db, job_id)
    assert (job.status, job.request.strategy.max_cost) == (JobStatus.DONE, 2.5)


async def test_report_now_writes_up_what_was_found_from_what_was_kept_for_it(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job_id = await paused(engine, max_tokens=6000, report_reserve=1 / 3)

    receipt = await answered(engine, job_id, "report")
    await started_anew(engine, job_id)

    assert receipt.reports_first
    job, report = await job_rows.load_job(engine.db, job_id), await load_report(engine.db, job_id)
    assert (job.status.value, job.stop_reason) == ("failed", "budget")
    assert report is not None
    assert report.model == "scripted"
    assert (players.count(SYNTHESISER), report.citations != ()) == (1, True)
    spent = (await engine.holdfast.show(job_id)).spent
    assert spent.total.tokens <= 6000


async def test_a_report_that_the_budget_has_no_room_for_costs_nothing_and_comes_all_the_same(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job_id = await paused(engine, max_tokens=4000, report_reserve=0)
    async with engine.db.writing() as connection:  # a call took far more than was to be expected
        await connection.execute(text("update model_calls set input_tokens = 9000"))

    await answered(engine, job_id, "report")
    await started_anew(engine, job_id)

    report = await load_report(engine.db, job_id)
    assert report is not None
    assert (report.model, players.count(SYNTHESISER)) == ("extractive", 0)
    assert report.citations != ()


async def test_a_model_without_a_price_makes_no_call_under_a_cap_on_money(
    engine: RunningEngine, model: ScriptedModel
) -> None:
    job_id = await paused(engine, model="nameless", max_cost=1)

    job = await engine.holdfast.show(job_id)

    assert model.count == 0
    assert "the price of model 'nameless' is unknown" in job.message
    assert (job.cost, job.calls.model) == (0, 0)
    blocked = (await status_of(engine.holdfast, job_id)).blocked_by[0]
    assert blocked.endswith(
        f"; `holdfast resume {job_id} --set max_cost=none` goes on without the limit max_cost"
    )


async def test_calls_side_by_side_meet_the_cap_as_one_question(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = plan(
        *(lookup_task(f"T{n}", query=f"q{n}") for n in range(1, 7)), final_task("T9", "T1", "T2")
    )
    job_id = await engine.submit("Who?", slots="6", servers=LAB, max_tokens=4500, report_reserve=0)
    await engine.holdfast.wait(job_id, or_paused=True)
    async with asyncio.timeout(30):
        while any(t.status == "running" for t in (await engine.holdfast.show(job_id)).tasks):
            await asyncio.sleep(0.05)

    open_ones = [q for q in await questions(engine.db, job_id) if q.status == "open"]

    job = await engine.holdfast.show(job_id)
    assert [each.kind for each in open_ones] == [QuestionKind.BUDGET.value]
    assert job.tokens.input + job.tokens.output <= 4500 + 1000
    assert {task.status for task in job.tasks} <= {"pending", "done"}
    assert players.count(EXTRACTOR) < 6


async def paused_during_a_call(
    engine: RunningEngine, players: ScriptedRoles, first_reply: str | None = None
) -> str:
    """A job that has reached its cap while the first extraction waits for the model's release."""
    players.plan = plan(
        *(lookup_task(f"T{n}", query=f"q{n}") for n in range(1, 4)), final_task("T9", "T1", "T2")
    )

    def part(asked: ReceivedRequest) -> ScriptedReply:
        said = ScriptedReply.of(players._extractor(asked)).content
        if players.count(EXTRACTOR) == 1:
            is_lax = first_reply is not None
            return ScriptedReply(content=first_reply or said, delay=60, usage=_CALL, is_lax=is_lax)
        return ScriptedReply(content=said, usage={**_CALL, "prompt_tokens": 40_000})

    players.parts["extractor"] = part
    job_id = await engine.submit("Who?", slots="2", servers=LAB, max_tokens=40_000)
    await engine.holdfast.wait(job_id, or_paused=True)
    return job_id


async def test_the_question_is_answered_while_another_call_is_under_way(
    engine: RunningEngine, players: ScriptedRoles, model: ScriptedModel
) -> None:
    job_id = await paused_during_a_call(engine, players)
    (asked,) = await questions(engine.db, job_id)
    still_running = [
        t.id for t in (await engine.holdfast.show(job_id)).tasks if t.status == "running"
    ]

    players.parts["extractor"] = counted(players, "extractor")
    await JobController(engine.holdfast, "dana").answer(
        job_id, asked.id, "raise", "max_tokens=90000"
    )
    resumed = await job_rows.load_job(engine.db, job_id)
    model.release()
    job = await engine.holdfast.wait(job_id)

    assert len(still_running) == 1
    assert resumed.status is JobStatus.RUNNING
    assert (job.status, job.request.strategy.max_tokens) == (JobStatus.DONE, 90_000)


async def test_who_has_chosen_the_report_is_not_asked_about_the_budget_again(
    engine: RunningEngine, players: ScriptedRoles, model: ScriptedModel
) -> None:
    """The call under way needs a correction, for which the cap has no room either."""
    job_id = await paused_during_a_call(engine, players, first_reply="no JSON")
    (asked,) = await questions(engine.db, job_id)

    await JobController(engine.holdfast, "dana").answer(job_id, asked.id, "report", "")
    model.release()
    job = await engine.holdfast.wait(job_id, or_paused=True)

    assert (job.status.value, job.stop_reason) == ("failed", "budget")
    assert await load_report(engine.db, job_id) is not None
    assert [each.status for each in await questions(engine.db, job_id)] == ["answered"]
    assert "running" not in {t.status for t in (await engine.holdfast.show(job_id)).tasks}


@pytest.mark.conformance("TDP-08", "VMAO-13", "HZN-09")
async def test_tokens_and_money_by_phase_role_task_and_model_add_up(engine: RunningEngine) -> None:
    job = await engine.run("Who?")

    found = await statistics.run_statistics(engine.db, job.job_id, job.currency)
    assert (job.cost, job.currency) == (job.calls.model * CALL_COST, "EUR")
    for group in (found.by_phase, found.by_role, found.by_task, found.by_model):
        assert sum(each.calls for each in group) == job.calls.model
        assert sum(each.tokens for each in group) == job.tokens.input + job.tokens.output
        assert sum(each.cost for each in group if each.cost is not None) == job.cost
    assert [each.name for each in found.by_phase] == ["planning", "execution", "synthesis"]
    assert [each.name for each in found.by_task] == ["T1", "T2", "T3", "T4", "plan", "report"]
    assert [each.name for each in found.by_model] == ["scripted"]
    assert job.spent.by_task == found.by_task
    assert sum(found.deviation_output_tokens.values()) == 0
    assert (await statistics.run_statistics(engine.db, None)).by_task == ()
    shown = job.model_dump(mode="json")
    assert shown["cost"] == pytest.approx(float(job.calls.model * CALL_COST))
    assert {task["id"]: task["cost"] for task in shown["tasks"]}["T1"] == float(CALL_COST)


@pytest.mark.conformance("BEY-08")
async def test_what_a_job_took_is_shown_with_what_it_was_to_take(engine: RunningEngine) -> None:
    await engine.run("Who?")

    job = await engine.run("Who?")

    assert job.estimate is not None
    told, took = job.estimate.estimated, job.estimate.actual
    assert told.model_dump(exclude={"seconds"}) == took.model_dump(exclude={"seconds"})
    assert (told.model_calls, told.tool_calls, told.cost) == (5, 3, 5 * CALL_COST)
    assert told.seconds is not None
    assert took.seconds is not None
    assert told.seconds > 0
    assert took.seconds >= 0.5 * told.seconds
    lines = "\n".join(job_lines(job))
    assert (
        "estimate: 3 tool calls, 5 model calls, tokens 4,500 in, 500 out, cost 0.0095 EUR" in lines
    )
    assert (
        "took:     3 tool calls, 5 model calls, tokens 4,500 in, 500 out, cost 0.0095 EUR" in lines
    )


@pytest.mark.conformance("BEY-08")
async def test_of_a_first_job_nothing_is_known_beforehand_and_that_is_said(
    engine: RunningEngine,
) -> None:
    job = await engine.run("Who?", model="nameless")

    assert job.estimate is not None
    assert (job.estimate.estimated.cost, job.estimate.estimated.input_tokens) == (None, None)
    assert job.cost is None
    assert all(each.cost is None for each in job.spent.by_role)
    assert any("cost unknown" in line for line in job_lines(job))
    events = await job_queries.events_after(engine.db, job.job_id, 0)
    assert [each.kind for each in events].count("plan.stored") == 1
