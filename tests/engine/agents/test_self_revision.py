"""Tests for self-revision after a batch of agent tasks: what failed is repaired by the reviser."""

from datetime import timedelta
from typing import Any

import pytest

from holdfast.jobs.job_controller import JobController
from holdfast.jobs.job_lookup import report_of
from holdfast.roles.planning.planner import AGENT_TASK_PLANNER
from holdfast.roles.planning.replanner import AGENT_TASK_REPLANNER
from holdfast.roles.planning.reviser import REVISER
from holdfast.storage.plans import plan_change_rows
from tests.support.endpoints.scripted_model import ReceivedRequest
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import agent_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow
WITH_TRAIN = "[Put together [Which hotel?] [Which train back?]]"
WITH_STATION = "[Put together [Which train back?] [Which station?]]"
THE_ROOM = "[Put together [Which room? [Which hotel?]]]"


@pytest.fixture
def trip(players: ScriptedRoles, tools: ScriptedTools) -> ScriptedRoles:
    """Two sub-questions that begin together, the first of which fails, and their conclusion."""
    players.plan = plan(
        agent_task("T1", about="Which flight back?"),
        agent_task("T2", about="Which hotel?"),
        agent_task("T3", "T1", "T2", about="Put together", yields="final_answer"),
    )
    usual = players._assessor

    def assess(asked: ReceivedRequest) -> object:
        is_flight = asked.task["specification"] == "Which flight back?"
        return {"status": "failed", "reason": "none flies"} if is_flight else usual(asked)

    players.parts["assessor"] = assess
    tools.answers = lambda argument: f"[{argument}]"
    return players


@pytest.mark.conformance("TDP-09")
async def test_one_revision_after_a_batch_repairs_what_failed_and_the_plan_goes_on_from_it(
    engine: RunningEngine, trip: ScriptedRoles
) -> None:
    node = {"id": "T1a", "description": "Which train back?", "agent": "generalist"}
    repair: dict[str, Any] = {
        "explanation": "by train",
        "add": [node],
        "remove": ["T1"],
        "refine": [{"id": "T3", "description": "Put together", "depends_on": ["T1a", "T2"]}],
    }
    revisions = [repair]
    trip.parts["reviser"] = lambda asked: revisions.pop() if revisions else {}

    job = await engine.run("A trip?", preset_name="tdp")

    assert (job.status, job.answer, job.replans) == ("done", WITH_TRAIN, 0)
    first, second = trip.tasks(REVISER)
    assert [each["id"] for each in first["failed"]] == ["T1"]
    assert "none flies" in first["failed"][0]["why"]
    assert {each["id"]: each["status"] for each in first["plan"]}["T2"] == "done"
    assert "failed" not in second, "what was repaired is no failure any more"
    assert {each["id"] for each in second["plan"]} == {"T1a", "T2", "T3"}, "the repair is kept"
    assert trip.count(AGENT_TASK_PLANNER) == 1
    statuses = {task.id: task.status for task in job.tasks}
    assert (statuses["T1"], statuses["T1a"], statuses["T3"]) == ("superseded", "done", "done")
    (change,) = [
        each
        for each in await plan_change_rows.load_plan_changes(engine.db, job.job_id)
        if each.cause == "revised"
    ]
    assert (change.added, change.superseded) == (("T1a",), ("T1",))


@pytest.mark.conformance("TDP-09")
async def test_a_failure_that_the_plan_can_do_without_is_left_out_and_named(
    engine: RunningEngine, trip: ScriptedRoles
) -> None:
    room = {"id": "T2a", "description": "Which room?", "agent": "generalist", "depends_on": ["T2"]}
    end = {"id": "T3", "description": "Put together", "depends_on": ["T2a"]}
    needing = {"id": "T5", "description": "Which seat?", "agent": "generalist"}
    answers: list[dict[str, Any]] = [
        {"add": [room], "refine": [end]},
        {"add": [{**needing, "depends_on": ["T1"]}]},
    ]
    trip.parts["reviser"] = lambda asked: answers.pop(0) if answers else {}

    job = await engine.run("A trip?", preset_name="tdp")

    assert (job.status, job.answer, job.replans) == ("done", THE_ROOM, 0)
    assert (
        "task 'T5': depends on 'T1', which failed" in trip.asked["reviser"][2].turns[-1]["content"]
    )
    assert {task.id for task in job.tasks if not task.parent} == {"T1", "T2", "T2a", "T3"}
    assert {task.id: task.status for task in job.tasks}["T1"] == "failed"
    report = await report_of(engine.holdfast, job.job_id)
    assert any("Which flight back?" in each for each in report.gaps), report.gaps


@pytest.mark.conformance("TDP-09")
@pytest.mark.long
async def test_a_failure_that_no_valid_revision_repairs_goes_to_the_replanner(
    engine: RunningEngine, trip: ScriptedRoles
) -> None:
    trip.parts["reviser"] = lambda asked: {}
    trip.continuations = [
        plan(
            agent_task("T1a", about="Which train back?"),
            agent_task("T3a", "T1a", "T2", about="Put together", yields="final_answer"),
        )
    ]

    job = await engine.run("A trip?", preset_name="tdp", plan_tries="1")

    assert (job.status, job.answer, job.replans) == ("done", WITH_TRAIN, 1)
    told = trip.asked["reviser"][1].turns[-1]["content"]
    assert "task 'T3': depends on 'T1', which failed" in told
    assert [task["failed_task_id"] for task in trip.tasks(AGENT_TASK_REPLANNER)] == ["T1"]


@pytest.mark.conformance("TDP-06", "TDP-09")
@pytest.mark.long
async def test_what_fails_when_it_is_run_again_is_repaired_in_the_plan_that_was_repaired(
    engine: RunningEngine, trip: ScriptedRoles
) -> None:
    end = {"id": "T3", "description": "Put together"}
    search = "hotels at <JSON_PATH>T1a.findings</JSON_PATH>"
    first: dict[str, Any] = {
        "add": [{"id": "T1a", "description": "Which train back?", "agent": "generalist"}],
        "remove": ["T1"],
        "refine": [end | {"depends_on": ["T1a", "T2"], "first_queries": [search]}],
    }
    second: dict[str, Any] = {
        "add": [{"id": "T2a", "description": "Which station?", "agent": "generalist"}],
        "remove": ["T2"],
        "refine": [end | {"depends_on": ["T1a", "T2a"]}],
    }
    repairs = {"T1": first, "T2": second}
    trip.parts["reviser"] = lambda asked: next(
        (repairs.pop(each["id"]) for each in asked.task.get("failed", ())), {}
    )
    repaired = await engine.run("A trip?", preset_name="tdp", servers=("lab",))
    job_id = repaired.job_id
    before, assess = len(trip.tasks(REVISER)), trip.parts["assessor"]
    trip.parts["assessor"] = lambda asked: (
        {"status": "failed", "reason": "it is full"}
        if asked.task["specification"] == "Which hotel?"
        else assess(asked)
    )

    scope = await JobController(engine.holdfast, "dana").retry(job_id, ["T2"])
    await engine.holdfast.wait(job_id, timedelta(seconds=150))
    job = await engine.holdfast.show(job_id)

    assert repaired.answer == "[hotels at [Which train back?]]", "the search that the reviser gave"
    assert (scope.rerun, scope.kept) == (("T2", "T3"), ("T1a",))
    assert (job.status, job.answer, job.replans) == ("done", WITH_STATION, 0)
    asked = trip.tasks(REVISER)[before:]
    assert [each["id"] for each in asked[0]["failed"]] == ["T2"]
    assert "it is full" in asked[0]["failed"][0]["why"]
    assert {each["id"] for each in asked[0]["plan"]} == {"T1a", "T2", "T3"}, "the plan was repaired"
    assert len(asked) == 2, "one revision for each batch"
    ran = {task.id: (task.status, task.attempt) for task in job.tasks if "." not in task.id}
    assert ran == {
        "T1": ("superseded", 1),
        "T1a": ("done", 1),
        "T2": ("superseded", 2),
        "T2a": ("done", 1),
        "T3": ("done", 2),
    }
    assert trip.count(AGENT_TASK_PLANNER) == 1
