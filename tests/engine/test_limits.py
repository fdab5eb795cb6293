"""Limits on calls: a tool is not asked the same for ever."""

from collections.abc import AsyncIterator

import pytest

from holdfast.control import Controller
from models.calls import CallKey
from models.jobs import JobRequest
from models.plan import Plan
from models.strategy import Strategy
from models.tools import ToolAnswer
from roles.extractor import EXTRACTOR
from roles.replanner import REPLANNER
from storage import jobs, views
from storage.database import Database
from storage.ledger import Ledger
from tests.support.engine import Engine
from tests.support.plans import final, plan, tool
from tests.support.players import Players
from tests.support.scripted_tools import ScriptedTools

SAME = ("wikipedia_search", "same")


def same(count: int) -> Plan:
    """So many tasks, one after the other, that ask the tool the same."""
    tasks = [tool("T1", query="same")]
    tasks += [tool(f"T{n}", f"T{n - 1}", query="same") for n in range(2, count + 1)]
    return plan(*tasks, final("T9", f"T{count}"))


@pytest.mark.slow
@pytest.mark.conformance("HZN-06")
async def test_second_identical_call_is_warned_of_and_the_third_refused_and_replanned(
    engine: Engine, players: Players, tools: ScriptedTools
) -> None:
    players.plan = same(3)
    players.continuations = [plan(tool("T3a", "T2", query="other"), final("T9a", "T3a"))]
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
    calls = await views.calls(engine.db, job.job_id)
    statuses = {call.task: call.status for call in calls if call.kind == "tool"}
    assert statuses == {"T1": "done", "T2": "done", "T3": "refused", "T3a": "done"}


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["none", "0", "4"])
async def test_without_a_limit_or_below_it_the_recorded_answer_is_given_each_time(
    engine: Engine, players: Players, tools: ScriptedTools, limit: str
) -> None:
    players.plan = same(4)
    tools.answers = {"same": "one answer"}

    job = await engine.run("Who?", max_identical_calls=limit)

    assert (job.status, job.replans, job.repeated_calls) == ("done", 0, 3)
    assert tools.called == [SAME]


@pytest.mark.slow
async def test_task_that_a_person_runs_again_is_exempt_and_counts_for_nobody(
    engine: Engine, players: Players, tools: ScriptedTools
) -> None:
    players.plan = same(2)
    tools.answers = {"same": "one answer"}
    job_id = (await engine.run("Who?")).job_id

    await Controller(engine.holdfast, "dana").retry(job_id, ["T1"])
    await engine.holdfast.wait(job_id)

    job = await engine.holdfast.show(job_id)
    assert (job.status, job.replans) == ("done", 0)
    assert tools.called == [SAME] * 3


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url)
    request = JobRequest(question="?", preset="kpi-chain", model="m", strategy=Strategy())
    await jobs.submit(database, "job-1", request, None)
    yield database
    await database.close()


async def test_call_keeps_its_number_across_restarts(db: Database) -> None:
    async def number(task_id: str, attempt: int = 1) -> tuple[int, int]:
        key = CallKey(job_id="job-1", task_id=task_id, attempt=attempt, request_hash="same")
        opened = await Ledger(db).open_tool_call(key, "lab.search", {})
        return opened.row_id, opened.number

    row, first = await number("T1")
    await Ledger(db).close_tool_call(row, ToolAnswer(text="found"))
    second, third = (await number("T2"))[1], (await number("T3"))[1]

    assert (first, second, third) == (1, 2, 3)
    assert [(await number(name))[1] for name in ("T1", "T2", "T3")] == [1, 2, 3]


async def test_calls_that_came_to_nothing_or_that_a_person_wanted_do_not_count(
    db: Database,
) -> None:
    ledger = Ledger(db)
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
