"""Tests that a cited loop goes on where a killed worker was, and pays for no finished turn again."""

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest

from holdfast.models.errors import Passing, StorageAway
from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.plan_change import PlanChange
from holdfast.models.plans.research_plan import Plan
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.roles.loop.loop_agent import INSTRUCTIONS
from holdfast.storage.core.database import JobTransaction
from holdfast.storage.plans import plan_change_rows, task_queries
from holdfast.storage.plans.transcript_rows import LoopAttempt, load_transcript
from holdfast.storage.views import job_queries
from tests.durability.job_driver import JobDriver, run_once, run_side_by_side, run_twice
from tests.durability.test_rebuilt_state import drive_to_end, story
from tests.durability.worker_launcher import WorkerLauncher, kill_worker
from tests.support.endpoints.loop_script import answer, search, sentence, value, values
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import agent_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.long_parameters import only_long
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.timeout(170)]

QUESTION = "What is the twelfth link?"
TURNS = 12
KILLED_AT = (
    (1, 5, 9),
    only_long((4, 8, 12)),
    only_long((2, 6, 10)),
    only_long((3, 7, 11)),
)
"""Each turn, in four jobs: after more kills in a row the supervisor waits before each start."""


@pytest.fixture(autouse=True)
def _links(players: ScriptedRoles, tools: ScriptedTools) -> None:
    """A chain of links: each turn searches for the next, and the last one answers."""
    tools.answers = lambda query: f"The {query} leads to the link after it."
    shown = sentence("The link 11 leads on.", 12, "The link 11 leads to the link after it.")
    players.loop.turns = [
        *([search(f"link {n}")] for n in range(1, TURNS)),
        [answer("the link after it", shown)],
    ]


@pytest.mark.conformance("LOOP-02")
@pytest.mark.parametrize("killed_at", KILLED_AT, ids=str)
async def test_a_worker_killed_in_a_turn_repeats_no_finished_turn(
    client_side: RunningEngine,
    workers: WorkerLauncher,
    players: ScriptedRoles,
    killed_at: tuple[int, ...],
) -> None:
    players.loop.delay_s = 0.4  # so that each kill strikes while a reply is on its way
    worker = await workers.start("--supervise")
    job_id = await client_side.submit(QUESTION, preset_name="loop", servers=("lab",))
    for turn in killed_at:
        await players.loop.wait_for_turn(turn)
        await kill_worker(worker)
    job = await client_side.holdfast.wait(job_id)

    view = await client_side.holdfast.show(job_id)
    assert (job.status, view.answer) == ("done", "the link after it"), job.message
    calls = await job_queries.job_calls(client_side.db, job_id)
    by_turn = [call for call in calls if call.role == "loop_agent"]
    assert len(by_turn) == TURNS, "one call for each turn in the ledger"
    for request, after in pairwise(players.loop.asked):
        assert after.turns[: len(request.turns)] == request.turns
    replied = [
        sum(turn["role"] == "assistant" for turn in each.turns) for each in players.loop.asked
    ]
    assert replied == sorted(replied), "no turn is asked again after its reply came"


AGENT_QUESTION = "What is the sixth link?"
AGENT_TURNS = 6


@pytest.mark.conformance("LOOP-02")
@pytest.mark.parametrize("killed_at", [(1, 3, 5), only_long((2, 4, 6))], ids=str)
@pytest.mark.long
async def test_a_worker_killed_in_a_turn_of_an_agent_repeats_no_finished_turn(
    client_side: RunningEngine,
    workers: WorkerLauncher,
    players: ScriptedRoles,
    killed_at: tuple[int, ...],
) -> None:
    """The agent of a `research` job, after a loop that found nothing, with its values."""
    shown = "The link 5 leads to the link after it."
    players.loop.turns = [[answer("", open=["the sixth link"])]]
    players.plan = plan(agent_task("T1", about=AGENT_QUESTION, yields="link"))
    players.loop.by_question[AGENT_QUESTION] = [
        *([search(f"link {n}")] for n in range(1, AGENT_TURNS)),
        [values(value("link", "the link after it", AGENT_TURNS, shown))],
    ]
    players.loop.delay_s = 0.4  # so that each kill strikes while a reply is on its way
    worker = await workers.start("--supervise")
    calm = await client_side.submit(QUESTION, preset_name="research", servers=("lab",))
    await client_side.holdfast.wait(calm)
    players.loop.agents_asked.clear()

    job_id = await client_side.submit(QUESTION, preset_name="research", servers=("lab",))
    for turn in killed_at:
        await players.loop.wait_for_agent_turn(turn)
        await kill_worker(worker)
    job = await client_side.holdfast.wait(job_id)

    assert job.status == "done", job.message
    calls = await job_queries.job_calls(client_side.db, job_id)
    calmly = await job_queries.job_calls(client_side.db, calm)
    assert sorted(call.role for call in calls) == sorted(call.role for call in calmly)
    assert sum(call.role == "loop_agent" for call in calls) == 1 + AGENT_TURNS
    asked = players.loop.agents_asked
    replied = [sum(turn["role"] == "assistant" for turn in each.turns) for each in asked]
    assert replied == sorted(replied), "no turn is asked again after its reply came"
    assert set(replied) == set(range(AGENT_TURNS))
    place = LoopAttempt("T1", 1)
    transcript = await load_transcript(client_side.db, job_id, place)
    untouched = await load_transcript(client_side.db, calm, place)
    assert len(transcript.messages) > 2 * AGENT_TURNS - 1
    assert [each.content for each in transcript.messages] == [
        each.content for each in untouched.messages
    ]


async def until_it_works(activity: Callable[[], Awaitable[Frozen]]) -> Frozen:
    """Work an activity until it is not cut off, as Temporal does."""
    while True:
        with suppress(Passing):
            return await activity()


@pytest.mark.conformance("LOOP-02")
@pytest.mark.parametrize("worker", [run_once, *map(only_long, (run_twice, run_side_by_side))])
async def test_a_loop_that_is_lost_or_doubled_comes_to_the_same(
    engine: RunningEngine, players: ScriptedRoles, worker: object
) -> None:
    calm = await JobDriver.submitted(engine, "loop", QUESTION, servers=("lab",))
    await drive_to_end(calm)
    asked_calmly = len(players.loop.asked)
    lost = await JobDriver.submitted(engine, "loop", QUESTION, servers=("lab",))
    await drive_to_end(lost, worker, is_lost=worker is run_once)  # type: ignore[arg-type]

    came_to, calmly = await story(lost), await story(calm)
    if worker is run_side_by_side:
        del came_to["calls"], calmly["calls"]  # both may ask before either has stored the reply
    assert came_to == calmly
    if worker is not run_side_by_side:
        assert len(players.loop.asked) == 2 * asked_calmly == 2 * TURNS


@pytest.mark.conformance("LOOP-02")
@pytest.mark.long
async def test_a_turn_that_another_worker_decides_meanwhile_is_not_decided_again(
    engine: RunningEngine, players: ScriptedRoles, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other worker decides between this worker's look for a receipt and its look at the plan.

    The steps that the other one stored have not run: they must not reach the transcript as failed.
    """
    calm = await JobDriver.submitted(engine, "loop", QUESTION, servers=("lab",))
    await drive_to_end(calm)
    load_plan = task_queries.load_agent_task
    overtaken: list[Frozen] = []

    async def overtake(activity: Callable[[], Awaitable[Frozen]]) -> Frozen:
        async def plan_after_the_other(*of_task: Any) -> list[StoredTask]:
            monkeypatch.setattr(task_queries, "load_agent_task", load_plan)
            overtaken.append(await activity())
            return await load_plan(*of_task)

        monkeypatch.setattr(task_queries, "load_agent_task", plan_after_the_other)
        try:
            return await until_it_works(activity)
        finally:
            monkeypatch.setattr(task_queries, "load_agent_task", load_plan)

    players.loop.asked.clear()
    doubled = await JobDriver.submitted(engine, "loop", QUESTION, servers=("lab",))
    await drive_to_end(doubled, overtake)

    assert len(overtaken) == TURNS + 1, "the first search and each reply"
    assert len(players.loop.asked) == TURNS
    assert await story(doubled) == await story(calm)
    place = LoopAttempt("T1", 1)
    transcript = await load_transcript(engine.db, doubled.job_id, place)
    untouched = await load_transcript(engine.db, calm.job_id, place)
    assert transcript.messages == untouched.messages


@pytest.mark.conformance("LOOP-02")
@pytest.mark.long
async def test_a_turn_cut_off_after_its_reply_came_asks_nothing_again(
    engine: RunningEngine, players: ScriptedRoles, monkeypatch: pytest.MonkeyPatch
) -> None:
    calm = await JobDriver.submitted(engine, "loop", QUESTION, servers=("lab",))
    await drive_to_end(calm)
    cut_off: set[str] = set()
    store_steps = plan_change_rows.store_change

    async def cut(tx: JobTransaction, plan: Plan, change: PlanChange, **more: object) -> int:
        names = ",".join(change.added_ids)
        if change.scope and names not in cut_off:
            cut_off.add(names)
            raise StorageAway("cut off before the decision was stored")
        return await store_steps(tx, plan, change, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(plan_change_rows, "store_change", cut)
    lost = await JobDriver.submitted(engine, "loop", QUESTION, servers=("lab",))
    await drive_to_end(lost, until_it_works)

    assert len(cut_off) == TURNS, "the first search and eleven turns"
    assert (await story(lost))["answer"] == (await story(calm))["answer"]
    turns = [sum(turn["role"] == "assistant" for turn in each.turns) for each in players.loop.asked]
    assert turns == [*range(TURNS), *range(TURNS)]


@pytest.mark.conformance("LOOP-02")
@pytest.mark.long
async def test_transcripts_are_in_postgresql_and_not_in_the_history(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await engine.run(QUESTION, preset_name="loop", servers=("lab",))

    history = await engine.temporal.get_workflow_handle(job.job_id).fetch_history()
    told = json.dumps(history.to_json_dict())
    assert "leads to the link after it." not in told
    assert INSTRUCTIONS[:40] not in told
