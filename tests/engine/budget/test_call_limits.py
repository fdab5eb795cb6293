"""Tests for limits on calls: identical calls of a tool are warned of, then refused."""

from collections.abc import AsyncIterator

import pytest

from holdfast.jobs.job_controller import JobController
from holdfast.models.calls.call_records import CallKey
from holdfast.models.calls.tool_signatures import ToolAnswer
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.plans.research_plan import Plan
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.roles.planning.replanner import REPLANNER
from holdfast.roles.tasks.extractor import EXTRACTOR
from holdfast.storage.core.database import Database
from holdfast.storage.jobs import job_rows
from holdfast.storage.ledger.call_ledger import CallLedger
from holdfast.storage.views import job_queries
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.long_parameters import only_long
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

SAME = ("wikipedia_search", "same")


def same(count: int) -> Plan:
    """So many tasks, one after the other, that ask the tool the same."""
    tasks = [lookup_task("T1", query="same")]
    tasks += [lookup_task(f"T{n}", f"T{n - 1}", query="same") for n in range(2, count + 1)]
    return plan(*tasks, final_task("T9", f"T{count}"))


@pytest.mark.conformance("HZN-06")
async def test_second_identical_call_is_warned_of_and_the_third_refused_and_replanned(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = same(3)
    players.continuations = [
        plan(lookup_task("T3a", "T2", query="other"), final_task("T9a", "T3a"))
    ]
    tools.answers = {"same": "one answer", "other": "another"}

    job = await engine.run("Who?")

    assert (job.status, job.replans) == ("done", 1)
    assert tools.called == [SAME, ("wikipedia_search", "other")]
    notes = [given["note"] for given in players.tasks(EXTRACTOR)]
    assert [bool(note) for note in notes] == [False, True, False]
    failure = next(task.failure for task in job.tasks if task.id == "T3")
    assert failure is not None
    assert (failure["component"], failure["failure_class"]) == ("tool", "tool")
    feedback = players.tasks(REPLANNER)[0]["feedback"]
    assert "was called with these arguments 2 times in this job" in feedback
    assert "Change something" in feedback
    assert "begins: one answer" in feedback
    assert "one answer" not in feedback.splitlines()[0]  # which Temporal's history gets
    assert (job.repeated_calls, job.calls.tool) == (2, 2)
    calls = await job_queries.job_calls(engine.db, job.job_id)
    statuses = {call.task: call.status for call in calls if call.kind == "tool"}
    assert statuses == {"T1": "done", "T2": "done", "T3": "refused", "T3a": "done"}


@pytest.mark.parametrize("limit", ["4", only_long("none"), only_long("0")])
async def test_without_a_limit_or_below_it_the_recorded_answer_is_given_each_time(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools, limit: str
) -> None:
    players.plan = same(4)
    tools.answers = {"same": "one answer"}

    job = await engine.run("Who?", max_identical_calls=limit)

    assert (job.status, job.replans, job.repeated_calls) == ("done", 0, 3)
    assert tools.called == [SAME]


@pytest.mark.long
async def test_task_that_a_person_runs_again_is_exempt_and_counts_for_nobody(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = same(2)
    tools.answers = {"same": "one answer"}
    job_id = (await engine.run("Who?")).job_id

    await JobController(engine.holdfast, "dana").retry(job_id, ["T1"])
    await engine.holdfast.wait(job_id)

    job = await engine.holdfast.show(job_id)
    assert (job.status, job.replans) == ("done", 0)
    assert tools.called == [SAME] * 3


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url)
    request = JobRequest(question="?", preset="kpi-chain", model="m", strategy=Strategy())
    await job_rows.submit_job(database, "job-1", request, None)
    yield database
    await database.close()


async def test_call_keeps_its_number_across_restarts(db: Database) -> None:
    async def number(task_id: str, attempt: int = 1) -> tuple[int, int]:
        key = CallKey(job_id="job-1", task_id=task_id, attempt=attempt, request_hash="same")
        opened = await CallLedger(db).open_tool_call(key, "lab.search", {})
        return opened.row_id, opened.number

    row, first = await number("T1")
    await CallLedger(db).close_tool_call(row, ToolAnswer(text="found"))
    second, third = (await number("T2"))[1], (await number("T3"))[1]

    assert (first, second, third) == (1, 2, 3)
    assert [(await number(name))[1] for name in ("T1", "T2", "T3")] == [1, 2, 3]


async def test_calls_that_came_to_nothing_or_that_a_person_wanted_do_not_count(
    db: Database,
) -> None:
    ledger = CallLedger(db)
    keys = {
        name: CallKey(job_id="job-1", task_id=name, attempt=attempt, request_hash="same")
        for name, attempt in (("T1", 1), ("T2", 2), ("T3", 1))
    }
    failed = await ledger.open_tool_call(keys["T1"], "lab.search", {})
    await ledger.fail_tool_call(failed.row_id, "no page", may_repeat=False)
    wanted = await ledger.open_tool_call(keys["T2"], "lab.search", {})
    await ledger.close_tool_call(wanted.row_id, ToolAnswer(text="found"))

    opened = await ledger.open_tool_call(keys["T3"], "lab.search", {})

    assert (opened.number, wanted.earlier) == (1, None)
    assert opened.earlier is not None
    assert opened.earlier[0] == wanted.row_id
