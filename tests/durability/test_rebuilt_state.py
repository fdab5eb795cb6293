"""Tests that the state carried by a workflow equals the state in PostgreSQL after every step of
any job.

So a job may lose its workflow after each step, run each activity twice, or on two workers
at once, and still comes to what it comes to undisturbed, with no call made twice.
"""

import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from sqlalchemy import update

from holdfast.models.errors import StaleEpoch
from holdfast.models.jobs.job_record import StopReason
from holdfast.models.jobs.job_state import JobState
from holdfast.planning.scheduler import state_transitions as changes
from holdfast.storage.core.tables.job_tables import jobs
from holdfast.storage.plans import task_queries
from holdfast.storage.views import job_queries
from tests.durability.job_driver import (
    ActivityRunner,
    JobDriver,
    comparable_state,
    run_once,
    run_side_by_side,
    run_twice,
)
from tests.support.endpoints.loop_script import (
    answer,
    found_at_once,
    search,
    sentence,
    value,
    values,
)
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel
from tests.support.endpoints.scripted_roles import (
    ScriptedRoles,
    extractor_script,
    planner_answer,
    verifier_answer,
)
from tests.support.jobs.plan_builders import agent_task, final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.long_parameters import mostly_long, only_long
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow


@pytest.fixture
def engine(scripted_engine: RunningEngine) -> RunningEngine:
    return scripted_engine


def single_step(players: ScriptedRoles) -> None:
    """Three calls, the second of which finds nothing, then the answer."""

    def step(asked: ReceivedRequest) -> object:
        trace = asked.task["trace"]
        if len(trace) == 3:
            outputs = [{"name": "final_answer", "value": trace[2]["found"]["found"]}]
            return {"outputs": outputs}
        return {"calls": [search_call("nothing" if len(trace) == 1 else f"q{len(trace)}")]}

    players.parts["stepper"] = step


def tdp(players: ScriptedRoles) -> None:
    """Three agents in a diamond; one fails and is replanned, what is to do is revised."""
    players.plan = plan(
        agent_task("T1", about="one"),
        agent_task("T2", about="two"),
        agent_task("T3", "T1", "T2", about="three", yields="final_answer"),
    )

    def assessor(asked: ReceivedRequest) -> object:
        if asked.task["node"] == "T1":
            return {"status": "failed", "reason": "no such thing"}
        return players._assessor(asked)

    def continuation(asked: ReceivedRequest) -> object:
        assert asked.task["failed_task_id"] == "T1"
        return planner_answer(
            plan(
                agent_task("T1a", about="one more"),
                agent_task("T3a", "T1a", "T2", about="three more", yields="final_answer"),
            )
        )

    def reviser(asked: ReceivedRequest) -> object:
        able = [name for name in asked.task["changeable"] if name.startswith("T3")]
        return {"refine": [{"id": name, "description": "three, refined"} for name in able]}

    players.parts |= {"assessor": assessor, "replanner": continuation, "reviser": reviser}


def research(players: ScriptedRoles) -> None:
    """Agents whose steps fail and are repaired, verified, and worked again where incomplete."""
    players.plan = plan(
        agent_task("T1", about="one"),
        agent_task("T2", about="two lost"),
        agent_task("T3", "T1", about="three"),
    )

    def extractor(asked: ReceivedRequest) -> object:
        said = json.dumps(asked.task["arguments"])
        return extractor_script(None if "lost" in said and "again" not in said else "x", 0.9)(asked)

    def repair(asked: ReceivedRequest) -> object:
        name = asked.task["failed_task_id"]
        step = search_call("again lost") | {
            "id": f"{name}a",
            "kind": "tool",
            "description": "again",
        }
        return {"tasks": [step | {"expects": asked.task["expects"]}]}

    players.parts |= {"extractor": extractor, "replanner": repair}
    filling(players, "T3")


def loop_agents(players: ScriptedRoles) -> None:
    """Two agents that search twice and return a value, and one that needs both; one is refused."""
    players.plan = plan(
        agent_task("T1", about="one"),
        agent_task("T2", about="two"),
        agent_task("T3", "T1", "T2", about="three"),
    )
    wrong = values(value("value", "elsewhere", 1, "[one]"))
    players.loop.by_question = {
        "one": [[search("more of one", "one again")], [wrong], found_at_once],
        "two": [[search("more of two")], found_at_once],
    }
    filling(players, "T2")


def opening(players: ScriptedRoles) -> None:
    """A loop that searches, proves one sentence and hands over; then two agents."""
    shown = sentence("It is there.", 1, "[What is it?]")
    players.loop.turns = [[search("elsewhere", "nothing")], [answer("", shown, open=["what"])]]
    players.plan = plan(agent_task("T1", "T0", about="one"), agent_task("T2", about="two"))


def vmao(players: ScriptedRoles) -> None:
    """Three agents; one is incomplete at first, and one more is added."""
    players.plan = plan(
        agent_task("T1", about="one"), agent_task("T2", about="two"), agent_task("T3", "T1")
    )
    filling(players, "T2")


def asking(players: ScriptedRoles) -> None:
    """As before, and one asks what two more tasks then look into, and nobody knows."""
    vmao(players)
    usual = players._stepper

    def step(asked: ReceivedRequest) -> object:
        if asked.task["node"] == "T2" and not asked.task["answers"]:
            return {"question": "Which of both is it?", "default": "the first"}
        return usual(asked)

    players.parts["stepper"] = step


def filling(players: ScriptedRoles, incomplete: str) -> None:
    """Have this result be half there at first, and a new sub-question planned for it."""

    def verifier(asked: ReceivedRequest) -> object:
        is_first = "T9" not in json.dumps(asked.task["others"]) and asked.task["id"] != "T9"
        return verifier_answer(0.6 if asked.task["id"] == incomplete and is_first else 0.9)

    def gap_planner(asked: ReceivedRequest) -> object:
        new = {"id": "T9", "description": "more of it", "agent": "generalist"}
        new |= {"expects": [{"name": "value"}]}
        retries = [{"id": name, "hint": "look again"} for name in asked.task["incomplete"]]
        return {"retry_sub_questions": retries, "new_sub_questions": [new]}

    players.parts |= {"verifier": verifier, "gap_planner": gap_planner}


def kpi_chain(players: ScriptedRoles) -> None:
    players.plan = plan(
        lookup_task("T1", query="a"), lookup_task("T2", query="b"), final_task("T3", "T1", "T2")
    )


_UNTIL_READY = {"ready_threshold": "1.0", "high_confidence": "1.0"}
_STEPS = {"agent_method": "steps"}
Script = Callable[[ScriptedRoles], None]
# The first ones differ most: `make test` takes these, `make long` all.
SHAPES: dict[str, tuple[str, Script, dict[str, str]]] = {
    "kpi-chain": ("kpi-chain", kpi_chain, {}),
    "research": ("research", research, _UNTIL_READY | {"begins_with": "plan"} | _STEPS),
    "vmao": ("vmao", vmao, _UNTIL_READY),
    "tdp": ("tdp", tdp, {}),
    "loop-agents": ("research", loop_agents, _UNTIL_READY | {"begins_with": "plan"}),
    "opening": ("research", opening, _UNTIL_READY),
    "single-step": ("single-step", single_step, {}),
    # One after the other: whom a question is routed to hangs on what has ended by then.
    "asking": ("vmao", asking, _UNTIL_READY | {"questions": "false", "slots": "1"}),
}


def search_call(query: str) -> dict[str, object]:
    return {
        "tool": "lab.wikipedia_search",
        "inputs": [{"name": "query", "value": query}],
        "expects": [{"name": "found"}],
    }


async def start_driver(engine: RunningEngine, shape: str, *, seed: int = 0) -> JobDriver:
    preset_name, _, settings = SHAPES[shape]
    servers = ("lab",) if preset_name == "research" else ()
    question = "What is it?"
    return await JobDriver.submitted(
        engine, preset_name, question, seed=seed, servers=servers, **settings
    )


async def drive_to_end(
    drive: JobDriver, worker: ActivityRunner = run_once, *, is_lost: bool = False
) -> None:
    """Work the job to its end, comparing what is carried with what PostgreSQL has."""
    while drive.ending is None:
        before = drive.steps
        await drive.step(worker)
        if drive.ending is None and drive.steps > before:
            carried = comparable_state(drive.settled())
            if is_lost and drive.state.halt is None:
                await drive.begin()
                assert comparable_state(drive.state) == carried
            else:
                assert comparable_state(await stored_state(drive)) == carried
    await drive.end()


async def stored_state(drive: JobDriver) -> JobState:
    """The state as a new run would find it, without beginning one."""
    return changes.rebuild_state(
        drive.state.strategy,
        await job_queries.job_counts(drive.engine.db, drive.job_id),
        await task_queries.task_states(drive.engine.db, drive.job_id),
        is_paused=drive.state.is_paused,
        closing=drive.state.closing,
    )


async def story(drive: JobDriver) -> dict[str, object]:
    """What a job has come to."""
    view = await drive.engine.holdfast.show(drive.job_id)
    return {
        "ending": (view.status, view.stop_reason, view.message),
        "answer": view.answer,
        "tasks": sorted(
            (t.id, t.status, t.attempt, json.dumps(t.entities, default=str, sort_keys=True))
            for t in view.tasks
        ),
        "replans": view.replans,
        "calls": view.calls,
    }


@pytest.fixture(autouse=True)
def _tool(tools: ScriptedTools) -> None:
    tools.answers = lambda argument: "" if argument == "nothing" else f"[{argument}]"


@pytest.mark.conformance("BEY-02", "BEY-03")
@pytest.mark.parametrize("seed", [0, only_long(1)])
@pytest.mark.parametrize("shape", mostly_long(SHAPES, usual=3))
async def test_what_is_carried_can_be_rebuilt_after_every_step_and_the_job_comes_to_the_same(
    engine: RunningEngine, players: ScriptedRoles, model: ScriptedModel, shape: str, seed: int
) -> None:
    SHAPES[shape][1](players)
    calm = await start_driver(engine, shape, seed=seed)
    await drive_to_end(calm)
    asked_calmly = model.count

    lost = await start_driver(engine, shape, seed=seed)
    await drive_to_end(lost, is_lost=True)

    assert calm.ending is not None
    assert calm.ending.reason in (StopReason.ANSWERED, StopReason.ANSWERED_WITH_GAPS), calm.ending
    assert await story(lost) == await story(calm)
    assert lost.runs > calm.runs
    assert model.count == 2 * asked_calmly


@pytest.mark.conformance("BEY-02", "BEY-03")
@pytest.mark.parametrize("worker", [run_side_by_side, only_long(run_twice)])
@pytest.mark.parametrize("shape", mostly_long(SHAPES, usual=1))
async def test_an_activity_that_is_worked_twice_changes_nothing(
    engine: RunningEngine,
    players: ScriptedRoles,
    model: ScriptedModel,
    shape: str,
    worker: ActivityRunner,
) -> None:
    SHAPES[shape][1](players)
    calm = await start_driver(engine, shape)
    await drive_to_end(calm)
    asked_calmly = model.count

    doubled = await start_driver(engine, shape)
    await drive_to_end(doubled, worker)

    came_to, calmly = await story(doubled), await story(calm)
    if worker is run_side_by_side:
        # Who is overtaken may have read what the other one stored, and asked in other words.
        del came_to["calls"], calmly["calls"]
    assert came_to == calmly
    if worker is run_twice:
        assert model.count == 2 * asked_calmly
        assert await log(doubled) == await log(calm)


@pytest.mark.conformance("MOD-09", "BEY-03")
@pytest.mark.parametrize("shape", ["opening", *map(only_long, ("kpi-chain", "tdp", "loop-agents"))])
async def test_today_is_the_day_of_the_job_on_whichever_day_it_is_continued(
    engine: RunningEngine, players: ScriptedRoles, model: ScriptedModel, shape: str
) -> None:
    SHAPES[shape][1](players)
    drive = await start_driver(engine, shape)
    async with engine.db.writing() as connection:
        asked_at = datetime(2024, 2, 29, 23, 59, tzinfo=UTC)
        await connection.execute(
            update(jobs).where(jobs.c.id == drive.job_id).values(created_at=asked_at)
        )
    await drive_to_end(drive)

    days = [
        asked.task["today"]
        for asked in model.asked
        if asked.task.get("today")  # of a role that is told the date
    ]
    assert set(days) == {"2024-02-29"}
    assert len(days) > 1 or shape == "kpi-chain"


async def log(drive: JobDriver) -> list[tuple[str, str]]:
    found = await job_queries.events_after(drive.engine.db, drive.job_id, 0)
    return [(event.kind, event.task) for event in found]


@pytest.mark.conformance("BEY-03")
@pytest.mark.parametrize("shape", mostly_long(SHAPES, usual=3))
async def test_a_run_that_was_taken_over_writes_nothing_any_more(
    engine: RunningEngine, players: ScriptedRoles, shape: str
) -> None:
    SHAPES[shape][1](players)
    drive = await start_driver(engine, shape)
    kinds = set()
    while drive.ending is None:
        drive.decide()
        late = [(action, drive.activity(action)) for action in drive.under_way]
        if late:
            await drive.begin()
            before = await everything(drive)
            for action, activity in late:
                with pytest.raises(StaleEpoch):
                    await activity()
                kinds.add(type(action).__name__)
            assert await everything(drive) == before
        if drive.ending is None:
            await drive.step(run_once)
    await drive.end()

    expected = {
        "kpi-chain": {"MakePlan", "StartTask", "WriteReport"},
        "vmao": {"AdvanceAgentTask", "Verify", "FillGaps"},
    }.get(shape, {"AdvanceAgentTask"})
    assert expected <= kinds


async def everything(drive: JobDriver) -> object:
    """What is stored of the job but its calls: an answer that was paid for is kept in any case."""
    counts = await job_queries.job_counts(drive.engine.db, drive.job_id)
    return (
        await task_queries.load_tasks(drive.engine.db, drive.job_id),
        await log(drive),
        counts.model_copy(update={"tokens": 0}),
    )
